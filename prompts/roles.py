"""The roles that a chat model may fill: what each prompt is given, and what is read from the reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

TEXT = "text"
"""The output of a role whose reply is read as it is."""


class Holds(StrEnum):
    """Whose words a placeholder holds: anything but OURS is fenced, and stands in the user's part only."""

    OURS = "ours"
    """Counts, ids of metrics, what was wrong with a reply before."""
    QUESTION = "question"
    FILING = "filing"
    """Text of filings, or what was made from it: cards, figures, names of companies."""
    MODEL = "model"
    """Written by a model before, perhaps after it had read a filing."""

    @property
    def is_material(self) -> bool:
        """Whether it is quoted, never said."""
        return self is not Holds.OURS


@dataclass(frozen=True, slots=True)
class Role:
    """What a prompt is for."""

    name: str
    does: str
    placeholders: Mapping[str, Holds]
    output: str
    """Name of the type of its reply (`fin_agent.analyst.model.replies`), or `text`."""

    @property
    def material(self) -> frozenset[str]:
        """Placeholders whose content is fenced."""
        return frozenset(name for name, holds in self.placeholders.items() if holds.is_material)


_OURS, _QUESTION, _FILING, _MODEL = Holds.OURS, Holds.QUESTION, Holds.FILING, Holds.MODEL

ROLES: Mapping[str, Role] = {
    "card": Role(
        "card-abstraction", "describes a passage as a card", {"passage": _FILING, "correction": _OURS}, "Abstraction"
    ),
    "cover_summary": Role(
        "cover-summary",
        "says what a filing is",
        {"pages": _FILING, "correction": _OURS},
        "SummaryReply",
    ),
    "curation": Role(
        "curation",
        "keeps passages, asks for more",
        {"question": _QUESTION, "wanted": _FILING, "passages": _FILING, "most": _OURS, "correction": _OURS},
        "CurationReply",
    ),
    "group_selection": Role(
        "group-selection",
        "chooses cards that go on",
        {"question": _QUESTION, "wanted": _FILING, "cards": _FILING, "most": _OURS, "correction": _OURS},
        "GroupReply",
    ),
    "hyde": Role(
        "hypothetical-passage", "makes up an answering passage", {"question": _QUESTION}, TEXT
    ),
    "intent": Role(
        "intent",
        "reads what a question asks",
        {"question": _QUESTION, "companies": _FILING, "metrics": _OURS, "correction": _OURS},
        "IntentReply",
    ),
    "ircot": Role(
        "next-thought",
        "reasons one sentence further",
        {"question": _QUESTION, "passages": _FILING, "thoughts": _MODEL},
        TEXT,
    ),
    "judge": Role(
        "listwise-ranking",
        "ranks cards in one list",
        {"question": _QUESTION, "wanted": _FILING, "cards": _FILING, "count": _OURS, "correction": _OURS},
        "ListwiseReply",
    ),
    "multi_hyde": Role(
        "hypothetical-passages",
        "makes up passages of each kind",
        {"question": _QUESTION, "kind": _OURS},
        TEXT,
    ),
    "node_summary": Role(
        "node-summary",
        "says what a section tells",
        {"sections": _FILING, "correction": _OURS},
        "NodeSummaryReply",
    ),
    "program": Role(
        "program",
        "writes the program",
        {"question": _QUESTION, "wanted": _FILING, "figures": _FILING, "correction": _OURS},
        "ProgramReply",
    ),
    "program_repair": Role(
        "program-repair",
        "mends a refused program",
        {"question": _QUESTION, "wanted": _FILING, "figures": _FILING, "program": _MODEL, "problem": _MODEL,
         "correction": _OURS},
        "ProgramReply",
    ),
    "query_rewrite": Role(
        "query-rewrite",
        "writes what to search for",
        {"question": _QUESTION, "wanted": _FILING, "missing": _MODEL, "correction": _OURS},
        "QueryReply",
    ),
    "reasoning": Role(
        "reasoning",
        "answers in words, with quotes",
        {"question": _QUESTION, "passages": _FILING, "correction": _OURS},
        "ReasoningReply",
    ),
    "sub_questions": Role(
        "sub-questions",
        "takes a question apart",
        {"question": _QUESTION, "companies": _FILING, "most": _OURS, "correction": _OURS},
        "SubQuestionsReply",
    ),
    "text_judge": Role(
        "text-judge",
        "judges an answer in words",
        {"question": _QUESTION, "reference": _FILING, "answer": _MODEL, "correction": _OURS},
        "TextJudgeReply",
    ),
    "title": Role(
        "title",
        "gives a text a title",
        {"what": _OURS, "texts": _FILING, "correction": _OURS},
        "TitleReply",
    ),
}  # fmt: skip
"""Name of a prompt's file -> its role."""


def mark_of_one(placeholder: str) -> str:
    """The mark around each of several texts: `passage` for `passages`."""
    return f"{placeholder[:-3]}y" if placeholder.endswith("ies") else placeholder.removesuffix("s")


MARKS = frozenset(mark for role in ROLES.values() for name in role.material for mark in (name, mark_of_one(name)))
"""Every name that stands in a mark."""
OUTPUTS = frozenset(role.output for role in ROLES.values())


def prompt_of_role(role: str) -> str | None:
    """The name of the prompt for a role; None where there is no such role."""
    return next((name for name, each in ROLES.items() if each.name == role), None)
