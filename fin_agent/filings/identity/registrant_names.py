"""Names of a company: the registrant's name, former names and short names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import takewhile

from fin_agent.filings.identity.cover import Kind, PlainPage, is_full_name, normalize_print, printed_name, reading
from fin_agent.lexicon.text_normalization import MAX_LABEL_LENGTH, collapse_spaces
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.dates import printed_dates
from fin_agent.vocabulary.identity import FieldSource
from fin_agent.vocabulary.page import PageContent

_PATTERNS = patterns("identity_patterns")

NAMES_SEPARATOR = "; "
"""Separates the names in the value of `other_names`."""


def same_company(one: str, other: str) -> bool:
    """Return whether two names differ only in case, punctuation, `The` and the spelling of their legal form.

    >>> same_company("COCA COLA CO", "The Coca-Cola Company")
    True
    >>> same_company("Lark Power Company", "Lark Gas Company")
    False
    """
    return one == other or distinctive_words(one) == distinctive_words(other)


def distinctive_words(name: str) -> str:
    """Return the distinctive words of a name in lower case, joined."""
    name = collapse_spaces(name, MAX_LABEL_LENGTH)
    name = re.sub(r"\s*[/\\][A-Za-z ]{2,8}[/\\]?\s*$", "", name)
    name = re.sub(r"[.'’®™/]", "", name.casefold()).replace("&", " and ")
    words = re.findall(r"\w+", name)
    if words[:1] == ["the"]:
        words = words[1:]
    while len(words) > 1 and words[-1] in _ENDINGS:
        words.pop()
    # `AMAZON COM INC` in a register is `Amazon.com, Inc.` on the cover; `COCA COLA` is `Coca-Cola`.
    return "".join(words)


_ENDINGS = word_lists("identity_words")["ends of names"]


def registrant_in_text(pages: Sequence[PlainPage]) -> list[FieldSource]:
    """Return the company of these pages, by the frequency and positions of names; nothing where there is none."""
    for number, text in pages[:3]:
        listed = _PATTERNS["listed"].search(text)
        if listed is not None:
            name = _name_before(text, listed.start())
            if name:
                return [reading("company", name, Kind.SENTENCE, f"{name} {listed.group()}", number)]
    weights: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = {}
    places: dict[str, tuple[str, int]] = {}
    for number, text in pages:
        for found in _PATTERNS["name"].finditer(text):
            name = printed_name(_PATTERNS["before a name"].sub("", found[1]))
            if not name or " " not in name or _PATTERNS["other companies"].search(name):
                continue
            key = re.sub(r"[\W_]+", " ", name.lower()).strip()
            weights[key] += 6 if _PATTERNS["defines the company"].match(text, found.end()) else 1
            spellings.setdefault(key, Counter())[name] += 1
            places.setdefault(key, (text[found.start() : found.end() + 40], number))
    best = min(weights, key=lambda key: (-weights[key], key), default="")
    if not weights or (weights[best] < 2 and len(weights) > 1):
        return []
    name = min(spellings[best], key=lambda name: (name.isupper(), -spellings[best][name], name))
    return [reading("company", name, Kind.COUNTED, *places[best])]


def _name_before(text: str, place: int) -> str | None:
    """Return the name that ends right before `(NASDAQ: ...)`."""
    words: list[str] = []
    for line in reversed(text[max(0, place - 120) : place].split("\n")):
        of_line = line.split()
        taken = list(takewhile(_PATTERNS["name word"].fullmatch, reversed(of_line)))
        words = [*reversed(taken), *words]
        # A lone `Inc.` at the beginning of a line belongs to the line above.
        if len(taken) < len(of_line) or len(words) > 1:
            break
    words = words[-7:]
    while words and words[0] in ("&", "of", "and", "the"):
        words.pop(0)
    return printed_name(_PATTERNS["before a name"].sub("", " ".join(words))) or None


SIGNED_WITHIN = 400
LAST_PAGES = 40


def signature_readings(pages: Sequence[PageContent], first: int, not_before: date | None) -> Iterator[FieldSource]:
    """Yield the name and date (`filed`, after the period's end) of the first signature from position `first` on."""
    for page in (*pages[first:SIGNED_WITHIN], *pages[max(SIGNED_WITHIN, first, len(pages) - LAST_PAGES) :]):
        if "SIGNATURE" not in page.text and "ignature" not in page.text:
            continue
        text = _PATTERNS["day apart"].sub(r"\1\2", normalize_print(page.text))
        heading = _PATTERNS["signatures"].search(text)
        if heading is None:
            continue
        name = _signer(text, heading.end())
        if name is not None:
            yield reading("company", name, Kind.SIGNATURE, name, page.number)
        for one in printed_dates(text, heading.start()):
            if not_before is None or one.date >= not_before:
                begin, end = text.rfind("\n", 0, one.start) + 1, f"{text}\n".find("\n", one.end)
                yield reading("filed", one.date, Kind.SIGNATURE, text[begin:end], page.number)
                return


def _signer(text: str, place: int) -> str | None:
    """Return the full name between `thereunto duly authorized` and the signature."""
    authorized = _PATTERNS["authorized"].search(text, place, place + 900)
    if authorized is None:
        return None
    for line in text[authorized.end() : authorized.end() + 300].split("\n"):
        if re.match(r"\W*(?:by|/s/)\b", line, re.IGNORECASE) or "/s/" in line:
            return None
        name = re.sub(r"^\W*(?:registrant|company)\W+", "", printed_name(line), flags=re.IGNORECASE)
        if is_full_name(name):
            return name
    return None


def other_names(pages: Sequence[PlainPage], company: str, known: Iterable[FieldSource] = ()) -> list[FieldSource]:
    """Return a reading of all names, `known` or in the text: `formerly known as ...`, `(“Square,” the “Company”)`."""
    kept: dict[str, FieldSource] = {}
    for found in (*known, *_names_in(pages, company)):
        name = printed_name(found.value)
        name = name.rstrip(",; ") if _PATTERNS["legal abbreviation"].search(name) else name.rstrip(",.; ")
        key = name.casefold()
        named = 2 <= len(name) <= 40 and name[0].isupper() and key != company.casefold()
        if named and not _PATTERNS["generic term"].search(name):
            kept.setdefault(key, replace(found, value=name))
    if not kept:
        return []
    names = [one.value.replace(NAMES_SEPARATOR, " ") for one in kept.values()]
    printed = " | ".join(dict.fromkeys(one.printed for one in kept.values()))
    page = next((one.page for one in kept.values() if one.page is not None), None)
    return [reading("other_names", NAMES_SEPARATOR.join(names), Kind.SENTENCE, printed, page)]


def _names_in(pages: Sequence[PlainPage], company: str) -> Iterator[FieldSource]:
    words = re.findall(r"\w+", company)
    named = re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE) if words else None
    for number, text in pages:
        for former in _PATTERNS["former name"].finditer(text):
            if former["changed"] or _is_own_former_name(text, former, named):
                printed = text[max(0, former.start() - 1) : former.end()]
                yield _other_name(former["name"] or former["changed"], printed, number)
        for terms in _PATTERNS["quoted terms"].finditer(text):
            if _PATTERNS["the filer itself"].search(terms.group()):
                yield from (
                    _other_name(name, terms.group(), number) for name in _PATTERNS["quoted"].findall(terms.group())
                )
        if named is not None:
            for found in named.finditer(text):
                behind = text[found.end() : found.end() + 160]
                printed = text[found.start() : found.end() + 60]
                yield from (_other_name(name, printed, number) for name in _names_in_brackets(behind))


def _other_name(name: str, printed: str, page: int) -> FieldSource:
    return reading("other_names", name, Kind.SENTENCE, printed, page)


def _is_own_former_name(text: str, former: re.Match[str], named: re.Pattern[str] | None) -> bool:
    """Return whether a former name is the registrant's rather than a subsidiary's."""
    if re.match(r"[\s,]*(?:we|the\s+Company)\b", text[former.end() : former.end() + 20]):
        return True
    if named is None:
        return False
    start = max(0, former.start() - 200)
    return any(
        _PATTERNS["beside"].fullmatch(text, name.end(), former.start())
        for name in named.finditer(text, start, former.start())
    )


def _names_in_brackets(behind: str) -> list[str]:
    """Return names in the brackets after a name: `(“Square,” the “Company”)`, `(Verizon, or the Company)`."""
    opening = _PATTERNS["bracket"].match(behind)
    if opening is None:
        return []
    quoted = _PATTERNS["quoted"].findall(opening[1])
    if quoted or "Company" not in opening[1]:
        return quoted
    return [part for part in re.split(r",\s*|\s+(?:or|and)\s+", opening[1]) if part[:1].isupper()]
