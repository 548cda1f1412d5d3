"""The largest or smallest row of one table: `Customer deposits` among liabilities, a segment by its revenue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fin_agent.analyst.protocol import Reasoning
from fin_agent.analyst.rules.reasoning.across import turned
from fin_agent.analyst.rules.reasoning.ranked import STATEMENTS_OF, Ranked, measure_stems, ranked_in
from fin_agent.analyst.rules.reasoning.scoring import Sought
from fin_agent.analyst.rules.reasoning.tables import Group, PlacedTable, columns_of, groups_of, plain_label, tables_of
from fin_agent.analyst.rules.reasoning.wholes import whole_of
from fin_agent.evidence.evidence import Evidence
from fin_agent.index.protocol import FilingIndex
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.terms import stems_of
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.table import Row

_FEWEST = 2
_MOST_OF_IT = 0.7
_SAID, _ANNOUNCED, _MENTIONED, _ON_THE_PAGE = 1.0, 0.9, 0.7, 0.85
_ENOUGH = 1.75
"""Of 2, for the measure and what is ranked by it: one of them in a heading, neither only mentioned above."""
_WHOLE = re.compile(r"\b(?:total|consolidated)\b", re.I)
_CAPTION = 320
_BESIDE = {"total", "and", "operating", "cost", "the"}
"""What a heading may say beside what is ranked: `Costs and expenses`."""


def says_what_is_ranked(text: str, sought: Sought) -> bool:
    """Whether words speak of what is ranked and by what, where a figure of the filer's own decides; true for others."""
    ranked = ranked_in(sought.intent.core)
    of_statement = ranked is not None and not ranked.measure and bool(set(stems_of(ranked.noun)) & set(STATEMENTS_OF))
    if ranked is None or not (of_statement or _metrics(f"{ranked.noun} {ranked.measure}", sought)):
        return True
    said = set(stems_of(text))
    nouns = [stem for stem in stems_of(ranked.noun) if stem in sought.telling.own]
    named = any(sought.telling.says(stem, said) for stem in _kinds(nouns))
    if not ranked.measure:
        return named and not _metrics(ranked.noun, sought)
    return named and _measures(text, ranked.measure, sought)


@dataclass(frozen=True, slots=True)
class Standing:
    """Rows in the order asked for."""

    group: Group
    column: int
    rows: tuple[Row, ...]
    fit: float


def extreme_row(sought: Sought, evidence: Sequence[Evidence], index: FilingIndex) -> Reasoning | None:
    """The first rows by the rank asked for, of the table that is about the question; None where none or several are."""
    ranked = ranked_in(sought.intent.core)
    if ranked is None or not evidence:
        return None
    found = list(standings(ranked, sought, evidence, index))
    best = max((each.fit for each in found), default=0.0)
    first = [each for each in found if each.fit == best]
    if not first or len({_called(each.rows[0]) for each in first}) > 1:
        return None
    return _told(first[0], ranked)


def standings(ranked: Ranked, sought: Sought, evidence: Sequence[Evidence], index: FilingIndex) -> Iterator[Standing]:
    """Groups of rows that are about what is ranked, each with its rows in the order asked for."""
    for placed in _both_ways(tables_of(evidence, index), ranked, sought):
        page = {stem for kept in evidence if _is_on(placed, kept) for stem in stems_of(kept.passage.text)}
        column = _column(ranked, placed, sought)
        if column is None:
            continue
        for group in _of_balances(placed, ranked) or groups_of(placed):
            fit = _fit(group, column, ranked, sought, page)
            members = group.members(column, parts=bool(ranked.measure))
            if fit < _ENOUGH or len(members) < max(_FEWEST, ranked.count):
                continue
            metrics = _metrics(ranked.measure, sought)
            whole = whole_of(group, column, index) if "revenue" in metrics else None
            if metrics and whole is None and ("revenue" in metrics or not _is_tied(members, column, placed)):
                continue
            rows = sorted(members, key=lambda row: _amount(row, column), reverse=ranked.highest)
            if _amount(rows[0], column) == _amount(rows[1], column) and ranked.count == 1:
                continue
            if ranked.measure and _is_a_measure(rows[0], sought):
                continue
            yield Standing(group, column, tuple(rows), fit)


