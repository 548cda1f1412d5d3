"""`fin-agent embed`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import chosen_index
from fin_agent.cli.progress import Progress
from fin_agent.cli.streams import show, show_json
from fin_agent.errors import FinAgentError
from fin_agent.index.opening import open_index
from fin_agent.index.protocol import VectorUnit

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.embedding import EmbeddedFiling

_UNITS = {
    "summaries": VectorUnit.SUMMARY,
    "passages": VectorUnit.PASSAGE,
    "pages": VectorUnit.PAGE,
    "windows": VectorUnit.WINDOW,
}


def embed_filings(model: str, units: str, given: Path | None, *, sparse: bool, as_json: bool) -> ExitCode:
    """Make the vectors that filings lack, and say how many."""
    wanted = _wanted(units)
    place = chosen_index(given).place
    with open_index(place) as index:
        from fin_agent.retrieval.dense.embedding import embed
        from fin_agent.retrieval.dense.encoder import load_encoder, load_sparse_encoder

        encoder = load_sparse_encoder(model) if sparse else load_encoder(model)
        started = time.perf_counter()
        total = sum(len(index.without_vectors(encoder.name, unit)) for unit in wanted)
        with Progress(total, "making vectors", "filings") as progress:
            made = embed(index, encoder, wanted, lambda filing: progress.step(_line_of(filing)))
        seconds = time.perf_counter() - started
        if as_json:
            show_json(_document(encoder.name, wanted, made, str(place), seconds))
        else:
            show(_summary(encoder.name, wanted, made, seconds))
    return ExitCode.DONE


def _wanted(units: str) -> list[VectorUnit]:
    named = [unit.strip() for unit in units.split(",") if unit.strip()]
    unknown = [unit for unit in named if unit not in _UNITS]
    if unknown or not named:
        raise FinAgentError(
            f"vectors are made of {', '.join(_UNITS)}",
            subject=f"--units {units}",
            remedy="Name one or more of these, with commas between them",
        )
    return list(dict.fromkeys(_UNITS[unit] for unit in named))


def _line_of(filing: EmbeddedFiling) -> str:
    return f"{filing.doc_id}: {filing.vectors} {_plural(filing.unit)}"


def _plural(unit: VectorUnit) -> str:
    return next(name for name, named in _UNITS.items() if named is unit)


def _summary(model: str, units: Sequence[VectorUnit], made: Sequence[EmbeddedFiling], seconds: float) -> str:
    if not made:
        return f"Every filing has its vectors by {model} ({', '.join(map(_plural, units))})."
    counts = ", ".join(
        f"{sum(filing.vectors for filing in made if filing.unit is unit):,} of {_plural(unit)}" for unit in units
    )
    vectors, size = sum(filing.vectors for filing in made), sum(filing.size for filing in made)
    return f"{vectors:,} vectors by {model} ({counts}), {size / 1e6:.1f} MB, in {seconds:.1f} s."


def _document(
    model: str, units: Sequence[VectorUnit], made: Sequence[EmbeddedFiling], index: str, seconds: float
) -> dict[str, object]:
    return {
        "index": index,
        "model": model,
        "seconds": round(seconds, 3),
        "units": [
            {
                "unit": _plural(unit),
                "filings": sum(filing.unit is unit for filing in made),
                "vectors": sum(filing.vectors for filing in made if filing.unit is unit),
                "bytes": sum(filing.size for filing in made if filing.unit is unit),
            }
            for unit in units
        ],
    }
