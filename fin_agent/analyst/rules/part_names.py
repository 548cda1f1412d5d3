"""Find the parts of a company (segments, products, regions) that a question names."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from fin_agent.analyst.rules.words_to_intent import period_spans
from fin_agent.lexicon.company_names import company_words, normalize_name
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.phrase_matching import Mention
from fin_agent.lexicon.text_normalization import words_in
from fin_agent.lexicon.words import finds, patterns, word_lists
from fin_agent.query.lexer import KnownName
from fin_agent.vocabulary.dates import printed_years
from fin_agent.workspace import Workspace


def named_parts_in(text: str, parts: Collection[str], workspace: Workspace) -> list[KnownName]:
    """Return the parts that `text` names, longest names first, without nesting.

    Names inside those of metrics, periods or companies do not count, unless they begin a metric's name or follow its
    `of`. Filers may prefix parts with their own name, which people omit: `Freight` means `Acme Freight segment`.
    """
    lexicon = workspace.lexicon
    mentions = lexicon.mentions(text)
    companies = workspace.directory.mentions(text)
    filers = {company.end: company.phrase for company in companies}
    spelled = list(_spelled_out(text, parts, mentions))
    for company in companies:
        text = text[: company.start] + "\0" * (company.end - company.start) + text[company.end :]
    periods = period_spans(text)
    called = {*filers.values(), *(normalize_name(company.company.name) for company in companies)}
    ways, shortened, names = _names_of(frozenset(parts), frozenset(called), lexicon)
    low = text.lower()
    found = [one for name, word in names if word in low for one in _places(text, name, mentions, periods)]
    found += [*spelled, *_abbreviated(text, parts, called, mentions)]
    found.sort(key=lambda one: (one.start - one.end, one.start, one.name != text[one.start : one.end], _capitals(one)))
    kept: list[KnownName] = []
    for one in found:
        if any(one.start < other.end and other.start < one.end for other in kept):
            continue
        is_short = one.name in shortened and (one.name not in ways or one.start - 1 in filers)
        kept.append(replace(one, name=shortened[one.name]) if is_short else one)
    return kept


@lru_cache(maxsize=32)
def _names_of(
    parts: frozenset[str], called: frozenset[str], lexicon: Lexicon
) -> tuple[frozenset[str], dict[str, str], list[tuple[str, str]]]:
    """Return the names of parts, those without the filer's name, and each with a word that a text with it has."""
    ways = frozenset(way for printed in parts for way in _name_variants(printed))
    shortened = dict(_by_other_names_of_places(sorted(ways))) | dict(_without_filers(sorted(parts), called))
    names = [name for name in sorted(ways | shortened.keys()) if _is_distinctive(name, lexicon)]
    words = ([word for word in name.lower().split() if word not in _SPELT_OTHERWISE] for name in names)
    return ways, shortened, [(name, max(own, key=len, default="")) for name, own in zip(names, words, strict=True)]


def _spelled_out(text: str, parts: Collection[str], mentions: Sequence[Mention]) -> Iterator[KnownName]:
    """Yield parts printed by their initials whose words are in the text: `Commercial Services` for `CS`."""
    initials = {name for name in parts if name.isalpha() and name.isupper() and 1 < len(name) <= _MOST_INITIALS}
    for run in _CAPITALIZED.finditer(text) if initials else ():
        begins = [each for each in range(*run.span()) if text[each].isupper() and not text[each - 1 : each].isalpha()]
        for start, last in itertools.combinations(begins, 2):
            end = last + len(text[last : run.end()].split()[0])
            written = "".join(text[each] for each in begins if start <= each < end)
            # `Acme Web Services sales` are no sales of services
            taken = any(one.start < end and start < one.end for one in mentions if one.end <= end or one.start <= start)
            if written in initials and not taken:
                yield KnownName(written, start, end)


def _abbreviated(
    text: str, parts: Collection[str], filers: Collection[str], mentions: Sequence[Mention]
) -> Iterator[KnownName]:
    """Yield the only part whose words, or the filer's name and these, begin with the letters of an abbreviation.

    Behind the filer's letter, one of them may be left out: `ADS` for `Defense, Space & Security` of Acme.
    """
    for found in patterns("company_patterns")["abbreviation"].finditer(text):
        short, (start, end) = found[0], found.span()
        if short in parts or any(one.start < end and start < one.end for one in mentions):
            continue
        called = _with_initials(short, parts, filers)
        if len({name.casefold() for name in called}) == 1:
            yield KnownName(min(called), start, end)


def _initials(name: str) -> str:
    """Return the first letters of a name's words; those of a name with other signs than letters are none."""
    words = name.replace("-", " ").replace(",", " ").split()
    words = [word for word in words if word.lower() not in ("and", "&", "of", "the")]
    return "".join(word[0] for word in words).upper() if all(word.isalpha() for word in words) else ""