def _both_ways(tables: Sequence[PlacedTable], ranked: Ranked, sought: Sought) -> Iterator[PlacedTable]:
    """Each table, and where it shows parts as columns, turned so that they are rows."""
    for placed in tables:
        yield placed
        across = turned(placed, sought.intent.periods) if _of_segments(ranked.noun) else None
        if across is not None:
            yield across


def _is_on(placed: PlacedTable, kept: Evidence) -> bool:
    return (kept.passage.doc_id, kept.passage.page) == (placed.doc_id, placed.table.page)


def _fit(group: Group, column: int, ranked: Ranked, sought: Sought, page: set[str]) -> float:
    """How far a group is of what is ranked and by what, 0 to 2."""
    table, telling = group.placed.table, sought.telling
    head = " ".join(group.section)
    caption = table.caption[-_CAPTION:]
    places = (
        (f"{head} {table.columns[column]}", _SAID),
        (re.split(r"(?<=[.?!])\s+(?=[A-Z])", caption)[-1], _ANNOUNCED),
        (caption, _MENTIONED),
    )
    nouns = [stem for stem in stems_of(ranked.noun) if stem in telling.own]
    if not nouns:
        return 0.0
    if not ranked.measure:
        wanted = {STATEMENTS_OF[stem] for stem in nouns if stem in STATEMENTS_OF}
        if wanted and group.placed.statement not in wanted:
            return 0.0
        return 2 * _SAID if _is_headed(group, ranked.noun) else 0.0
    kinds = _kinds(nouns)
    named = next((worth for text, worth in places if any(telling.says(stem, stems_of(text)) for stem in kinds)), 0.0)
    if not named and _of_segments(ranked.noun) and _speaks_of_no_other(places) and telling.says(kinds[-1], page):
        named = _ON_THE_PAGE
    measured = next((worth for text, worth in places if _measures(text, ranked.measure, sought)), 0.0)
    if _names_another(head, ranked.measure, sought) or _is_a_part(head, ranked.measure, kinds, sought):
        return 0.0
    return named + measured if named and measured else 0.0


def _measures(text: str, measure: str, sought: Sought) -> bool:
    """Whether a text names the measure, by whatever words."""
    metrics = _metrics(measure, sought)
    if metrics:
        return bool(metrics & _metrics(text, sought))
    stems = measure_stems(measure)
    said = set(stems_of(text))
    return bool(stems) and all(sought.telling.says(stem, said) for stem in stems)


def _is_a_part(heading: str, measure: str, kinds: Sequence[str], sought: Sought) -> bool:
    """Whether rows stand under one of the parts: countries under `Americas`, divisions of a segment."""
    about = any(sought.telling.says(stem, stems_of(heading)) for stem in kinds)
    return bool(heading) and not about and not _measures(heading, measure, sought)


def _names_another(heading: str, measure: str, sought: Sought) -> bool:
    metrics, named = _metrics(measure, sought), _metrics(heading, sought)
    return bool(metrics and named) and not named & metrics


def _speaks_of_no_other(places: Sequence[tuple[str, float]]) -> bool:
    """Whether neither heading nor announcement says that something else is divided: sales by country."""
    others = word_lists("answer_words")["dimensions"]
    return not any(word in others for text, _ in places[:2] for word in re.findall(r"[a-z]+", text.lower()))


def _of_segments(noun: str) -> bool:
    """Whether a filer's own divisions are ranked: tables that show these do not always say so."""
    return bool(re.search(r"\b(?:segments?|divisions?|business(?:es)?)\b", noun, re.I))


def _is_headed(group: Group, noun: str) -> bool:
    """Whether the heading over the rows is what is ranked, no more and no less: no `non-operating` expenses."""
    asked, headed = (
        {re.sub(r"(?:ies|y)$", "y", word).removesuffix("s") for word in re.findall(r"[a-z-]+", text.lower())}
        for text in (noun, group.section[-1] if group.section else "")
    )
    return asked <= headed and headed - asked <= _BESIDE


def _kinds(nouns: Sequence[str]) -> Sequence[str]:
    """The word that says what is ranked: `product` of `product categories`."""
    sorts = {stem for word in word_lists("answer_words")["sorts"] for stem in stems_of(word)}
    plain = [stem for stem in nouns if stem not in sorts]
    return plain[-1:] or nouns[-1:]


