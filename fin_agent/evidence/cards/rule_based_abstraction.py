"""Make cards by rules, from the structure of a filing."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from heapq import nsmallest
from itertools import chain, groupby, islice, pairwise
from typing import NamedTuple

from fin_agent.evidence.cards.card import (
    AnswerabilityProfile,
    Card,
    CardFact,
    CardIdentity,
    ClaimRole,
    EvidenceSpan,
    EvidenceType,
    MeasurementBasis,
    RiskSignal,
    ScopeSignature,
    TableSignature,
    TemporalAnchor,
    Use,
    Verifiability,
)
from fin_agent.filings.outline.items import COVER
from fin_agent.filings.tables.column_periods import FiscalCalendar
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.lexicon import Lexicon, load_lexicon
from fin_agent.lexicon.periods import expand_year, parse_number
from fin_agent.lexicon.text_normalization import MAX_LABEL_LENGTH, collapse_spaces, places_of
from fin_agent.lexicon.words import load_yaml, patterns, word_lists
from fin_agent.vocabulary.dates import month_number
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Note, Page, TableKind
from fin_agent.vocabulary.runs import grouped
from fin_agent.vocabulary.table import Table

_PATTERNS = patterns("card_patterns")


# Passages with their page, table, note and figures


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
    facts = grouped((fact.page, fact) for fact in filing.facts if fact.source != "text")
    tables = grouped((table.page, table) for table in filing.tables)
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
            of_page = tables.get(number, ()) if passage.kind is PassageKind.TABLE else ()
            table = next((one for one in of_page if one.box == passage.box), None)
            yield PassageSource(filing.doc_id, filing.identity, calendar, passage, page, flat, own, table, note)


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


_HEADING_CHARACTERS = 120
_MAX_LINE_LENGTH = 90
_HEADING_LETTERS = 4
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
        return _shortened(source.note.title)
    if not source.is_table and (own := next(headings_in(source), None)) is not None:
        return own
    title = one_line(source.page.title)
    return _shortened(title) if title and _is_heading(title, company) else ""


def _statement_title(source: PassageSource) -> str:
    """Return the line of a page with the statement's title; empty if several statements begin on the page."""
    if source.page.further_statements:
        return ""
    lines = map(one_line, source.page.text.split("\n", _TITLE_LINES)[:_TITLE_LINES])
    statement = source.page.statement
    return next(
        (_shortened(line) for line in lines if line and load_lexicon().statement_of_title(line) is statement), ""
    )


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
    text = _PATTERNS["contents"].sub("", one_line(caption[-4 * _HEADING_CHARACTERS :]))
    parts: list[str] = [part.strip() for part in _PATTERNS["sentences"].split(text)]
    parts = [part for part in parts if part[:1] != "(" and part.lower().strip(" .:") not in _no_headings()]
    for part in reversed(parts):
        if len(part) <= _MAX_LINE_LENGTH and _is_heading(part, company):
            return part.rstrip(" :")
    last = parts[-1] if parts else ""
    leads = any(word in last.lower() for word in word_lists("heading_words")["lead over"])
    return _shortened(last.rstrip(" :")) if leads and _has_enough_letters(last) else ""


def _has_enough_letters(title: str) -> bool:
    return sum(map(str.isalpha, title)) >= _HEADING_LETTERS


def _is_heading(line: str, company: str) -> bool:
    if (
        not _HEADING_LETTERS <= len(line) <= MAX_LABEL_LENGTH
        or line[-1] in ".,;-–—%"
        or line[0] in "([$•*%©"
        or line[0].islower()
    ):
        return False
    words = _PATTERNS["letters"].findall(line)
    letters = sum(map(len, words))
    if letters < _HEADING_LETTERS or 2 * letters < len(line):
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


def _shortened(text: str) -> str:
    """Return a heading with single spaces, at most 120 characters of it, cut at a word."""
    line = one_line(text)
    head = line[:_HEADING_CHARACTERS]
    return line if head == line else head.rpartition(" ")[0] or head


_DISTINCTIVE_WORDS = 10
_MAX_READ = 8_000
_OFTEN = 3
_ENOUGH = 20
"""Number of repeated words in a passage from which words that occur once are ignored."""


def distinctive_words(texts: Mapping[int, str]) -> dict[int, list[str]]:
    """Return at most ten words for each text that are frequent in it and rare in the others, best first."""
    counted = {at: Counter[str](_PATTERNS["word"].findall(text, 0, _MAX_READ)) for at, text in texts.items()}
    stopwords, whole = word_lists("stopwords")["words"], len(texts) + 1
    held = Counter(chain.from_iterable(counted.values()))
    weights = {word: 0.0 if word in stopwords else math.log(whole / count) for word, count in held.items()}
    found = {}
    for at, words in counted.items():
        often = [(word, times) for word, times in words.items() if times > 1]
        taken = often if len(often) >= _ENOUGH else words.items()
        scored = [(-min(times, _OFTEN) * weights[word], word) for word, times in taken]
        found[at] = [word for score, word in nsmallest(_DISTINCTIVE_WORDS, scored) if score]
    return found


