"""Find the names that filings list: people with their offices, firms that sign a report."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.analyst.rules.reasoning.answer_type_matching import FIRM
from fin_agent.lexicon.text_normalization import words_in
from fin_agent.lexicon.words import word_lists

_NAME = r"[A-Z][\w.’'-]*(?: (?:[A-Z][\w.’'-]*|de|van|von|du|la)){1,4}(?:,? (?:Jr|Sr|II|III|IV)\.?)?"
_LISTED = re.compile(rf"^({_NAME})[\s|,*]+\(?(?:age )?\d\d\)?[\s|,]+([A-Z][^|\n]+)", re.M)
"""Name, age and office, in a row or on three lines."""
_PAST = re.compile(r"(?:\.\s|,?\s+(?:and\s+)?(?:prior to|previously)\b).*")
_SINCE = re.compile(r"\s+(?:since|as of|effective)(?:\s+(?:[A-Z][a-z]+|\d{1,2},|(?:19|20)\d\d))*")
_SIGNED = re.compile(r"^\s*(?:/s/\s*)?([A-Z][\w.&,’' +-]{1,60}?\b(?:LLP|L\.L\.P\.|LLC|PLLC|P\.C\.))\s*$", re.M)
_MIN_PEOPLE = 2


@dataclass(frozen=True, slots=True)
class Person:
    """A person that a filing lists, with the current office."""

    name: str
    title: str


def people_in(text: str) -> list[Person]:
    """Return the people listed with age and office in a passage; none if there is only one."""
    listed = {found[1]: _SINCE.sub("", _PAST.sub("", found[2])).strip(" .,;") for found in _LISTED.finditer(text)}
    people = [Person(name, title) for name, title in listed.items() if is_title(title) and not is_title(name)]
    return people if len(people) >= _MIN_PEOPLE else []


def firm_in(text: str) -> str:
    """Return the firm that signs a report, else the first that the passage names: `Ernst & Young LLP`."""
    found = _SIGNED.search(text)
    named = FIRM.search(text)
    return found[1] if found else " ".join(named[0].split()) if named else ""


def is_title(words: str) -> bool:
    """Return whether words name an office: `Senior Vice President and Controller`."""
    return not word_lists("answer_words")["titles"].isdisjoint(words_in(words.lower()))
