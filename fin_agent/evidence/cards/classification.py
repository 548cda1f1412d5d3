"""Classify a passage: its claim role from its location and wording, its evidence type, uses, risks and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from fin_agent.evidence.cards.card import (
    AnswerabilityProfile,
    ClaimRole,
    EvidenceType,
    MeasurementBasis,
    RiskSignal,
    ScopeSignature,
    TableSignature,
    TemporalAnchor,
    Use,
    Verifiability,
)
from fin_agent.evidence.cards.passage_sources import Cues, PassageSource
from fin_agent.filings.outline.items import COVER
from fin_agent.lexicon.words import load_yaml, patterns, word_lists
from fin_agent.vocabulary.dates import month_number
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import TableKind
from fin_agent.vocabulary.table import Table

_PATTERNS = patterns("card_patterns")


def role_of(source: PassageSource, cues: Cues, heading: str, prose: bool) -> ClaimRole:
    """Return the role of a passage.

    Tables report, unless they are lists of exhibits or contents. Text gets the role with the highest score by location
    and cue phrases. `cues` are phrases found in it by role; `prose` is whether it is mostly running text.
    """
    place = _role_of_place(source)
    if is_appendix(source):
        return ClaimRole.FORMAL
    if source.is_table or not prose:
        told = place in (ClaimRole.FORMAL, ClaimRole.TELLS_EVENT) and not source.facts
        return place if told and place is not None else ClaimRole.REPORTS
    thousands = max(_MIN_LENGTH, len(source.flat)) / 1000
    scores = {role: of["density"] * sum(cues.get(role, {}).values()) / thousands for role, of in _WEIGHTS.items()}
    figures = bool(source.facts) or source.page.kind is not None or has_figures(source.flat)
    if place is not None:
        bare = place is ClaimRole.REPORTS and not figures and source.note is None
        scores[place] += _BARE_PLACE if bare else _WEIGHTS[place]["place"]
    if place is ClaimRole.EXPLAINS and figures:
        scores[ClaimRole.REPORTS] += _FIGURES_DISCUSSED
    for role in _roles_of_title(heading.lower()):
        scores[role] += _WEIGHTS[role]["title"]
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


def _roles_of_title(title: str) -> list[ClaimRole]:
    named = word_lists("note_title_words")
    return [role for role in ClaimRole if any(words in title for words in named.get(role.value, ()))]


_TABLE_DIGITS = 0.12
"""Share of digits among non-space characters above which text is more table than prose."""
_STATEMENT_FACTS = 8
"""Number of figures above which text on the page of a primary statement counts as the statement."""
_SMALL_WORDS = (" the ", " of ", " to ", " and ", " in ", " a ")
_IN_PROSE = 0.018
"""Function words per character: sentences have more, table rows fewer."""


def evidence_type_of(source: PassageSource) -> EvidenceType:
    """Return the kind of evidence in a passage."""
    if is_mostly_table(source):
        return EvidenceType.STATEMENT if source.page.statement is not None else EvidenceType.TABLE
    return EvidenceType.MIXED if source.facts or has_figures(source.flat) else EvidenceType.NARRATIVE


def is_mostly_table(source: PassageSource) -> bool:
    """Return whether a passage is mostly rows of a table."""
    if source.is_table or (source.page.statement is not None and len(source.facts) >= _STATEMENT_FACTS):
        return True
    if not source.facts and source.page.kind is None and source.page.statement is None:
        return False
    flat = source.flat
    digits = sum(map(flat.count, "0123456789"))
    if digits < _TABLE_DIGITS * (len(flat) - flat.count(" ")):
        return False
    return sum(map(flat.count, _SMALL_WORDS)) < _IN_PROSE * len(flat)


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
_MAX_LABELS = 8
_MAX_CUES = 6
_MAX_CUE_LENGTH = 60


def verifiability_of(source: PassageSource, role: ClaimRole, cues: Cues) -> Verifiability:
    """Return the number of facts, the table signature and the cue phrases of the passage's role."""
    return Verifiability(
        facts=len(source.facts),
        table=None if source.table is None else _signature_of(source.table),
        cues=tuple(cues.get(role.value, ()))[:_MAX_CUES],
    )