Cues = Mapping[str, Mapping[str, int]]
"""Kind -> cue phrase -> number of occurrences, longest phrase first."""
_MOST_OF_ONE = 3
"""Most occurrences counted per phrase, since a word repeated in every row adds no information."""


def cues_in(flat: str, words: str) -> Cues:
    """Return the phrases of `words`.yaml that occur in a text (`flat_text`), by kind, with at most three of each."""
    held = frozenset(flat.split())
    told = [(kind, text) for kind, text, whole in _phrases(words) if whole <= held and text in flat]
    told.sort(key=lambda pair: (pair[0], -len(pair[1]), pair[1]))
    return {
        kind: {text[1:]: min(_MOST_OF_ONE, flat.count(text)) for text in texts} for kind, texts in grouped(told).items()
    }


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


# Cards


def make_cards(filing: Filing) -> list[Card]:
    """Return a card for each passage, in order. The cards have no facts: `with_facts` adds them."""
    sources = list(sources_of(filing))
    told = [source for source in sources if not source.is_table and not is_appendix(source)]
    words = distinctive_words({source.passage.ordinal: source.flat for source in told})
    parts = part_names(filing.facts)
    lexicon = load_lexicon()
    return [_card(source, parts, words.get(source.passage.ordinal, ()), lexicon) for source in sources]


def _card(source: PassageSource, parts: tuple[str, ...], rare: Sequence[str], lexicon: Lexicon) -> Card:
    page, table = source.page, source.table
    prose = not is_mostly_table(source)
    if prose:
        kind = EvidenceType.MIXED if source.facts or has_figures(source.flat) else EvidenceType.NARRATIVE
    else:
        kind = EvidenceType.STATEMENT if page.statement is not None else EvidenceType.TABLE
    heading = heading_of(source)
    # A third of a large filing is contracts and lists in exhibits: their text is not searched.
    formal = is_appendix(source)
    words = "" if formal else source.flat
    cues = cues_in(words, "claim_words") if prose else {}
    care = cues_in(words, "risk_words")
    role = role_of(source, cues, heading, prose)
    named = metrics_in_words(source, role, lexicon) if prose else metrics_in_rows(source)
    time = temporal_anchor(source, is_forward_looking(care, role))
    figures = prose and not formal and has_figures(source.flat)
    scope = scope_of(source, parts, figures)
    spans = spans_of(source.passage.text, role, cues.get(role.value, ()) if prose else (), named)
    signature = None
    if table is not None:
        columns = tuple(filter(None, map(_short, table.columns)))[:_MAX_COLUMNS]
        labels = dict.fromkeys(filter(None, (_short(row.label) for row in table.rows)))
        signature = TableSignature(rows=len(table.rows), columns=columns, labels=tuple(labels)[:_SIGNATURE_LABELS])
    same = {name: getattr(source.identity, name) for name in ("company", "form", "fiscal_year", "quarter")}
    return Card(
        identity=CardIdentity(
            doc_id=source.doc_id,
            page=source.passage.page,
            ordinal=source.passage.ordinal,
            item=page.item,
            statement=page.statement,
            table_kind=page.kind,
            note=page.note,
            heading=heading,
            **same,
        ),
        role=role,
        evidence_type=kind,
        metrics=() if formal else metrics_of(source, named, heading, lexicon),
        answers=answerability_of(source.facts, role, cues, scope, bool(source.facts or (figures and time.periods))),
        time=time,
        scope=scope,
        basis=basis_of(source, care, figures),
        verifiability=Verifiability(
            facts=len(source.facts), table=signature, cues=tuple(cues.get(role.value, ()))[:_SIGNATURE_CUES]
        ),
        risks=tuple(risks_of(source, care, role, scope, bool(time.periods))),
        sketch=build_sketch(source, heading, spans if prose else None, rare, lexicon),
        spans=spans,
    )


SKETCH_CHARACTERS = 240
_PATH_CHARACTERS = 110
_SENTENCE_CHARACTERS = 130
_SHORT_TITLE = 40
_UNSAID = (COVER, "16")
"""Items whose names carry no information: exhibits follow Item 16, a summary that few filings contain."""
_SKETCH_LABELS = 14
_LOOKED_AT = 6_000
_MIN_WORDS = 6
_MIN_LETTERS = 3


def build_sketch(
    source: PassageSource, heading: str, spans: Sequence[EvidenceSpan] | None, rare: Iterable[str], lexicon: Lexicon
) -> str:
    """Return the sketch: headings, then row labels or the most telling sentence, then the passage's `rare` words.

    `spans` are the evidence spans of prose; None for a passage that is mostly a table.
    """
    path = _cut(" > ".join(_path(source, heading, lexicon)), _PATH_CHARACTERS)
    if source.table is not None:
        told = ", ".join(_labels(row.label for row in source.table.rows))
    elif spans is None and source.facts:
        told = ", ".join(_labels(fact.label for fact in source.facts))
    elif source.is_table:
        told = one_line(source.passage.text[:_LOOKED_AT])
    else:
        told = _cut(_PATTERNS["place in contents"].sub("", _sentence(source, spans or ())), _SENTENCE_CHARACTERS)
    line = ": ".join(filter(None, (path, told)))
    return _cut(line if source.is_table else _with_words(line, rare), SKETCH_CHARACTERS)


