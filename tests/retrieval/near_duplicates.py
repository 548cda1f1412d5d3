"""Questions that differ in nothing but the company or the period, made from what the sample filings are known to say.

The right document is the filing whose own period is asked about: the 10-K of that fiscal year, the 10-Q of that
quarter, the 8-K of that day. A prior-year column is right only for years that have no filing of their own, and then in
the earliest filing that has the column.

The right page of a figure is the metric's own statement (the first page that the truth names for it), or, for figures
of the notes, the page of that note's table. The right pages of a question of words are those of the Item that tells it:
from where it begins to where the next one does; and, where a note tells the same, the page that the truth names for the
note's figures.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any


def near_duplicate_questions(expected: Path) -> list[NearDuplicate]:
    """All questions over the filings that `expected` (an `expected.json`) describes, in a fixed order."""
    filings = [SampleFiling(entry) for entry in json.loads(expected.read_text(encoding="utf-8"))]
    annual = [filing for filing in filings if filing.form == "10-K"]
    quarterly = [filing for filing in filings if filing.form == "10-Q"]
    current = [filing for filing in filings if filing.form == "8-K"]
    return [
        *_lookups(annual, ANNUAL_LOOKUPS, ANNUAL_PERIODS),
        *_lookups(quarterly, QUARTER_LOOKUPS, QUARTER_PERIODS),
        *_columns(annual),
        *_told(annual, ANNUAL_TOPICS, ANNUAL_PERIODS),
        *_told(quarterly, QUARTER_TOPICS, QUARTER_PERIODS),
        *_events(current),
    ]


def printed_label_questions(expected: Path) -> list[NearDuplicate]:
    """Lookups by the labels that the statements of HTML filings print; any statement with the label will do.

    Of quarterly reports the rows of the balance sheet only: columns of the year to date are no single quarter.
    """
    asked: list[NearDuplicate] = []
    for filing in (SampleFiling(entry) for entry in json.loads(expected.read_text(encoding="utf-8"))):
        pages: dict[str, set[int]] = {}
        for kind in ("income", "balance", "cash-flow") if filing.form == "10-K" else ("balance",):
            statement = filing.entry["statements"][kind]
            for row in statement["rows"] if statement["page"] is not None else ():
                if row["unit"] == "USD" and row["values"][0][1] == filing.entry["period_end"]:
                    pages.setdefault(row["label"], set()).add(statement["page"])
        period = "Q{q} FY{y}" if filing.entry["quarter"] else "FY{y}"
        for label, found in pages.items():
            text = _asked(f"What was {{c}}'s {_lowered(label)} in {{p}}?", filing, 0, period)
            asked.append(NearDuplicate(text, "printed", filing.doc_id, frozenset(found)))
    return asked


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """A question, and where it is answered."""

    text: str
    kind: str
    """`lookup`, `column`, `told`, `event` or `printed`."""
    doc_id: str
    pages: frozenset[int]


@dataclass(frozen=True)
class SampleFiling:
    """One entry of `expected.json`, as far as questions are made of it."""

    entry: dict[str, Any] = field(repr=False)

    @property
    def doc_id(self) -> str:
        return str(self.entry["doc_id"])

    @property
    def form(self) -> str:
        return str(self.entry["form"])

    @property
    def year(self) -> int:
        return int(self.entry["fiscal_year"])

    @property
    def end(self) -> date:
        return date.fromisoformat(self.entry["period_end"])

    @property
    def names(self) -> tuple[str, str, str]:
        """Short, registered, ticker: `Harborlight`, `Harborlight Instruments, Inc.`, `HLGT`."""
        return self.entry["company"].split()[0], self.entry["company"], self.entry["ticker"]

    def page_of(self, metric: str) -> int | None:
        """Where the figure stands: on its own statement, else in its note."""
        return self._pages.get(metric)

    def pages_of_item(self, item: str) -> frozenset[int]:
        """From where the Item begins to where the next one does."""
        starts = [(name, page) for name, _, page in self.entry["items"]]
        place = [name for name, _ in starts].index(item)
        first = starts[place][1]
        last = starts[place + 1][1] if place + 1 < len(starts) else self.entry["pages"] - 1
        return frozenset(range(first, last + 1))

    @cached_property
    def _pages(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for figure in self.entry["figures"]:
            found.setdefault(figure["metric"].partition(":")[0], figure["page"])
        return found


ANNUAL_PERIODS = (
    "FY{y}", "fiscal {y}", "FY{s}", "fiscal year {y}", "{y}", "FY'{s}", "the {y} fiscal year", "the year ended {d}",
)  # fmt: skip
QUARTER_PERIODS = (
    "Q{q} {y}", "Q{q} of FY{y}", "{q}Q{s}", "the {o} quarter of fiscal {y}", "the quarter ended {d}", "FY{s} Q{q}",
    "the three months ended {d}", "{y} Q{q}",
)  # fmt: skip
_ORDINALS = ("first", "second", "third", "fourth")

ANNUAL_LOOKUPS = (
    ("revenue", "What was {c}'s revenue in {p}?"),
    ("cost_of_revenue", "How high was the cost of sales of {c} in {p}?"),
    ("gross_profit", "What gross profit did {c} report for {p}?"),
    ("research_and_development", "How much did {c} spend on research and development in {p}?"),
    ("selling_general_administrative", "What were {c}'s SG&A expenses in {p}?"),
    ("operating_income", "What was the operating income of {c} for {p}?"),
    ("income_tax", "What was {c}'s income tax expense in {p}?"),
    ("net_income", "How much net income did {c} earn in {p}?"),
    ("eps_diluted", "What was {c}'s diluted EPS in {p}?"),
    ("total_assets", "What were {c}'s total assets at the end of {p}?"),
    ("accounts_receivable", "What were the accounts receivable of {c} at the end of {p}?"),
    ("inventories", "What inventories did {c} carry at the end of {p}?"),
    ("goodwill", "How much goodwill did {c} have at the end of {p}?"),
    ("long_term_debt", "What was {c}'s long-term debt at the end of {p}?"),
    ("stockholders_equity", "What was the total stockholders' equity of {c} at the end of {p}?"),
    ("operating_cash_flow", "How much cash did the operating activities of {c} provide in {p}?"),
    ("capital_expenditures", "What were {c}'s capital expenditures in {p}?"),
    ("dividends_paid", "What dividends did {c} pay in {p}?"),
    ("share_repurchases", "How much did {c} spend on share repurchases in {p}?"),
    ("depreciation_amortization", "What was {c}'s depreciation and amortization in {p}?"),
)
"""(metric as the truth names it, question)"""
QUARTER_LOOKUPS = (
    ("revenue", "What was {c}'s revenue in {p}?"),
    ("gross_profit", "What gross profit did {c} report for {p}?"),
    ("operating_income", "What was the operating income of {c} for {p}?"),
    ("net_income", "How much net income did {c} earn in {p}?"),
    ("eps_diluted", "What was {c}'s diluted EPS in {p}?"),
    ("income_tax", "What was {c}'s income tax expense in {p}?"),
    ("total_assets", "What were {c}'s total assets at the end of {p}?"),
    ("inventories", "What inventories did {c} carry at the end of {p}?"),
    ("goodwill", "How much goodwill did {c} have at the end of {p}?"),
    ("long_term_debt", "What was {c}'s long-term debt at the end of {p}?"),
)
ANNUAL_TOPICS = (
    (("1",), (), "What business is {c} in, and what does its {p} 10-K say of competition?"),
    (("2",), (), "What properties did {c} own or lease in {p}?"),
    (("3",), (), "What legal proceedings did {c} describe in {p}?"),
    (("5",), (), "How many holders of record did {c}'s common stock have according to its {p} annual report?"),
    (("7",), (), "What drove {c}'s change in revenue in {p}?"),
    (("7",), (), "Why did {c}'s gross margin change in {p}?"),
    (("7A",), (), "How would a change in interest rates or the dollar affect {c}, as of {p}?"),
    ((), ("acquisition_cash_paid",), "Which acquisitions did {c} make in {p}?"),
    ((), ("note",), "Which senior notes did {c} have outstanding at the end of {p}?"),
    ((), ("effective_tax_rate",), "How did {c}'s effective tax rate differ from the statutory rate in {p}?"),
    (("7",), ("restructuring_accrual",), "What restructuring measures did {c} take in {p}?"),
    ((), ("segment_sales",), "What were the sales and profits of {c}'s segments in {p}?"),
    ((), ("geography_sales",), "How were {c}'s sales split by geography in {p}?"),
    (("9A",), (), "Did {c}'s management conclude that disclosure controls were effective in {p}?"),
)
"""(Items that tell it, figures whose note tells it, question)"""
QUARTER_TOPICS = (
    (("PART I 2",), (), "What drove {c}'s revenue in {p}?"),
    (("PART II 1",), (), "What legal proceedings did {c} describe in its 10-Q for {p}?"),
    ((), ("segment_sales",), "What were the sales and profits of {c}'s segments in {p}?"),
    ((), ("note",), "Which notes did {c} have outstanding at the end of {p}?"),
)
EVENTS = (
    "What did {c} announce in its 8-K dated {d}?",
    "What happened at {c} on {d}?",
    "Summarize the 8-K that {c} filed about the event of {d}.",
)


def _lookups(
    filings: Sequence[SampleFiling], lookups: Sequence[tuple[str, str]], periods: Sequence[str]
) -> Iterator[NearDuplicate]:
    for number, (metric, question) in enumerate(lookups):
        for filing in filings:
            page = filing.page_of(metric)
            if page is not None:
                text = _asked(question, filing, number, periods[number % len(periods)])
                yield NearDuplicate(text, "lookup", filing.doc_id, frozenset((page,)))


def _columns(filings: Sequence[SampleFiling]) -> Iterator[NearDuplicate]:
    """The year before each company's first annual report: that report's prior-year column is all there is."""
    earliest: dict[str, SampleFiling] = {}
    for filing in sorted(filings, key=lambda filing: filing.year):
        earliest.setdefault(filing.names[2], filing)
    for number, (metric, question) in enumerate(ANNUAL_LOOKUPS[:: len(ANNUAL_LOOKUPS) // 6]):
        for filing in earliest.values():
            page = filing.page_of(metric)
            if page is not None:
                text = question.format(c=filing.names[number % 3], p=f"fiscal {filing.year - 1}")
                yield NearDuplicate(text, "column", filing.doc_id, frozenset((page,)))


def _told(
    filings: Sequence[SampleFiling],
    topics: Sequence[tuple[tuple[str, ...], tuple[str, ...], str]],
    periods: Sequence[str],
) -> Iterator[NearDuplicate]:
    for number, (items, notes, question) in enumerate(topics):
        for filing in filings:
            pages = [page for item in items for page in filing.pages_of_item(item)]
            pages += [page for metric in notes if (page := filing.page_of(metric)) is not None]
            if pages:
                text = _asked(question, filing, number, periods[number % (len(periods) - 1)])
                yield NearDuplicate(text, "told", filing.doc_id, frozenset(pages))


def _events(filings: Sequence[SampleFiling]) -> Iterator[NearDuplicate]:
    for number, question in enumerate(EVENTS):
        for filing in filings:
            if filing.entry.get("quarter") is None:
                text = question.format(c=filing.names[number % 3], d=_day(filing.end))
                yield NearDuplicate(text, "event", filing.doc_id, filing.pages_of_item(filing.entry["items"][0][0]))


def _asked(question: str, filing: SampleFiling, number: int, period: str) -> str:
    """One wording of company and period for each template: only the names differ between its questions."""
    quarter = filing.entry["quarter"]
    named = period.format(
        y=filing.year,
        s=f"{filing.year % 100:02}",
        d=_day(filing.end),
        q=quarter,
        o=_ORDINALS[quarter - 1] if quarter else "",
    )
    return question.format(c=filing.names[number % 3], p=named)


def _lowered(label: str) -> str:
    return label[0].lower() + label[1:]


def _day(day: date) -> str:
    return f"{day:%B} {day.day}, {day.year}"
