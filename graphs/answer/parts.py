"""Questions about a part of a company (a segment, a product, a region): answered in words, never by the whole."""

from __future__ import annotations

import re
from collections.abc import Collection

from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.words import word_lists
from fin_agent.workspace import Workspace


def of_a_part(intent: Intent, workspace: Workspace) -> Intent:
    """`intent` without its measure where the question names a part by which a filing of its companies divides figures.

    The company's own figure would be a wrong answer to `gross margin for Services`.
    """
    if not intent.numeric or not intent.companies:
        return intent
    asked = {company.key for company in intent.companies}
    owners = workspace.directory.owners
    doc_ids = [doc_id for doc_id, owner in owners.items() if owner in asked]
    part = part_named(intent.core, workspace.index.parts(doc_ids), workspace)
    if part is None:
        return intent
    note = f"figures of {part!r} alone are quoted, not computed"
    return intent.model_copy(
        update={
            "expression": "",
            "measure": "",
            "measure_unit": "",
            "parts": (part,),
            "assumed": (*intent.assumed, note),
        }
    )


def part_named(core: str, parts: Collection[str], workspace: Workspace) -> str | None:
    """The longest of `parts` that `core` names outside the names of metrics and companies."""
    rest = list(core)
    spans = [(mention.start, mention.end) for mention in workspace.lexicon.mentions(core)]
    spans += [(mention.start, mention.end) for mention in workspace.directory.mentions(core)]
    for start, end in spans:
        rest[start:end] = " " * (end - start)
    said = " ".join("".join(rest).lower().split())
    named = [
        name
        for printed in sorted(parts)
        for name in (piece.strip() for piece in printed.split(","))
        if _tells_something(name, workspace.lexicon) and re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", said)
    ]
    return max(named, key=lambda name: (len(name), name), default=None)


_SHORTEST = 4


def _tells_something(name: str, lexicon: Lexicon) -> bool:
    words = re.findall(r"[a-z]+", name.lower())
    general = word_lists("part_words")["general"]
    if len(name) < _SHORTEST or not words or general.issuperset(words):
        return False
    return not any(mention.start == 0 and mention.end == len(name) for mention in lexicon.mentions(name))