def _path(source: PassageSource, heading: str, lexicon: Lexicon) -> Iterable[str]:
    page, steps = source.page, dict[str, None]()
    if page.item is not None and page.item not in _UNSAID:
        item = lexicon.items.get(item_key(source.identity.form, page.item))
        if item is not None:
            long = len(item.title) > _SHORT_TITLE and item.aliases
            steps[item.aliases[0] if long else item.title] = None
    if source.note is not None:
        steps[f"Note {source.note.number} {source.note.title}" if source.note.number else source.note.title] = None
    if heading and (source.note is None or heading != source.note.title):
        steps[heading] = None
    elif source.note is not None and not source.is_table:
        steps.update(dict.fromkeys(headings_in(source)))
    return [one_line(step) for step in steps if step]


def _labels(labels: Iterable[str]) -> list[str]:
    short = (one_line(label)[: _SHORT_TITLE * 2] for label in labels)
    kept = dict.fromkeys(label for label in short if sum(map(str.isalpha, label)) >= _MIN_LETTERS)
    return list(kept)[:_SKETCH_LABELS]


def _sentence(source: PassageSource, spans: Sequence[EvidenceSpan]) -> str:
    """Return the sentence around the first evidence span, else the first full sentence, else an empty text."""
    text = source.passage.text
    if spans:
        at = spans[0].start
        starts = [found.end() for found in _PATTERNS["sentence starts"].finditer(text, max(0, at - 300), at + 1)]
        begin = starts[-1] if starts else text.find(" ", max(0, at - _SHORT_TITLE), at) + 1 or at
        sentence = one_line(text[begin : begin + 3 * _SENTENCE_CHARACTERS])
        if len(sentence.split(" ", _MIN_WORDS)) > _MIN_WORDS:
            return sentence
    for found in _PATTERNS["sentence starts"].finditer(text, 0, _LOOKED_AT):
        ended = _PATTERNS["ends"].search(text, found.end(), found.end() + 600)
        if ended is None:
            continue
        sentence = one_line(text[found.end() : ended.end()])
        words = sentence.split()
        if len(words) >= _MIN_WORDS and sum(word[0].islower() for word in words) * 2 >= len(words):
            return sentence
    return ", ".join(_labels(fact.label for fact in source.facts)) or one_line(text[: 4 * _SENTENCE_CHARACTERS])


def _with_words(line: str, rare: Iterable[str]) -> str:
    """Append the words that `line` lacks, as many as fit."""
    room = SKETCH_CHARACTERS - len(line) - len(" · ")
    if room < _SHORT_TITLE // 2:
        return line
    low = line.lower()
    words = [word for word in rare if word not in low]
    return f"{line} · {_cut(', '.join(words), room)}" if words and line else line or ", ".join(words)


def _cut(line: str, most: int) -> str:
    """Return at most `most` characters, cut at a word if possible."""
    if len(line) <= most:
        return line
    head = line[: most - 1].rpartition(" ")[0] or line[: most - 1]
    return head.rstrip(" ,;:>·") + "…"


def with_facts(cards: Sequence[Card], index: FilingIndex) -> list[Card]:
    """Return the cards, in order, with the facts printed in their passages, top to bottom."""
    keys = list(dict.fromkeys(PageKey(card.identity.doc_id, card.identity.page) for card in cards))
    found = index.facts({key.doc_id for key in keys}, pages=keys)
    facts = grouped((sourced.key, sourced.fact) for sourced in found)
    held: dict[tuple[str, int], tuple[Fact, ...]] = {}
    for key, of_page in facts.items():
        passages = [stored.passage for stored in index.passages([key])]
        for passage, own in zip(passages, facts_in_passages(passages, of_page), strict=True):
            held[key.doc_id, passage.ordinal] = own
    places = [(card.identity.doc_id, card.identity.ordinal) for card in cards]
    return [
        card.model_copy(update={"facts": tuple(map(_card_fact, held.get(place, ())))})
        for card, place in zip(cards, places, strict=True)
    ]


def _card_fact(fact: Fact) -> CardFact:
    printed = {name: getattr(fact, name) for name in CardFact.model_fields if name != "period"}
    return CardFact(**printed, period=str(_Span.of(fact.period)))


