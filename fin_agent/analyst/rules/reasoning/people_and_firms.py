"""Find the names that filings list: people with their offices, firms that sign a report."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.analyst.rules.reasoning.answer_type_matching import FIRM
from fin_agent.lexicon.text_normalization import words_in
from fin_agent.lexicon.words import any_of, word_lists
from fin_agent.vocabulary.dates import printed_years

_NAME = r"[A-Z][\w.’'-]*(?: (?:[A-Z][\w.’'-]*|de|van|von|du|la)){1,4}(?:,? (?:Jr|Sr|II|III|IV)\.?)?"
_PERSON_LINE = re.compile(rf"^({_NAME})\s*(?:\*|\(\d\))?$")
_PERSON_ROW = re.compile(rf"^({_NAME})[\s|,]+(?:\(?(?:age )?(\d\d)\)?)[\s|,]+([A-Z][^|\n]+?)(?:\s*\|.*)?$")
_PERSON_SENTENCE = re.compile(rf"^({_NAME})\s*,\s+([A-Z][^—–.:]{{5,140}}?)\s*[—–-]\s")
_MIN_PEOPLE = 2


_SIGNED = re.compile(r"^\s*(?:/s/\s*)?([A-Z][\w.&,’' +-]{1,60}?\b(?:LLP|L\.L\.P\.|LLC|PLLC|P\.C\.))\s*(?:\n|$)", re.M)


@dataclass(frozen=True, slots=True)
class Person:
    """A person that a filing lists."""

    name: str
    title: str


def people_in(text: str) -> list[Person]:
    """Return the people listed with titles in a passage: on lines with an age between, in rows, or before a dash."""
    lines = [line.strip() for line in text.split("\n")]
    full = [line for line in lines if line]
    found: dict[str, str] = {}
    for number, line in enumerate(full):
        row, words = _PERSON_ROW.match(line), _PERSON_SENTENCE.match(line)
        if row and is_title(row[3]):
            found.setdefault(row[1], row[3])
        elif words and is_title(words[2]):
            found.setdefault(words[1].strip(), words[2])
        elif _PERSON_LINE.match(line) and any(
            len(age) == 2 and age.isdecimal() for age in full[number + 1 : number + 2]
        ):
            title = next((after for after in full[number + 2 : number + 3] if is_title(after)), "")
            if title:
                found.setdefault(line, title)
    people = [Person(name, _without_year(title)) for name, title in found.items() if not is_title(name)]
    return people if len(people) >= _MIN_PEOPLE else []


def offices_of(title: str) -> list[str]:
    """Return the current offices in a title, each with its qualifiers.

    >>> offices_of("Chair since April 2019 and Chief Executive Officer since May 2017. President from 2015 to 2018")
    ['Chair', 'Chief Executive Officer']
    >>> offices_of("President, Europe operating unit since January")
    ['President, Europe operating unit']
    """
    held = _PAST.split(title, maxsplit=1)[0]
    joined = _SINCE.sub("", held).replace(" and ", ", ").replace("; ", ", ")
    pieces = [piece.strip(" .,;") for piece in joined.split(", ")]
    found: list[str] = []
    for piece in pieces:
        if is_title(piece):
            found.append(piece)
        elif found and piece:
            found[-1] = f"{found[-1]}, {piece}"
    return found


_SINCE = re.compile(
    r"\s+(?:since|as of|effective)"
    r"(?:\s*$|\s+(?:(?:[A-Z][a-z]+\s+)?(?:\d{1,2},\s+)?(?:19|20)\d\d|[A-Z][a-z]+(?=$|[.,;])))",
    re.I,
)
_PAST = re.compile(r"\.\s|\bprior to\b|\bpreviously\b|\bfrom\s+(?:[A-Z][a-z]+\s+)?(?:19|20)\d\d", re.I)


def current_title(title: str) -> str:
    """Return the current title, without its start and earlier titles."""
    return _SINCE.sub("", _PAST.split(title, maxsplit=1)[0]).strip(" .,;") if _SINCE.search(title) else title


def requested_office(core: str) -> frozenset[str]:
    """Return the spellings of the office that a question names; empty if it names no known one.

    >>> sorted(requested_office("Who was the CFO in 2020?"))
    ['cfo', 'chief financial officer']
    """
    ways = [words for kind, words in sorted(word_lists("answer_words").items()) if kind.startswith("office ")]
    named = [words for words in ways if any_of(words).search(core)]
    return named[0] if len(named) == 1 else frozenset()


def names_holder(text: str, office: frozenset[str]) -> bool:
    """Return whether a text names the holder of an office: `said Chief Executive Officer Jo Doe`, `Jo Doe, our CEO`.

    >>> office = frozenset(["chief executive officer"])
    >>> names_holder("The Board appointed Jo Doe, 52, as President and Chief Executive Officer.", office)
    True
    >>> names_holder("Jo Doe said that the award of the Chief Executive Officer was granted.", office)
    False
    """
    no_name = word_lists("answer_words")["of an office"]
    for phrase in sorted(office):
        spelt = rf"(?i:{any_of([phrase]).pattern})"
        held = rf"{_NAME},?\s+(?:(?:is|was|our|the|its|as|has|served|Chair\w*|President|and)[\s,]+){{0,5}}{spelt}"
        begun = rf"{_NAME}\b[^.]{{0,160}}?\b{_HAPPENS}[^.]{{0,80}}?{spelt}|\b{_HAPPENS}\s+{_NAME}\b[^.]{{0,60}}?{spelt}"
        named = (found["name"] or "" for found in re.finditer(rf"{held}|{begun}|{spelt},?\s+(?P<name>{_NAME})", text))
        if any(no_name.isdisjoint(name.lower().split()) for name in named):
            return True
    return False


_HAPPENS = r"(?:appoint|elect|nam(?=ed|es)|promot|retir|resign|step(?:s|ped)?\s+down|succe|depart|hir(?=ed|es))\w*"
"""Verbs that begin or end a term of office: `the Board appointed Jo Doe, 52, as Chief Executive Officer`."""


def firms_in(text: str) -> list[str]:
    """Return the partnerships that a passage names, signatories first: `Ernst & Young LLP`."""
    signed = [match[1] for match in _SIGNED.finditer(text)]
    found = [" ".join(name.split()) for name in (*signed, *(match[0] for match in FIRM.finditer(text)))]
    return list(dict.fromkeys(found))


def is_title(words: str) -> bool:
    """Return whether words name an office: `Senior Vice President and Controller`."""
    said = set(words_in(words.lower()))
    return bool(said & word_lists("answer_words")["titles"])


def _without_year(title: str) -> str:
    """Return a title without the year in its row; unchanged if it states its start in words."""
    years = printed_years(title)
    return title if not years or _SINCE.search(title) else title.partition(str(years[0]))[0].strip(" |,;")