def _metrics(text: str, sought: Sought) -> set[str]:
    """The metrics a text names; a segment's operating income is one, of a segment."""
    if sought.lexicon is None or not text:
        return set()
    return {name.removeprefix("segment_") for name in sought.lexicon.metrics_in(text)}


def _is_tied(members: Sequence[Row], column: int, placed: PlacedTable) -> bool:
    """Whether the table repeats a figure of the statements: one that does not may be of a part alone."""
    facts = [placed.facts.get(cell.box) for row in members if (cell := row.cells[column])]
    return all(fact is None or fact.tied or fact.scope is not None for fact in facts)


def _is_a_measure(row: Row, sought: Sought) -> bool:
    """Whether a row is named as a measure is, and so is no part of anything: `Net revenue`."""
    label = plain_label(row).lower()
    return sought.lexicon is not None and any(
        len(each.phrase) >= _MOST_OF_IT * len(label) for each in sought.lexicon.mentions(label)
    )


def _column(ranked: Ranked, placed: PlacedTable, sought: Sought) -> int | None:
    """The column of the period and the measure, or the only one called as the measure is: `Votes Against`.

    None where none is, or a column of the period is one of several parts.
    """
    table, metrics = placed.table, _metrics(ranked.measure, sought)
    if any(table.periods):
        dated = columns_of(table, sought.intent.periods)
        if metrics:
            named = {number: _metrics(table.columns[number], sought) for number in dated}
            fitting = [number for number in dated if named[number] & metrics]
            dated = fitting or [number for number in dated if not named[number]]
        whole = [number for number in dated if _WHOLE.search(table.columns[number])]
        return dated[0] if len(dated) == 1 else whole[-1] if whole and whole[-1] == dated[-1] else None
    stems = stems_of(ranked.measure)
    found = [
        number
        for number, head in enumerate(table.columns)
        if stems and all(sought.telling.says(stem, stems_of(head)) for stem in stems)
    ]
    return found[0] if len(found) == 1 else None


def _of_balances(placed: PlacedTable, ranked: Ranked) -> list[Group]:
    """All assets, or all liabilities, of a balance sheet: what stands above their total, under whatever headings."""
    nouns = stems_of(ranked.noun)
    if placed.statement is not Statement.BALANCE_SHEET or ranked.measure or len(nouns) != 1:
        return []
    rows = placed.table.rows
    assets = next((place for place, row in enumerate(rows) if _called(row) == "total assets"), None)
    if assets is None:
        return []
    if nouns[0] == "asset":
        return [Group(placed, ("Assets",), rows[:assets])]
    if nouns[0] != "liabil":
        return []
    ends = (
        place
        for place, row in enumerate(rows)
        if place > assets + 1 and (_called(row) == "total liabilities" or _is_equity(row))
    )
    end = next(ends, None)
    return [Group(placed, ("Liabilities",), rows[assets + 1 : end])] if end is not None else []


def _is_equity(row: Row) -> bool:
    words = f"{row.section[-1] if row.section else ''} {row.label}".lower()
    return ("equity" in words or "common stock" in words or "preferred s" in words) and "liabilities and" not in words


def _called(row: Row) -> str:
    return plain_label(row).lower()


def _amount(row: Row, column: int) -> float:
    cell = row.cells[column]
    return float(cell.amount) if cell else 0.0


def _told(standing: Standing, ranked: Ranked) -> Reasoning:
    """One sentence: the row with its figure, among how many, and what comes next."""
    placed, column = standing.group.placed, standing.column
    taken, following = standing.rows[: ranked.count], standing.rows[ranked.count : ranked.count + 1]
    rows = [*taken, *following]
    figures = [f"{plain_label(row)} ({placed.said(cell)})" for row in rows if (cell := row.cells[column])]
    listed = "; ".join(figures[: ranked.count])
    after = f", before {figures[-1]}" if following else ""
    under = "".join(f" under “{heading}”" for heading in standing.group.section[-1:])
    what = f"the {ranked.word}" if ranked.count == 1 else f"the {ranked.count} {ranked.word}"
    text = f"{listed}: {what} of {len(standing.rows)} rows{under}, {placed.period(column)}{after}."
    return Reasoning(text=text, citations=tuple(placed.cited(row, column) for row in rows))