def role_of(source: PassageSource, cues: Cues, heading: str, prose: bool) -> ClaimRole:
    """Return the role of a passage.

    Tables report, unless they are lists of exhibits or contents. Text gets the role with the highest score by location
    and cue phrases. `cues` are phrases found in it by role; `prose` is whether it is mostly running text.
    """
    place = _role_of_place(source)
    if is_appendix(source):
        return ClaimRole.FORMAL
    if source.is_table or not prose:
        return place if place in (ClaimRole.FORMAL, ClaimRole.TELLS_EVENT) and not source.facts else ClaimRole.REPORTS
    thousands = max(_MIN_LENGTH, len(source.flat)) / 1000
    scores = {role: of["density"] * sum(cues.get(role, {}).values()) / thousands for role, of in _WEIGHTS.items()}
    figures = bool(source.facts) or source.page.kind is not None or has_figures(source.flat)
    if place is not None:
        bare = place is ClaimRole.REPORTS and not figures and source.note is None
        scores[place] += _BARE_PLACE if bare else _WEIGHTS[place]["place"]
    if place is ClaimRole.EXPLAINS and figures:
        scores[ClaimRole.REPORTS] += _FIGURES_DISCUSSED
    title = heading.lower()
    for name, titles in word_lists("note_title_words").items():
        scores[ClaimRole(name)] += _WEIGHTS[ClaimRole(name)]["title"] * any(words in title for words in titles)
    if place in (None, ClaimRole.REPORTS) and (source.facts or source.page.kind is not None):
        scores[ClaimRole.REPORTS] += _FACTS_COUNT
    return max(scores, key=lambda role: scores[role])


def is_appendix(source: PassageSource) -> bool:
    """Return whether a passage is an enclosure without figures: cover, exhibit list, contract."""
    enclosed = source.identity.form in _REPORTS and _role_of_place(source) is ClaimRole.FORMAL
    return enclosed and not source.facts and source.page.note is None


_REPORTS = (Form.TEN_K, Form.TEN_Q, Form.ANNUAL_REPORT)
_WEIGHTS: Mapping[ClaimRole, Mapping[str, float]] = {
    ClaimRole(role): weights for role, weights in load_yaml("role_weights", __package__).items()
}
_FACTS_COUNT = 1.5
_FIGURES_DISCUSSED = 1.6
"""Weight of figures in Management's Discussion for reporting: one cause in a page of figures explains little."""
_BARE_PLACE = 0.5
"""Weight of a location in the financial statements for text without figures, since exhibits may be bound there."""
_MIN_LENGTH = 800
"""Shorter passages count as this many characters, since one phrase in a few lines is weak evidence."""


def _role_of_place(source: PassageSource) -> ClaimRole | None:
    page, identity = source.page, source.identity
    if page.statement is not None:
        return ClaimRole.REPORTS
    return _roles_of_items().get(item_key(identity.form, page.item)) if page.item is not None else None


def item_key(form: Form, item: str) -> str:
    """Return the lexicon's id of an Item: `10-K.1A`, `10-Q.I.2`, `10-Q.II.1A`; annual reports use those of a 10-K."""
    if form is Form.TEN_Q and item != COVER:
        return f"10-Q.{item.replace('-', '.')}" if "-" in item else f"10-Q.I.{item}"
    return f"{Form.TEN_K.value if form is Form.ANNUAL_REPORT else form.value}.{item}"


@lru_cache(maxsize=1)
def _roles_of_items() -> Mapping[str, ClaimRole]:
    return {item: ClaimRole(role) for role, items in word_lists("claim_places").items() for item in items}


_TABLE_DIGITS = 0.12
"""Share of digits among non-space characters above which text is more table than prose."""
_STATEMENT_FACTS = 8
"""Number of figures above which text on the page of a primary statement counts as the statement."""
_SMALL_WORDS = (" the ", " of ", " to ", " and ", " in ", " a ")
_IN_PROSE = 0.018
"""Function words per character: sentences have more, table rows fewer."""


def is_mostly_table(source: PassageSource) -> bool:
    """Return whether a passage is mostly rows of a table."""
    if source.is_table or (source.page.statement is not None and len(source.facts) >= _STATEMENT_FACTS):
        return True
    if not source.facts and source.page.kind is None and source.page.statement is None:
        return False
    flat = source.flat
    of_figures = sum(map(flat.count, "0123456789")) >= _TABLE_DIGITS * (len(flat) - flat.count(" "))
    return of_figures and sum(map(flat.count, _SMALL_WORDS)) < _IN_PROSE * len(flat)


def has_figures(flat: str) -> bool:
    """Return whether the text states at least two amounts: `$5.2 million`, `12%`."""
    return len(list(islice(_PATTERNS["money"].finditer(flat), 2))) == 2


_SEVERAL = 2
_FOR_SUMS = 3
_HABIT = 2


