"""Answers from the outlook of an earnings release: what it expects of each line, mostly a range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from fin_agent.analyst.reasoning_result import Reasoning
from fin_agent.analyst.rules.reasoning.answer_candidates import (
    AnswerTarget,
    FilingPeriod,
    has_listed_prefix,
    periods_in,
)
from fin_agent.analyst.rules.reasoning.sentence_splitting import paragraphs_of
from fin_agent.analyst.rules.reasoning.term_coverage import stems_in, synonyms_of
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.words import finds

_LONGEST_LABEL, _LONGEST_VALUE = 60, 80
_MOST_RELEASES = 3


class OutlookRow(NamedTuple):
    """One line of an outlook."""

    label: str
    values: tuple[str, ...]
    """As printed: `$11.0 billion to $11.1 billion`, `no change`."""


def outlook_answer(target: AnswerTarget, passages: Sequence[tuple[RetrievedPassage, FilingPeriod]]) -> Reasoning | None:
    """Return what releases expect of the lines that a question about an outlook names; None for any other.

    Each release is told with its period; those of another quarter than the one asked for are left out. All of an
    outlook for the period asked about is told where no line is named.
    """
    if not has_listed_prefix("expected", target.intent.core):
        return None
    if whole := _whole_outlook(target, passages):
        return whole
    quarters = {period.quarter for period in target.intent.periods if period.quarter}
    told: dict[str, tuple[FilingPeriod, Citation]] = {}
    for passage, filed in passages:
        if quarters and filed.quarter not in quarters:
            continue
        if target.years and filed.year is not None and not target.years & {filed.year - 1, filed.year, filed.year + 1}:
            continue  # filers call a year by that of its beginning or of its end
        heads, rows = _outlook_in(passage.text)
        if named := _named_rows(rows, target):
            text = ". ".join(_told(row, heads) for row in named)
            told.setdefault(
                text, (filed, Citation(doc_id=passage.doc_id, page=passage.page, text=text, box=passage.box))
            )
    kept = sorted(told.items(), key=lambda each: (each[1][0].year or 0, each[1][0].quarter or 0))[-_MOST_RELEASES:]
    if not kept:
        return None
    return Reasoning(
        text=" ".join(f"{_released(filed)}{text}." for text, (filed, _) in kept),
        citations=tuple(cited for _, (_, cited) in kept),
        read=tuple(sorted({PageKey(cited.doc_id, cited.page) for _, (_, cited) in kept})),
    )


def _whole_outlook(target: AnswerTarget, passages: Sequence[tuple[RetrievedPassage, FilingPeriod]]) -> Reasoning | None:
    """Return all of the outlook for the one period asked about; None if there is none, or if a line is named."""
    asked = {(period.fiscal_year, period.quarter) for period in target.intent.periods}
    names_none = all(has_listed_prefix("expected", term.words) for term in target.telling_terms)
    for passage, _ in passages if names_none and len(asked) == 1 else ():
        if told := _told_of(passage.text, asked):
            cited = [Citation(doc_id=passage.doc_id, page=passage.page, text=one, box=passage.box) for one in told]
            read = (PageKey(passage.doc_id, passage.page),)
            return Reasoning(text=" ".join(told), citations=tuple(cited), read=read)
    return None


def _told_of(text: str, asked: set[tuple[int, int | None]]) -> list[str]:
    """Return what a text expects of a period: the rows of its outlook, or the statements under the heading of it."""
    heads, rows = _outlook_in(text)
    if rows and all(periods_in(head) == asked for head in heads[-1:]):
        return [". ".join(_told(row, heads) for row in rows) + "."]
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line.strip() and _is_heading(line.strip()) and periods_in(line) == asked:
            items = takewhile(lambda one: one.item, paragraphs_of("\n".join(lines[at + 1 :])))
            said = (" ".join(one.sentences) for one in items)
            if told := [one for one in said if any(map(str.isdigit, one))]:
                return told
    return []


def _named_rows(rows: Sequence[OutlookRow], target: AnswerTarget) -> list[OutlookRow]:
    """Return the rows that a question names; of `comparable sales` not that of sales, if it says this only once."""
    said = [one for part in target.intent.core.split() for one in stems_in(part)]
    named = [(row, _stems_of(row)) for row in rows if _is_named(row, target)]

    def is_named_apart(row: OutlookRow, own: frozenset[str]) -> bool:
        return row.label.lower() in target.intent.core.lower() or all(said.count(one) > 1 for one in own)

    return [row for row, own in named if is_named_apart(row, own) or not any(own < other for _, other in named)]


def _released(filed: FilingPeriod) -> str:
    if filed.year is None:
        return ""
    return f"Reporting {f'Q{filed.quarter} ' if filed.quarter else ''}FY{filed.year}: "


def _told(row: OutlookRow, heads: Sequence[str]) -> str:
    columns = heads[-len(row.values) :]
    if len(columns) < len(row.values):
        return f"{row.label}: {'; '.join(row.values)}"
    return f"{row.label}: {'; '.join(f'{value} ({head})' for head, value in zip(columns, row.values, strict=True))}"


def _outlook_in(text: str) -> tuple[list[str], list[OutlookRow]]:
    """Return the column headings of an outlook and its rows: lines that are labels, and the values behind each."""
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    first = next((at for at, line in enumerate(lines) if _is_heading(line)), None)
    if first is None:
        return [], []
    heads = [line for line in lines[first:] if _is_heading(line)]
    begun = max(at for at, line in enumerate(lines) if line in heads) + 1
    return heads, list(_rows(lines[begun:]))


def _is_heading(line: str) -> bool:
    return len(line) < _LONGEST_LABEL and line[-1] not in ".:;," and finds(line, "outlook heads", "row_words")


def _rows(lines: Sequence[str]) -> Iterator[OutlookRow]:
    """Yield the rows until the first line that is neither a label nor a value."""
    label = ""
    values: list[str] = []
    for line in [*lines, ""]:
        states = finds(line, "outlook values", "row_words") or any(map(str.isdigit, line))
        if label and len(line) < _LONGEST_VALUE and states:
            values.append(line)
            continue
        if label and values:
            yield OutlookRow(label, tuple(values))
        if not line or len(line) > _LONGEST_LABEL or any(map(str.isdigit, line)) or (label and not values):
            return
        label, values = line, []


def _is_named(row: OutlookRow, target: AnswerTarget) -> bool:
    """Return whether a question has all words of a label, or a synonym of one of its words or terms: `EPS`."""
    own, core = _stems_of(row), target.intent.core
    others = (*(term.synonyms for term in target.terms), *map(synonyms_of, core.split()))
    same = {one - _OF_ANY_LABEL for each in others for one in each}
    return bool(own) and (own <= frozenset(stems_in(core)) or own in same)


def _stems_of(row: OutlookRow) -> frozenset[str]:
    return frozenset(stems_in(row.label)) - _OF_ANY_LABEL


_OF_ANY_LABEL = frozenset(stems_in("net total diluted consolidated"))
