"""The roles that a chat model may fill: what each prompt is given, and what is read from the reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fin_agent.models.call import Role as ModelRole

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

    name: ModelRole
    """Under which a model is named for it, and calls are accounted for."""
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
    "assistant": Role(
        ModelRole.ASSISTANT, "talks, and calls the tools", {"filings": _FILING, "earlier": _MODEL}, TEXT
    ),
    "card": Role(
        ModelRole.CARD, "describes a passage as a card", {"passage": _FILING}, "Abstraction"
    ),
    "cover_summary": Role(
        ModelRole.SUMMARY,
        "says what a filing is",
        {"pages": _FILING},
        "SummaryReply",
    ),
    "curation": Role(
        ModelRole.CURATION,
        "keeps passages, asks for more",
        {"question": _QUESTION, "wanted": _FILING, "passages": _FILING, "most": _OURS},
        "CurationReply",
    ),
    "group_selection": Role(
        ModelRole.GROUP,
        "chooses cards that go on",
        {"question": _QUESTION, "wanted": _FILING, "cards": _FILING, "most": _OURS},
        "GroupReply",
    ),
    "hyde": Role(
        ModelRole.HYDE, "makes up an answering passage", {"question": _QUESTION}, TEXT
    ),
    "intent": Role(
        ModelRole.INTENT,
        "reads what a question asks",
        {"question": _QUESTION, "companies": _FILING, "metrics": _OURS},
        "IntentReply",
    ),
    "ircot": Role(
        ModelRole.THOUGHT,
        "reasons one sentence further",
        {"question": _QUESTION, "passages": _FILING, "thoughts": _MODEL},
        TEXT,
    ),
    "judge": Role(
        ModelRole.LISTWISE,
        "ranks cards in one list",
        {"question": _QUESTION, "wanted": _FILING, "cards": _FILING, "count": _OURS},
        "ListwiseReply",
    ),
    "multi_hyde": Role(
        ModelRole.MULTI_HYDE,
        "makes up passages of each kind",
        {"question": _QUESTION, "kind": _OURS},
        TEXT,
    ),
    "node_summary": Role(
        ModelRole.NODE_SUMMARY,
        "says what a section tells",
        {"sections": _FILING},
        "NodeSummaryReply",
    ),
    "program": Role(
        ModelRole.PROGRAM,
        "writes the program",
        {"question": _QUESTION, "wanted": _FILING, "figures": _FILING},
        "ProgramReply",
    ),
    "program_repair": Role(
        ModelRole.REPAIR,
        "mends a refused program",
        {"question": _QUESTION, "wanted": _FILING, "figures": _FILING, "program": _MODEL, "problem": _MODEL},
        "ProgramReply",
    ),
    "query_rewrite": Role(
        ModelRole.QUERY,
        "writes what to search for",
        {"question": _QUESTION, "wanted": _FILING, "missing": _MODEL},
        "QueryReply",
    ),
    "reasoning": Role(
        ModelRole.REASONING,
        "answers in words, with quotes",
        {"question": _QUESTION, "passages": _FILING},
        "ReasoningReply",
    ),
    "sub_questions": Role(
        ModelRole.SUB_QUESTIONS,
        "takes a question apart",
        {"question": _QUESTION, "companies": _FILING, "most": _OURS},
        "SubQuestionsReply",
    ),
    "text_judge": Role(
        ModelRole.TEXT_JUDGE,
        "judges an answer in words",
        {"question": _QUESTION, "reference": _FILING, "answer": _MODEL},
        "TextJudgeReply",
    ),
    "title": Role(
        ModelRole.TITLE,
        "gives a text a title",
        {"what": _OURS, "texts": _FILING},
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
    """The name of the prompt for a role, however the role is named; None where there is no such role.

    >>> prompt_of_role("listwise-ranking"), prompt_of_role("judge"), prompt_of_role("cook")
    ('judge', 'judge', None)
    """
    try:
        wanted = ModelRole(role)
    except ValueError:
        return None
    return next((name for name, each in ROLES.items() if each.name is wanted), None)