def answerability_of(
    facts: Sequence[Fact], role: ClaimRole, cues: Cues, scope: ScopeSignature, numeric: bool
) -> AnswerabilityProfile:
    """Return the uses of a passage from its role, its figures, the periods per row, and its parts.

    `numeric` is whether the passage contains figures with a period.
    """
    rows: dict[tuple[str, str | None], set[tuple[int, int | None]]] = {}
    for fact in facts:
        rows.setdefault((fact.label, fact.scope), set()).add((fact.period.fiscal_year, fact.period.quarter))
    periods = max(map(len, rows.values()), default=0)
    compared = len(scope.parts) >= _SEVERAL and numeric
    can = {
        Use.LOOKUP: numeric or role in _NARRATED,
        Use.TREND: periods >= _SEVERAL,
        Use.COMPARISON: compared,
        Use.AGGREGATION: periods >= _FOR_SUMS or (compared and bool(facts)),
    }
    for use, of in _TOLD.items():
        can[use] = role is of or sum(cues.get(of.value, {}).values()) > _HABIT
    return AnswerabilityProfile(uses=tuple(use for use, possible in can.items() if possible), numeric=numeric)


_NARRATED = (ClaimRole.REPORTS, ClaimRole.TELLS_EVENT, ClaimRole.DESCRIBES, ClaimRole.WARNS, ClaimRole.FORECASTS)
"""Roles whose passages are looked up for their content, with or without figures."""


_TOLD = {Use.EXPLANATION: ClaimRole.EXPLAINS, Use.DEFINITION: ClaimRole.DEFINES, Use.POLICY: ClaimRole.SETS_POLICY}


_MAX_COLUMNS = 8
_SIGNATURE_LABELS = 8
_SIGNATURE_CUES = 6
_short = partial(collapse_spaces, longest=60)


_FORWARD_LOOKING_CUES = 2
"""Occurrences of forward-looking words from which a passage counts as forward-looking."""


def risks_of(
    source: PassageSource, found: Cues, role: ClaimRole, scope: ScopeSignature, periods: bool
) -> list[RiskSignal]:
    """Return the risk signals of a passage.

    `found` are risk phrases by signal; `periods` is whether any of its periods is known.
    """
    figures = bool(source.facts) or (source.table is not None and bool(source.table.rows))
    holds = {signal: signal.value in found for signal in RiskSignal}
    holds[RiskSignal.FORWARD_LOOKING] = is_forward_looking(found, role)
    holds[RiskSignal.UNAUDITED] |= source.page.statement is not None and source.identity.form in _INTERIM
    holds[RiskSignal.PARENT_ONLY] |= source.page.kind is TableKind.PARENT_ONLY
    holds[RiskSignal.PART_ONLY] = bool(source.facts and scope.parts and not scope.consolidated)
    holds[RiskSignal.UNCERTAIN_PERIOD] = figures and not periods
    return [signal for signal, present in holds.items() if present]


_INTERIM = (Form.TEN_Q, Form.EARNINGS, Form.EIGHT_K)


def is_forward_looking(found: Cues, role: ClaimRole) -> bool:
    """Return whether a passage is about the future."""
    cues = sum(found.get(RiskSignal.FORWARD_LOOKING.value, {}).values())
    return role is ClaimRole.FORECASTS or cues >= _FORWARD_LOOKING_CUES


_PER_SHARE = "USD per share"


def basis_of(source: PassageSource, risks: Cues, figures: bool) -> MeasurementBasis:
    """Return the measurement basis of a passage's facts or, without facts, of the amounts in its sentences.

    `figures` is whether its sentences state amounts.
    """
    units = {fact.unit for fact in source.facts if fact.unit}
    scales = {fact.scale for fact in source.facts if fact.unit == "USD"}
    flat = source.flat
    if not source.facts and figures:
        named = word_lists("unit_words")
        units = {unit for unit in _UNITS if any(words in flat for words in named[unit])}
        scales = {_SCALES[scale] for scale in _SCALES if any(words in flat for words in named[scale])}
    return MeasurementBasis(
        units=tuple(sorted(units)),
        scales=tuple(sorted(scales)),
        per_share=_PER_SHARE in units or (figures and (" per share" in flat or " per diluted share" in flat)),
        adjusted=RiskSignal.NON_GAAP.value in risks,
        unaudited=RiskSignal.UNAUDITED.value in risks,
    )


_UNITS = ("USD", "percent")
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}


_MAX_PERIODS = 12
_MAX_DATES = 12
_OLDEST = 10
"""Years before the filing's own that count as periods; older ones refer to laws, plans or the founding."""
_MAX_YEARS_READ = 200
_APPENDED_READ = 3_000
"""Characters of covers and exhibits that are searched."""


def temporal_anchor(source: PassageSource, forward: bool) -> TemporalAnchor:
    """Return the periods of a passage's facts and those in its text; `forward` means that it is about the future."""
    spans = {_Span.of(fact.period) for fact in source.facts}
    if not spans and source.table is not None:
        spans = {_Span.of(period) for period in source.table.periods if period is not None}
    days: tuple[date, ...] = ()
    if not source.is_table or not spans:
        worded, days = _periods_in_words(source, forward)
        if not spans or not is_mostly_table(source):
            spans |= worded
    latest = sorted(spans, key=_Span.order, reverse=True)[:_MAX_PERIODS]
    return TemporalAnchor(periods=tuple(map(str, latest)), dates=days, forward=forward)


