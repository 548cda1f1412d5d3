"""The input of cards: passages with their page, table, note and figures."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import groupby, islice, pairwise

from fin_agent.filings.tables.column_periods import FiscalCalendar
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.lexicon.text_normalization import MAX_LABEL_LENGTH
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import Note, Page
from fin_agent.vocabulary.table import Table

_PATTERNS = patterns("card_patterns")


@dataclass(frozen=True, slots=True)
class PassageSource:
    """A passage with everything read about it in its filing."""

    doc_id: str
    identity: Identity
    calendar: FiscalCalendar | None
    passage: Passage
    page: Page
    flat: str
    """Its text in lower case with single spaces, padded with one at each end, for matching cue phrases."""
    facts: tuple[Fact, ...]
    """Facts printed in it, top to bottom."""
    table: Table | None = None
    """The table, if the passage is one."""
    note: Note | None = None

    @property
    def is_table(self) -> bool:
        """Whether it is a table, not running text."""
        return self.passage.kind is PassageKind.TABLE


def sources_of(filing: Filing) -> Iterator[PassageSource]:
    """Yield the source of each passage, in order; a passage on an unknown page gets an empty page."""
    pages = {page.number: page for page in filing.pages}
    facts: dict[int, list[Fact]] = {}
    for fact in filing.facts:
        if fact.source != "text":
            facts.setdefault(fact.page, []).append(fact)
    tables: dict[int, list[Table]] = {}
    for table in filing.tables:
        tables.setdefault(table.page, []).append(table)
    calendar = FiscalCalendar.of(filing.identity)
    for number, group in groupby(filing.passages, lambda passage: passage.page):
        page = pages.get(number) or Page(number, "")
        named = [note for note in filing.notes if page.note is not None and note.number == page.note]
        around = [note for note in named if note.first_page <= page.number <= note.last_page]
        note = next(iter(around or named), None)
        passages = list(group)
        flats = [flat_text(passage.text) for passage in passages]
        held = facts_in_passages(passages, facts.get(number, ()), flats)
        for passage, flat, own in zip(passages, flats, held, strict=True):
            yield PassageSource(
                doc_id=filing.doc_id,
                identity=filing.identity,
                calendar=calendar,
                passage=passage,
                page=page,
                flat=flat,
                facts=own,
                table=next((one for one in tables.get(number, ()) if one.box == passage.box), None)
                if passage.kind is PassageKind.TABLE
                else None,
                note=note,
            )


def facts_in_passages(
    passages: Sequence[Passage], facts: Sequence[Fact], flats: Sequence[str] | None = None
) -> list[tuple[Fact, ...]]:
    """Return the facts of each passage of one page; `flats` are their texts from `flat_text`, if already computed.

    A table gets the facts in its box, a text passage those printed in it. Running text repeats the page's tables, so
    that a fact may be in both.
    """
    flats = flats if flats is not None else [flat_text(passage.text) for passage in passages]
    shared = _shared(facts, {at: flats[at] for at, each in enumerate(passages) if each.kind is PassageKind.TEXT})
    return [
        shared[at]
        if at in shared
        else tuple(fact for fact in facts if box is not None and box.spans_height_of(fact.box))
        for at, box in enumerate(passage.box for passage in passages)
    ]


def flat_text(text: str) -> str:
    """Return a text in lower case with single spaces, padded with one at each end."""
    return f" {' '.join(text.lower().split())} "


def _shared(facts: Sequence[Fact], spans: Mapping[int, str]) -> dict[int, tuple[Fact, ...]]:
    """Return the facts of each text span by the line in which they are printed; all of them if there is one span."""
    if len(spans) < 2:
        return {at: tuple(facts) for at in spans}
    shared: dict[int, list[Fact]] = {at: [] for at in spans}
    current = min(spans)
    holders: dict[str, list[int]] = {}
    for fact in facts:
        label = " ".join(fact.label.lower().split())
        if label not in holders:
            holders[label] = [at for at, flat in spans.items() if label in flat]
        holding = holders[label]
        if len(holding) != 1:
            # The label occurs in several spans, or other words interrupt it: match by the figure itself.
            printed = f"{abs(fact.amount):,}"
            holding = [at for at in holding or spans if printed in spans[at]]
        if holding and current not in holding:
            current = holding[0]
        shared[current].append(fact)
    return {at: tuple(own) for at, own in shared.items()}


_MAX_CHARACTERS = 120
_MAX_LINE_LENGTH = 90
_MIN_LETTERS = 4
_LINES_LOOKED_AT = 60
_CAPITALISED = 0.6
"""Share of a heading's longer words that begin with a capital letter."""
_MAX_HEADINGS = 3
_TITLE_LINES = 15


def heading_of(source: PassageSource) -> str:
    """Return the title of a passage, at most 120 characters: of its table, else its note, else its page."""
    company = source.identity.company.lower().strip(" .,")
    if source.page.statement is not None and (title := _statement_title(source)):
        return title
    if source.table is not None and (caption := _title_in(source.table.caption, company)):
        return caption
    if source.note is not None and _has_enough_letters(source.note.title):
        return _cut(source.note.title)
    if not source.is_table:
        own = next(headings_in(source), None)
        if own is not None:
            return own
    title = one_line(source.page.title)
    return _cut(title) if title and _is_heading(title, company) else ""


def _statement_title(source: PassageSource) -> str:
    """Return the line of a page with the statement's title; empty if several statements begin on the page."""
    if source.page.further_statements:
        return ""
    lines = map(one_line, source.page.text.split("\n", _TITLE_LINES)[:_TITLE_LINES])
    statement = source.page.statement
    return next((_cut(line) for line in lines if line and load_lexicon().statement_of_title(line) is statement), "")


