"""What a chat model is asked to do: the roles of the model analyst."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """A role has a prompt of its own, may have a model of its own, and is accounted for by its name."""

    SUMMARY = "summary"
    QUERY = "query"
    CARD = "card"
    INTENT = "intent"
    CURATION = "curation"
    GROUP = "group"
    LISTWISE = "listwise"
    PROGRAM = "program"
    REPAIR = "repair"
    REASONING = "reasoning"
    TEXT_JUDGE = "text-judge"
    HYDE = "hyde"
    NODE_SUMMARY = "node-summary"
    SUB_QUESTIONS = "sub-questions"
    TITLE = "title"