class _Span(NamedTuple):
    year: int
    quarter: int
    """0 for a full year or a span of several quarters."""
    months: int
    """Length of a span that is neither a quarter nor a year, else 0."""

    @classmethod
    def of(cls, period: FactPeriod) -> _Span:
        if period.quarter:
            return cls(period.fiscal_year, period.quarter, 0)
        return cls(period.fiscal_year, 0, 0 if period.months in (0, 12) else period.months)

    def order(self) -> tuple[int, int, int]:
        """Return the sort key: later ends are greater, then longer spans."""
        ends = self.quarter * 3 or self.months or 12
        return self.year, ends, 3 if self.quarter else self.months or 12

    def __str__(self) -> str:
        year = f"FY{self.year}"
        if self.quarter:
            return f"Q{self.quarter} {year}"
        return f"{self.months} months {year}" if self.months else year


_NO_YEAR_AFTER = frozenset("0123456789,.$£€#/-")
_SPANS = ((" six months ", 6), (" nine months ", 9), (" 26 weeks ", 6), (" 39 weeks ", 9))
_BEFORE_YEAR = 24
_AFTER_YEAR = 16


def _periods_in_words(source: PassageSource, forward: bool) -> tuple[set[_Span], tuple[date, ...]]:
    """Return periods and days named in a passage's text; future years only if it is about the future."""
    flat = source.flat[: _APPENDED_READ if is_appendix(source) else None]
    newest = _newest(source)
    spans: set[_Span] = set()
    days: Counter[date] = Counter()
    for at, found in enumerate(_PATTERNS["year"].finditer(flat)):
        if at == _MAX_YEARS_READ:
            break
        start, end = found.span()
        if flat[start - 1 : start] in _NO_YEAR_AFTER:
            continue
        year = int(found[0])
        day = _day(flat[max(0, start - _BEFORE_YEAR) : start], year)
        if day is not None:
            days[day] += 1
            span = _of_day(source, day, flat[max(0, start - 3 * _BEFORE_YEAR) : start])
        elif _names_no_period(flat, start, end):
            continue
        else:
            span = _Span(year, 0, 0)
        if newest is None or newest - _OLDEST <= span.year <= newest + forward:
            spans.add(span)
    named = {span for span in _named(flat) if newest is None or newest - _OLDEST <= span.year <= newest + 1}
    whole = {_Span(span.year, 0, 0) for span in named if span.quarter}
    spans = _interim_period(source, spans - whole) | named
    kept = sorted(days, key=lambda day: (-days[day], -day.toordinal()))[:_MAX_DATES]
    return spans, tuple(sorted(kept))


def _newest(source: PassageSource) -> int | None:
    identity = source.identity
    if identity.fiscal_year is not None:
        return identity.fiscal_year
    return identity.period_end.year if identity.period_end else None


def _day(before: str, year: int) -> date | None:
    found = _PATTERNS["day before"].search(before)
    try:
        return None if found is None else date(year, month_number(found[1]), int(found[2]))
    except ValueError:
        return None


def _of_day(source: PassageSource, day: date, before: str) -> _Span:
    """Return the fiscal period that a day ends if the text says so, else the fiscal year that contains it."""
    calendar = source.calendar
    if calendar is None:
        return _Span(day.year, 0, 0)
    year = calendar.fiscal_year_of(day)
    if calendar.quarter and day == calendar.period_end:
        return _Span(calendar.year, calendar.quarter, 0)
    if (" ended" in before or " ending" in before) and any(
        words in before for words in word_lists("year_words")["quarter ends"]
    ):
        return _Span(year, calendar.quarter_of(day), 0)
    return _Span(year, 0, 0)


def _names_no_period(flat: str, start: int, end: int) -> bool:
    """Return whether a year is part of a name (`2013 equity plan`, `act of 1934`) or of a due date."""
    words = word_lists("year_words")
    before = flat[max(0, start - _BEFORE_YEAR) : start].split()
    if before and (before[-1] in words["before names"] or " ".join(before[-2:]) in words["before names"]):
        return True
    if flat[end : end + 1] != " ":
        return False
    after = [word.strip("().,;:") for word in flat[end : end + _AFTER_YEAR].split()]
    return bool(after) and (after[0] in words["names"] or " ".join(after[:2]) in words["names"])


def _named(flat: str) -> Iterator[_Span]:
    """Yield periods such as `second quarter of fiscal 2023` and `Q2 FY23`, then years such as `fiscal 2023`."""
    if " quarter" in flat or " q" in flat:
        for found in _PATTERNS["quarter"].finditer(flat):
            yield _Span(expand_year(found[3]), parse_number(found[1] or found[2]), 0)
    if " fy" in flat or " fiscal " in flat:
        for found in _PATTERNS["fiscal year"].finditer(flat):
            if " quarter" not in flat[max(0, found.start() - _AFTER_YEAR) : found.start()]:
                yield _Span(expand_year(found[1] or found[2]), 0, 0)


