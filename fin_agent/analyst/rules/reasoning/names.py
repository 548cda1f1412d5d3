"""Names that filings list: people with their offices, firms that sign a report."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.lexicon.words import word_lists

_NAME = r"[A-Z][\w.’'-]*(?: (?:[A-Z][\w.’'-]*|de|van|von|du|la)){1,4}(?:,? (?:Jr|Sr|II|III|IV)\.?)?"
_LINE_OF_A_PERSON = re.compile(rf"^({_NAME})\s*(?:\*|\(\d\))?$")
_ROW_OF_A_PERSON = re.compile(rf"^({_NAME})[\s|,]+(?:\(?(?:age )?(\d\d)\)?)[\s|,]+([A-Z][^|\n]+?)(?:\s*\|.*)?$")
_WORDS_ON_A_PERSON = re.compile(rf"^({_NAME})\s*,\s+([A-Z][^—–.:]{{5,140}}?)\s*[—–-]\s")
_AGE = re.compile(r"^\s*(\d\d)\s*$")
_FEWEST_PEOPLE = 2


_SIGNED = re.compile(r"^\s*(?:/s/\s*)?([A-Z][\w.&,’' +-]{1,60}?\b(?:LLP|L\.L\.P\.|LLC|PLLC|P\.C\.))\s*(?:\n|$)", re.M)
_IN_WORDS = re.compile(
    r"\b([A-Z][\w.&’'+-]+(?:(?: |, | & | and )[A-Z&][\w.&’'+-]*){0,4},? (?:LLP|L\.L\.P\.|PLLC|P\.C\.))"
)


@dataclass(frozen=True, slots=True)
class Person:
    """One of the people a filing lists."""

    name: str
    title: str


def people_in(text: str) -> list[Person]:
    """People whom a passage lists with their titles: on lines with an age between, in rows, or before a dash."""
    lines = [line.strip() for line in text.split("\n")]
    full = [line for line in lines if line]
    found: dict[str, str] = {}
    for number, line in enumerate(full):
        row, words = _ROW_OF_A_PERSON.match(line), _WORDS_ON_A_PERSON.match(line)
        if row and is_title(row[3]):
            found.setdefault(row[1], row[3])
        elif words and is_title(words[2]):
            found.setdefault(words[1].strip(), words[2])
        elif _LINE_OF_A_PERSON.match(line) and any(map(_AGE.match, full[number + 1 : number + 2])):
            title = next((after for after in full[number + 2 : number + 3] if is_title(after)), "")
            if title:
                found.setdefault(line, title)
    people = [Person(name, _without_year(title)) for name, title in found.items() if not is_title(name)]
    return people if len(people) >= _FEWEST_PEOPLE else []


def firms_in(text: str) -> list[str]:
    """Partnerships that a passage names, those that sign it first: `Ernst & Young LLP`."""
    found = [" ".join(match[1].split()) for pattern in (_SIGNED, _IN_WORDS) for match in pattern.finditer(text)]
    return list(dict.fromkeys(found))


def is_title(words: str) -> bool:
    """Whether words name an office: `Senior Vice President and Controller`."""
    said = set(re.findall(r"[a-z]+", words.lower()))
    return bool(said & word_lists("answer_words")["titles"])


def _without_year(title: str) -> str:
    return re.sub(r"[\s|]+(?:19|20)\d\d.*$", "", title).strip(" ,;")
