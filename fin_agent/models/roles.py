"""What a chat model is asked to do: the roles of the model analyst, under the names that prompts give them."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """A role has a prompt of its own, may have a model of its own, and is accounted for by its name.

    Short names, and those of the prompts' files, are read as well.

    >>> Role("curation"), Role("cover_summary"), Role("card")
    (<Role.CURATION: 'curation'>, <Role.SUMMARY: 'cover-summary'>, <Role.CARD: 'card-abstraction'>)
    """

    SUMMARY = "cover-summary"
    QUERY = "query-rewrite"
    CARD = "card-abstraction"
    INTENT = "intent"
    CURATION = "curation"
    GROUP = "group-selection"
    LISTWISE = "listwise-ranking"
    PROGRAM = "program"
    REPAIR = "program-repair"
    REASONING = "reasoning"
    TEXT_JUDGE = "text-judge"
    HYDE = "hypothetical-passage"
    MULTI_HYDE = "hypothetical-passages"
    THOUGHT = "next-thought"
    NODE_SUMMARY = "node-summary"
    SUB_QUESTIONS = "sub-questions"
    TITLE = "title"
    ASSISTANT = "assistant"

    @classmethod
    def _missing_(cls, value: object) -> Role | None:
        if not isinstance(value, str):
            return None
        plain = value.strip().lower().replace("_", "-")
        return next((role for role in cls if plain in (role.value, _SHORT.get(role))), None)


_SHORT = {
    Role.SUMMARY: "summary",
    Role.QUERY: "query",
    Role.CARD: "card",
    Role.GROUP: "group",
    Role.LISTWISE: "judge",
    Role.REPAIR: "repair",
    Role.HYDE: "hyde",
    Role.MULTI_HYDE: "multi-hyde",
    Role.THOUGHT: "ircot",
}