def _interim_period(source: PassageSource, spans: set[_Span]) -> set[_Span]:
    """In a quarterly filing, read a bare year next to `three months ended` as that quarter of the year."""
    quarter = source.identity.quarter
    if not quarter or source.identity.form not in (Form.TEN_Q, Form.EARNINGS, Form.EIGHT_K):
        return spans
    newest = _newest(source)
    flat = source.flat
    interim: set[_Span] = set()
    for span in spans:
        readings = set[_Span]()
        if not (span.quarter or span.months) and newest is not None and span.year in (newest, newest - 1):
            readings = {_Span(span.year, 0, months) for words, months in _SPANS if words in flat}
            if any(words in flat for words in word_lists("year_words")["quarters"]):
                readings.add(_Span(span.year, quarter, 0))
        interim |= readings or {span}
    return interim


_MAX_METRICS = 40
_LABELS_READ = 8
_SHORT_HEADING = 3
"""Most words of a heading in which one word may be a metric: `DEBT`, not `Unregistered Sales of Securities`."""
_MAX_CHARACTERS = {
    **dict.fromkeys((ClaimRole.REPORTS, ClaimRole.EXPLAINS, ClaimRole.FORECASTS), 500),
    ClaimRole.DEFINES: 400,
    **dict.fromkeys((ClaimRole.SETS_POLICY, ClaimRole.TELLS_EVENT, ClaimRole.DESCRIBES), 250),
    **dict.fromkeys((ClaimRole.WARNS, ClaimRole.FORMAL), 0),
}
"""Characters of sentences with figures to search for metrics, by role; this search is the most expensive step."""
_BESIDE_FACTS = 250
"""The same limit for passages whose facts already name metrics."""
_BEFORE = 90
_AFTER = 40
"""Characters before and after an amount in which its metric is searched for."""


class NamedMetric(NamedTuple):
    """A metric or formula and where the text first names it near a figure."""

    id: str
    start: int
    end: int