def headings_in(source: PassageSource) -> Iterator[str]:
    """Return lines of the passage's text that look like headings, in order, at most three."""
    company = source.identity.company.lower().strip(" .,")
    lines = [line.strip() for line in source.passage.text.split("\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]]
    found = (
        one_line(line).rstrip(" :")
        for before, line in pairwise(["", *lines])
        if len(line) <= _MAX_LINE_LENGTH and not before.endswith((",", "-")) and _is_heading(line, company)
    )
    return islice(found, _MAX_HEADINGS)


def _title_in(caption: str, company: str) -> str:
    """Return the last part of a caption that looks like a title, else the sentence that introduces the table."""
    text = _PATTERNS["contents"].sub("", one_line(caption[-4 * _MAX_CHARACTERS :]))
    if not text:
        return ""
    parts: list[str] = [part.strip() for part in _PATTERNS["sentences"].split(text)]
    parts = [part for part in parts if part[:1] != "(" and part.lower().strip(" .:") not in _no_headings()]
    if not parts:
        return ""
    for part in reversed(parts):
        if len(part) <= _MAX_LINE_LENGTH and _is_heading(part, company):
            return part.rstrip(" :")
    last = parts[-1].lower()
    leads = any(word in last for word in word_lists("heading_words")["lead over"])
    return _cut(parts[-1].rstrip(" :")) if leads and _has_enough_letters(last) else ""


def _has_enough_letters(title: str) -> bool:
    return sum(map(str.isalpha, title)) >= _MIN_LETTERS


def _is_heading(line: str, company: str) -> bool:
    if (
        not _MIN_LETTERS <= len(line) <= MAX_LABEL_LENGTH
        or line[-1] in ".,;-–—%"
        or line[0] in "([$•*%©"
        or line[0].islower()
    ):
        return False
    words = _PATTERNS["letters"].findall(line)
    letters = sum(map(len, words))
    if letters < _MIN_LETTERS or 2 * letters < len(line):
        return False
    if line.count("(") != line.count(")") or _PATTERNS["figures"].search(line):
        return False
    low = one_line(line).lower().strip(" .,:")
    if low in _no_headings() or _PATTERNS["footer"].search(low) or low.startswith(company or "\0"):
        return False
    longer = [word for word in words if len(word) > 3]
    return bool(longer) and sum(not word[0].islower() for word in longer) >= _CAPITALISED * len(longer)


def _no_headings() -> frozenset[str]:
    return word_lists("heading_words")["no headings"]


def one_line(text: str) -> str:
    """Return a text with single spaces."""
    return " ".join(text.split())


def _cut(text: str, most: int = _MAX_CHARACTERS) -> str:
    """Return at most `most` characters, cut at a word."""
    line = one_line(text)
    if len(line) <= most:
        return line
    head, _, _ = line[:most].rpartition(" ")
    return head or line[:most]


_MAX_WORDS = 10
_MAX_READ = 8_000
_OFTEN = 3
_ENOUGH = 20
"""Number of repeated words in a passage from which words that occur once are ignored."""


class WordRarity:
    """The words of a filing's passages, with the number of passages in which each occurs."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        """Count the words of passages."""
        stopwords = word_lists("stopwords")["words"]
        self._words = {at: Counter(_PATTERNS["word"].findall(text, 0, _MAX_READ)) for at, text in texts.items()}
        held: Counter[str] = Counter()
        for words in self._words.values():
            held.update(words.keys())
        whole = len(texts) + 1
        self._weights = {word: 0.0 if word in stopwords else math.log(whole / count) for word, count in held.items()}

    def distinctive_words(self, ordinal: int) -> Iterable[str]:
        """Yield at most ten words that are frequent in a passage and rare in the rest of the filing, best first."""
        words: Mapping[str, int] = self._words.get(ordinal, {})
        often = [(word, times) for word, times in words.items() if times > 1]
        taken = often if len(often) >= _ENOUGH else words.items()
        weights = self._weights
        scored = [(-min(times, _OFTEN) * weights[word], word) for word, times in taken]
        return [word for score, word in nsmallest(_MAX_WORDS, scored) if score]


Cues = Mapping[str, Mapping[str, int]]
"""Kind -> cue phrase -> number of occurrences, longest phrase first."""
_MOST_OF_ONE = 3
"""Most occurrences counted per phrase, since a word repeated in every row adds no information."""


def cues_in(flat: str, words: str) -> Cues:
    """Return the phrases of `words`.yaml that occur in a text (`flat_text`), by kind, with at most three of each."""
    held = frozenset(flat.split())
    found: dict[str, dict[str, int]] = {}
    for kind, text, whole in _phrases(words):
        if whole <= held and text in flat:
            found.setdefault(kind, {})[text[1:]] = min(_MOST_OF_ONE, flat.count(text))
    return {
        kind: dict(sorted(hits.items(), key=lambda hit: (-len(hit[0]), hit[0]))) for kind, hits in sorted(found.items())
    }


@lru_cache(maxsize=1024)
def cue_pattern(phrase: str) -> re.Pattern[str]:
    """Return a pattern that matches a cue phrase in lower-case text across line breaks."""
    return re.compile(r"\s+".join(map(re.escape, phrase.split())))


_SHORT = 5
"""Single words of fewer letters have to stand alone."""


@lru_cache(maxsize=8)
def _phrases(words: str) -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Return (kind, phrase with a leading space, its whole words) of each phrase; the last word may be a prefix."""
    listed = ((kind, phrase) for kind, phrases in sorted(word_lists(words).items()) for phrase in sorted(phrases))
    return tuple(
        (kind, f" {phrase}", frozenset(phrase.split()[: None if len(phrase) < _SHORT else -1]))
        for kind, phrase in listed
    )
