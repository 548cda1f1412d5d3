"""Words of a message that change whose figure is asked for: `add Acme`, `only Acme`, `without Acme`, `all three`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.rules.context_carryover import AskedBefore
from fin_agent.analyst.rules.question_wording import listed
from fin_agent.lexicon.company_names import Company
from fin_agent.workspace import Workspace

MOST_NAMED = 6
"""Of the companies of an index: more are not named in one question."""
_COUNTS = ("two", "three", "four", "five", "six")
_COMPANIES = r"(?:(?:of\s+)?(?:the\s+|these\s+|those\s+)?(?:companies|firms)|of\s+(?:them|these|those))"
_ALL = re.compile(
    rf"\b(?:all|each|every(?:one)?|both)\s+(?:(?:of\s+)?(?:the\s+)?(?P<count>{'|'.join(_COUNTS)})(?:\s+{_COMPANIES})?|{_COMPANIES}"
    rf"|(?P<one>company|firm))(?=\s*(?:$|[?.!,;'’]|(?:in|for|from|at|as|over|during|had|have|and)\b))"
    rf"|\bboth(?=\s*(?:$|[?.!]|(?:in|for|from|at|as|over|during)\b))"
    rf"|^\W*(?:and\s+)?(?:for\s+)?(?P<bare>all|everyone)(?=\W*$)",
    re.I,
)


def says_all(text: str) -> bool:
    """Whether the text says nothing but `all companies`, `for all of the companies`, `all three`."""
    found = _ALL.search(text)
    return (
        found is not None
        and text[: found.start()].strip().lower() in _LEADS
        and not re.search(r"\w", text[found.end() :])
    )


_LEADS = ("", "for", "and", "and for")


def names_of_all(text: str, conversation: Sequence[AskedBefore], workspace: Workspace) -> str | None:
    """The text with the names that `all three`, `both` or `all companies` stand for in their place.

    `conversation` holds the questions before, the last one last. The text itself where nothing of that kind stands in
    it or it names companies; None where the words do not say which are meant.
    """
    found = _ALL.search(text)
    if found is None or workspace.directory.mentions(text):
        return text
    words = found[0].lower()
    count = _COUNTS.index(found["count"].lower()) + 2 if found["count"] else 2 if "both" in words else 0
    spoken_of = _spoken_of(conversation)
    there = [_short(company) for company in workspace.directory.companies]
    if count:
        last = list(conversation[-1].names) if conversation else []
        fitting = [names for names in (last, spoken_of[-count:], there) if len(names) == count]
    else:
        of_them = re.search(r"\b(?:them|these|those)\b", words) is not None
        fitting = [spoken_of] if of_them and len(spoken_of) > 1 else [there]
    if not fitting or not 1 < len(fitting[0]) <= MOST_NAMED:
        return None
    names = list(fitting[0])
    owned = re.match(r"['’]s?(?!\w)", text[found.end() :])
    told = " and ".join(f"{name}'s" for name in names) if owned else listed(names)
    rest = text[found.end() + (owned.end() if owned else 0) :]
    return f"{text[: found.start()]}{told}{rest}"


def _spoken_of(conversation: Sequence[AskedBefore]) -> list[str]:
    """The companies of the conversation, in the order in which they were named last."""
    names: dict[str, str] = {}
    for before in conversation:
        for company in before.intent.companies:
            names.pop(company.key, None)
            spoken = next((name for name in before.names if name.lower() in company.name.lower()), company.name)
            names[company.key] = spoken
    return list(names.values())


def _short(company: Company) -> str:
    """The shortest of its names that is one."""
    return min(company.names, key=len)