def metrics_of(source: PassageSource, named: Sequence[NamedMetric], heading: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return metric ids: those of facts by number of rows, those of the heading, then those `named` in its text."""
    lines = dict.fromkeys((fact.metric, fact.line) for fact in source.facts if fact.metric)
    stated = [metric for metric, _ in Counter(metric for metric, _ in lines).most_common() if metric]
    titled = _named_metrics(heading, lexicon) if heading else ()
    if source.facts and not stated and not titled:
        labels = list(dict.fromkeys(fact.label for fact in source.facts))[:_LABELS_READ]
        titled = _named_metrics("; ".join([*([] if source.is_table else headings_in(source)), *labels]), lexicon)
    return tuple(dict.fromkeys([*stated, *titled, *(metric.id for metric in named)]))[:_MAX_METRICS]


@lru_cache(maxsize=4096)
def _named_metrics(heading: str, lexicon: Lexicon) -> tuple[str, ...]:
    short = len(heading.split()) <= _SHORT_HEADING
    return tuple(mention.id for mention in lexicon.mentions(heading) if short or " " in mention.phrase)


def metrics_in_words(source: PassageSource, role: ClaimRole, lexicon: Lexicon) -> list[NamedMetric]:
    """Return metrics and formulas named close to an amount in the same sentence, at their first occurrence.

    The searched length depends on the role, since figures matter less in some.
    """
    loose = word_lists("loose_names")["loose names"]
    text = source.passage.text
    found: dict[str, NamedMetric] = {}
    room = min(_MAX_CHARACTERS[role], _BESIDE_FACTS) if source.facts else _MAX_CHARACTERS[role]
    for start, end in _around_amounts(text) if room else ():
        stretch = text[start:end]
        if source.facts and _PATTERNS["verb"].search(stretch) is None:
            continue  # a row of a table: its figures have their metrics
        for mention in lexicon.mentions(stretch):
            if mention.phrase.lower() in loose:
                continue
            found.setdefault(mention.id, NamedMetric(mention.id, start + mention.start, start + mention.end))
        room -= end - start
        if room <= 0:
            break
    return list(found.values())


def metrics_in_rows(source: PassageSource) -> list[NamedMetric]:
    """Return the metrics of the passage's facts whose printed label occurs in its text."""
    text = source.passage.text
    found: dict[str, NamedMetric] = {}
    for fact in source.facts:
        if fact.metric and fact.label and fact.metric not in found and (at := text.find(fact.label)) >= 0:
            found[fact.metric] = NamedMetric(fact.metric, at, at + len(fact.label))
    return list(found.values())


def _around_amounts(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans of text around amounts, each within one sentence, without overlap."""
    place = 0
    while (amount := _PATTERNS["amount"].search(text, place)) is not None:
        begin = max(place, amount.start() - _BEFORE)
        begin = max(begin, *(text.rfind(mark, begin, amount.start()) + 1 for mark in (". ", ".\n", "; ")))
        last = min(len(text), amount.end() + _AFTER)
        ended = _PATTERNS["sentence end"].search(text, amount.end(), last)
        end = ended.start() if ended else last
        yield begin, end
        place = max(end, amount.end())


_MAX_PARTS = 16
_MAX_NAMES = 80
_MAX_NAME_LENGTH = 60
_MAX_WORDS = 7
_OFTEN_ENOUGH = 4
"""Figures that a part must have in a filing before its name is searched for in running text."""
_PART_AXES = ("segment", "productorservice", "geographical", "majorcustomers", "subsegments", "legalentity")


def scope_of(source: PassageSource, names: Sequence[str], figures: bool) -> ScopeSignature:
    """Return the parts of the company that a passage's figures or text are about.

    `names` are the filing's parts (`part_names`); `figures` is whether the passage's sentences state amounts.
    """
    parts = list(dict.fromkeys(part for fact in source.facts if (part := part_of(fact))))
    stated = bool(parts)
    if source.table is not None and not parts:
        printed = {*source.table.columns, *(row.label for row in source.table.rows)}
        parts = [name for name in names if name in printed]
    if not source.is_table:
        text = source.passage.text
        told = (name for name in names if name not in parts and name in text)
        counts = {one: len(re.findall(rf"(?<![^\W_]){re.escape(one)}(?![^\W_])", text)) for one in told}
        # A single word not in capitals may be an ordinary word: it has to occur twice.
        often = [name for name, count in counts.items() if count >= (1 if " " in name or name.isupper() else 2)]
        parts += sorted(often, key=lambda name: (-counts[name], name))
    return ScopeSignature(
        consolidated=_is_whole(source, stated if source.facts else bool(parts), figures),
        parts=tuple(parts[:_MAX_PARTS]),
    )


def part_of(fact: Fact) -> str | None:
    """Return the segment, product or region of a figure, as printed; None for the whole company.

    Columns that state a measurement basis or a due date are not parts.
    """
    if fact.scope is None or fact.statement is not None:
        return None
    axes = [axis.lower() for axis, _ in fact.tag.members] if fact.tag else []
    if axes and not any(part in axis for axis in axes for part in _PART_AXES):
        return None
    return part_name(fact.scope)


@lru_cache(maxsize=4096)
def part_name(printed: str) -> str | None:
    """Return a part's name without footnote marks; None if the words do not name a part."""
    name = _PATTERNS["marks"].sub("", " ".join(printed.split())).strip(" ,:-–—")
    words = _PATTERNS["word of a name"].findall(name)
    if not words or len(name) > _MAX_NAME_LENGTH or len(words) > _MAX_WORDS or not name[0].isupper():
        return None
    low = {word.lower() for word in words}
    if (
        {"%", "$"} & set(name)
        or word_lists("column_words")["measuring"] & low
        or low <= word_lists("part_words")["general"]
    ):
        return None
    return name if sum(map(str.isalpha, name)) >= len(name) / 2 else None


@lru_cache(maxsize=4096)
def _names_whole(printed: str) -> bool:
    """Return whether a printed scope is the total of all parts: `Consolidated`, `Total Company`."""
    words = _PATTERNS["word of a name"].findall(printed.lower())
    return bool(words) and word_lists("column_words")["whole"].issuperset(words)


def part_names(facts: Iterable[Fact]) -> tuple[str, ...]:
    """Return the names of parts with enough figures in a filing, by number of figures."""
    counted = Counter(part for fact in facts if fact.metric and (part := part_of(fact)))
    often = (name for name, count in counted.items() if count >= _OFTEN_ENOUGH)
    return tuple(sorted(often, key=lambda name: (-counted[name], name))[:_MAX_NAMES])


def _is_whole(source: PassageSource, parts: bool, figures: bool) -> bool:
    """Return whether the passage contains figures of the whole company."""
    page = source.page
    if page.kind is TableKind.PARENT_ONLY:
        return False
    if page.statement is not None:
        return True
    if source.table is not None and not source.facts:
        rows = source.table.rows
        return bool(rows) and (not parts or any(_names_whole(row.label) for row in rows))
    if not source.facts:
        return figures and (not parts or " consolidated " in source.flat)
    if any(fact.tied if fact.scope is None else _names_whole(fact.scope) for fact in source.facts):
        return True
    # In a table divided by parts, a figure that no statement repeats may be of any part.
    return not parts and page.kind is not TableKind.SEGMENT and any(part_of(fact) is None for fact in source.facts)


_MAX_SPANS = 12
_SPAN_CUES = 5


def spans_of(text: str, role: ClaimRole, cues: Iterable[str], named: Sequence[NamedMetric]) -> tuple[EvidenceSpan, ...]:
    """Return the first occurrence of each cue phrase and of each named metric, in text order."""
    low = text.lower() if len(text.lower()) == len(text) else text  # a few letters of other scripts grow
    spans = [
        EvidenceSpan(start=start, end=end, shows=role.value)
        for phrase in list(cues)[:_SPAN_CUES]
        for start, end in places_of(phrase, low)[:1]
    ]
    spans += [EvidenceSpan(start=one.start, end=one.end, shows=one.id) for one in named[: _MAX_SPANS - len(spans)]]
    return tuple(sorted(spans, key=lambda span: (span.start, span.end, span.shows)))
