"""Whether words that name no measure are something that a filing speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.rules.follow_up_phrases import phrases
from fin_agent.retrieval.terms import stems_of
from fin_agent.workspace import Workspace

_WORD = re.compile(r"[^\W\d_][\w&'’-]*")
_MOST_PASSAGES = 60
_SHORTEST = 3


def spoken_of(noun: str, companies: Sequence[str], workspace: Workspace) -> bool:
    """Whether a passage holds the noun phrase as it stands, but for endings and small words between its words.

    `companies` are keys of the directory, whose filings are looked into; all where there is none. A phrase without a
    word that could name a topic (`average of those`, `days`) is none.
    """
    words = [found[0].lower() for found in _WORD.finditer(noun)]
    stems = stems_of(noun)
    if not stems or not any(len(word) >= _SHORTEST and not says_nothing(word) for word in words):
        return False
    by_key = workspace.directory.by_key
    filings = [doc_id for key in companies if key in by_key for doc_id in by_key[key].doc_ids]
    hits = workspace.index.search_passages(words, doc_ids=filings or None, limit=_MOST_PASSAGES)
    keys = list(dict.fromkeys(hit.key for hit in hits))
    return any(_holds(each.passage.text, stems) for each in workspace.index.passages(keys))


def says_nothing(word: str) -> bool:
    """Whether a word names neither a measure nor a topic of its own."""
    return any(word.lower() in phrases(kind) for kind in ("small", "vague", "reckoning"))


def _holds(text: str, stems: Sequence[str]) -> bool:
    said, width = stems_of(text), len(stems)
    return any(said[start : start + width] == stems for start in range(len(said) - width + 1))