def _without_filers(parts: Sequence[str], filers: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (name without the filer's, printed name) of parts that begin with the filer's name: `Acme Freight`."""
    for printed in parts:
        for filer in filers:
            if printed.casefold().startswith(f"{filer.casefold()} "):
                words = printed[len(filer) :].split()
                is_kind = len(words) > 1 and words[-1].lower() in ("segment", "segments")
                yield " ".join(words[:-1] if is_kind else words), printed


def _with_initials(short: str, parts: Collection[str], filers: Collection[str]) -> list[str]:
    """Return the parts that an abbreviation may stand for; of several none is surely meant."""
    leads = {filer.split()[0] for filer in filers if filer.strip()}
    called = [name for name in parts if any(_initials(f"{lead} {name}") == short for lead in ("", *leads))]
    if called or len(short) < _SHORTEST:
        return called
    whole = [(name, _initials(f"{lead} {name}")) for name in parts for lead in leads]
    return [name for name, way in whole if short in {way[:at] + way[at + 1 :] for at in range(1, len(way))}]


def _by_other_names_of_places(ways: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, printed name) of parts by another name of their place: `LATAM`, `Latin American`."""
    for printed, names in itertools.product(ways, word_lists("place_names").values()):
        for own, other in itertools.permutations(names, 2):
            if (found := _pattern(own).search(printed)) is not None:
                yield f"{printed[: found.start()]}{other}{printed[found.end() :]}", printed


def _capitals(part: KnownName) -> tuple[int, str]:
    """Return the sort key of names that differ in case: fewest capitals first, since tags capitalize all words."""
    return sum(mark.isupper() for mark in part.name), part.name


_CAPITALIZED = re.compile(
    r"(?:(?:[A-Z]\.){2,}|[A-Z][\w'-]*)(?:\s+(?:(?:and|of|the|&)\s+)?(?:(?:[A-Z]\.){2,}|[A-Z][\w'-]*))+"
)
_BEFORE_A_PART = frozenset({"of", "from", "for", "in"})
_MIN_LENGTH = 4
_MOST_INITIALS, _SHORTEST = 6, 3
_NEAR = 60
"""Characters before and behind a word that tell whether it is a name."""
_FOOTNOTE = re.compile(r"\s*\((?:\w{1,2})\)|[*†‡]")
_NAMES_OF_THE_US = ("United States", "U.S.", "U.S", "U.S.A.", "U.S.A", "US", "USA")
_SPELT_OTHERWISE = frozenset(("&", "and", "united", "states", *(name.lower() for name in _NAMES_OF_THE_US)))
_UNITED_STATES = r"(?:United States|U\.S\.?(?:A\.?)?|USA?)"


def _name_variants(printed: str) -> Iterator[str]:
    """Yield a printed name without footnotes, its pieces between commas, and both names of `Europe (EMEA)`."""
    name = " ".join(_FOOTNOTE.sub(" ", printed).split())
    yield name
    yield from (piece.strip() for piece in name.split(","))
    first, _, other = name.removesuffix(")").rpartition("(")
    if name.endswith(")") and first and other[:1].isupper() and not set(other) & set(",;:/-"):
        yield from (first.strip(), other)


def _places(
    text: str, name: str, mentions: Sequence[Mention], periods: Sequence[tuple[int, int]]
) -> Iterator[KnownName]:
    """Yield the occurrences of `name`; short names must match in case, unless the text has no capitals at all."""
    small = len(name) == _SHORTEST and not any(map(str.isupper, text))  # `aws revenue 2019`
    for found in _pattern(name, any_case=small).finditer(text):
        start, end = found.span()
        if _is_within_a_word(found) or any(begin <= start and end <= close for begin, close in periods):
            continue
        if found[0].islower() and found[0].isalpha() and _is_common_noun(text, start, end, mentions):
            continue
        around = next((one for one in mentions if one.start <= start and end <= one.end), None)
        if around is None or _is_apart(around, text, start, end):
            yield KnownName(name, start, end)


def _is_apart(around: Mention, text: str, start: int, end: int) -> bool:
    """Return whether a name at the edge of a mention is one by itself: it begins it, or follows a word as `of`."""
    before = text[around.start : start].lower().split()[-1:] if end == around.end else []
    return (start == around.start and end < around.end) or not _BEFORE_A_PART.isdisjoint(before)


def _is_within_a_word(found: re.Match[str]) -> bool:
    """Return whether an occurrence is of money or a piece of a compound: `millions of US dollars`, `best-selling`."""
    text, (start, end) = found.string, found.span()
    if text[end : end + _NEAR].lstrip().lower().startswith(("$", "dollar")):
        return True
    return found[0][0].islower() and text[start - 1 : start] == "-" and not text[:start].lower().endswith("non-")


def _is_common_noun(text: str, start: int, end: int, mentions: Sequence[Mention]) -> bool:
    """Return whether a lower-case word is no name: `a capital-intensive business`, with a segment Business."""
    behind = finds(text[end : end + _NEAR].removeprefix("'s").removeprefix("’s"), "kind behind", "part_words")
    names_what = behind or any(one.start in (end + 1, end + 3) for one in mentions)
    return not names_what and finds(text[max(0, start - _NEAR) : start], "determined", "part_words")


@lru_cache(maxsize=8192)
def _pattern(name: str, *, any_case: bool = False) -> re.Pattern[str]:
    words = [r"(?:&|and)" if word.casefold() in ("&", "and") else re.escape(word) for word in name.split()]
    spelt = _UNITED_STATES if name in _NAMES_OF_THE_US else r"\s+".join(words)
    spelt = spelt.replace(r"United\s+States", _UNITED_STATES)  # `US and Canada`
    exact = not any_case and (len(name) < _MIN_LENGTH or name in _NAMES_OF_THE_US)
    return re.compile(rf"(?<!\w){spelt}(?!\w)", 0 if exact else re.I)


@lru_cache(maxsize=65_536)
def _is_distinctive(name: str, lexicon: Lexicon) -> bool:
    words = words_in(name.lower())
    general = word_lists("part_words")["general"]
    if not words or general.issuperset(words) or company_words("legal_forms").issuperset(words):
        return False
    if finds(name, "of time", "part_words") or printed_years(name):
        return False
    if len(name) < _MIN_LENGTH and not (len(name) > 1 and any(mark.isupper() for mark in name)):
        return False
    return not any(mention.start == 0 and mention.end == len(name) for mention in lexicon.mentions(name))