def _signature_of(table: Table) -> TableSignature:
    columns = tuple(filter(None, map(_short, table.columns)))[:_MAX_COLUMNS]
    labels = dict.fromkeys(filter(None, (_short(row.label) for row in table.rows)))
    return TableSignature(rows=len(table.rows), columns=columns, labels=tuple(labels)[:_MAX_LABELS])


def _short(text: str) -> str:
    return " ".join(text[: 4 * _MAX_CUE_LENGTH].split())[:_MAX_CUE_LENGTH]


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


def period_name(period: FactPeriod) -> str:
    """Return the name of a period: `FY2023`, `Q2 FY2023`, `6 months FY2023`."""
    return str(_Span.of(period))


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
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_SPANS = ((" six months ", 6), (" nine months ", 9), (" 26 weeks ", 6), (" 39 weeks ", 9))
_BEFORE = 24
_AFTER = 16


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
        day = _day(flat[max(0, start - _BEFORE) : start], year)
        if day is not None:
            days[day] += 1
            span = _of_day(source, day, flat[max(0, start - 3 * _BEFORE) : start])
        elif _names_no_period(flat, start, end):
            continue
        else:
            span = _Span(year, 0, 0)
        if newest is None or newest - _OLDEST <= span.year <= newest + forward:
            spans.add(span)
    named = [*_quarters(flat), *_fiscal_years(flat)]
    named = [span for span in named if newest is None or newest - _OLDEST <= span.year <= newest + 1]
    whole = {_Span(span.year, 0, 0) for span in named if span.quarter}
    spans = _interim_period(source, spans - whole) | set(named)
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
    before = flat[max(0, start - _BEFORE) : start].split()
    if before and (before[-1] in words["before names"] or " ".join(before[-2:]) in words["before names"]):
        return True
    if flat[end : end + 1] != " ":
        return False
    after = [word.strip("().,;:") for word in flat[end : end + _AFTER].split()]
    return bool(after) and (after[0] in words["names"] or " ".join(after[:2]) in words["names"])


def _quarters(flat: str) -> Iterator[_Span]:
    """Yield periods such as `second quarter of fiscal 2023` and `Q2 FY23`."""
    if " quarter" in flat or " q" in flat:
        for found in _PATTERNS["quarter"].finditer(flat):
            yield _Span(_full(found[3]), _ORDINALS.get(found[1] or "", 0) or int(found[2]), 0)


def _fiscal_years(flat: str) -> Iterator[_Span]:
    """Yield years such as `fiscal 2023` and `FY23`, but not those of `second quarter of fiscal 2023`."""
    if " fy" in flat or " fiscal " in flat:
        for found in _PATTERNS["fiscal year"].finditer(flat):
            if " quarter" not in flat[max(0, found.start() - _AFTER) : found.start()]:
                yield _Span(_full(found[1] or found[2]), 0, 0)


def _full(year: str) -> int:
    return int(year) if len(year) == len("2023") else 2000 + int(year)


def _interim_period(source: PassageSource, spans: set[_Span]) -> set[_Span]:
    """In a quarterly filing, read a bare year next to `three months ended` as that quarter of the year."""
    quarter = source.identity.quarter
    if not quarter or source.identity.form not in (Form.TEN_Q, Form.EARNINGS, Form.EIGHT_K):
        return spans
    newest = _newest(source)
    flat = source.flat
    interim: set[_Span] = set()
    for span in spans:
        recent = newest is not None and span.year in (newest, newest - 1)
        if span.quarter or span.months or not recent:
            interim.add(span)
            continue
        readings = {_Span(span.year, 0, months) for words, months in _SPANS if words in flat}
        if any(words in flat for words in word_lists("year_words")["quarters"]):
            readings.add(_Span(span.year, quarter, 0))
        interim |= readings or {span}
    return interim
