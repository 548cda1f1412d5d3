"""What an index held when it was asked, and how a question was asked, each in a few digits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from fin_agent.config import Settings
from fin_agent.index.opening import place_of
from fin_agent.index.protocol import FilingIndex
from fin_agent.runs.run import IndexState, running_version

_DIGITS = 16
_DECIDE_NOTHING = frozenset(
    {"key_variable", "budget", "batch_budget", "at_once", "timeout", "attempts", "cache", "prices"}
)
"""Settings of models that say how they are reached and paid, not what they answer. (An answer that a budget cut short
says so itself.)"""


def index_state(index: FilingIndex, folder: Path) -> IndexState:
    """The state of the index in `folder`: the same for the same filings, in whatever order they came."""
    entries = index.entries()
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(f"{entry.content_hash} {entry.doc_id}\n".encode("utf-8", "surrogatepass"))
    return IndexState(path=place_of(index, folder), filings=len(entries), fingerprint=digest.hexdigest()[:_DIGITS])


def asking_fingerprint(settings: Settings, index: IndexState) -> str:
    """All that answers depend on beside the question: the same where they may stand in one batch.

    Of prompts of the user's own their text counts, not only the folder.
    """
    written = settings.model_dump(mode="json", exclude={"models"})
    models = settings.models.model_dump(mode="json", exclude=set(_DECIDE_NOTHING)) if settings.by_model else {}
    parts: dict[str, object] = {
        "settings": written,
        "models": models,
        "index": index.fingerprint,
        "version": running_version(),
        "prompts": _texts(settings),
    }
    return _digest(parts)


def question_fingerprint(asking: str, question: str, doc_ids: Sequence[str] = ()) -> str:
    """A question as it is asked, over `doc_ids` where it is restricted to these."""
    return _digest({"asking": asking, "question": question, "doc_ids": list(doc_ids)})


def _texts(settings: Settings) -> dict[str, str]:
    """Prompts of the user's own by their place in the folder, each as a digest."""
    if settings.prompts is None:
        return {}
    files = sorted(settings.prompts.rglob("*.md"))
    return {
        file.relative_to(settings.prompts).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }


def _digest(parts: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[: 2 * _DIGITS]
