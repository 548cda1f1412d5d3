"""The sample filings as ground truth: what each figure is, where it stands, and a context to ask for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from fin_agent.answering.answer import Answer
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.workspace import Workspace

SCALES = {"USD": 1, "USD thousands": 1_000, "USD millions": 1_000_000, "USD billions": 1_000_000_000}


@dataclass(frozen=True)
class Company:
    """A made-up registrant as questions name it."""

    name: str
    ticker: str

    @property
    def short(self) -> str:
        return self.name.split()[0]


@dataclass(frozen=True)
class TrueFigure:
    """A figure in base units with its printed sign, and where it is printed."""

    value: Decimal
    doc_id: str
    page: int


class GroundTruth:
    """`examples/filings/expected.json` by company, metric and fiscal year."""

    years = (2020, 2021, 2022, 2023, 2024)

    def __init__(self, file: Path) -> None:
        self.filings: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))

    @cached_property
    def companies(self) -> tuple[Company, ...]:
        return tuple(dict.fromkeys(Company(filing["company"], filing["ticker"]) for filing in self.filings))

    def figure(self, ticker: str, metric: str, year: int, quarter: int | None = None) -> TrueFigure | None:
        """On the metric's first statement, in the filing of that year, else in the earliest one that has the column."""
        found = self._figures.get((ticker, metric, year, quarter))
        return None if found is None else found[1]

    def value(self, ticker: str, metric: str, year: int) -> Decimal:
        """As people name it: an outflow is a positive amount."""
        figure = self.figure(ticker, metric, year)
        assert figure is not None, (ticker, metric, year)
        return abs(figure.value) if metric in OUTFLOWS else figure.value

    def known(self, ticker: str, metric: str) -> Iterator[int]:
        return (year for year in self.years if self.figure(ticker, metric, year) is not None)

    @cached_property
    def _figures(self) -> dict[tuple[str, str, int, int | None], tuple[int, TrueFigure]]:
        found: dict[tuple[str, str, int, int | None], tuple[int, TrueFigure]] = {}
        for filing in self.filings:
            own: set[tuple[str, str, int, int | None]] = set()
            for figure in filing["figures"]:
                for value in figure["values"]:
                    place = self._period(filing, value)
                    if place is None:
                        continue
                    year, quarter = place
                    key = (filing["ticker"], figure["metric"], year, quarter)
                    distance = filing["fiscal_year"] - year
                    held = found.get(key)
                    if key in own or (held is not None and held[0] <= distance):
                        continue
                    own.add(key)
                    amount = Decimal(str(value["amount"])) * figure["scale"]
                    found[key] = distance, TrueFigure(amount, filing["doc_id"], figure["page"])
        return found

    @cached_property
    def _ends(self) -> dict[tuple[str, str], tuple[int, int | None]]:
        return {
            (filing["ticker"], filing["period_end"]): (filing["fiscal_year"], filing["quarter"])
            for filing in self.filings
            if filing["form"] != "8-K"
        }

    def _period(self, filing: dict[str, Any], value: dict[str, Any]) -> tuple[int, int | None] | None:
        """Fiscal year and quarter of a column; columns before the filings' own ends are counted back by years."""
        own_end, end = filing["period_end"], value["end"]
        if filing["form"] == "8-K" or not end:
            return None
        if filing["quarter"] is None and value["months"] in (0, 12):
            days = (_ordinal(own_end) - _ordinal(end)) / 365.25
            return (filing["fiscal_year"] - round(days), None) if abs(days - round(days)) < 0.05 else None
        if filing["quarter"] is not None and value["months"] == 3:
            days = (_ordinal(own_end) - _ordinal(end)) / 365.25
            return (filing["fiscal_year"] - round(days), filing["quarter"]) if abs(days - round(days)) < 0.05 else None
        return None


OUTFLOWS = frozenset({
    "capital_expenditures", "dividends_paid", "share_repurchases", "interest_expense", "debt_repaid", "acquisitions",
})  # fmt: skip


def _ordinal(day: str) -> int:
    from datetime import date

    return date.fromisoformat(day).toordinal()


@pytest.fixture(scope="session")
def truth(sample_filings: Path) -> GroundTruth:
    """What the sample filings say."""
    return GroundTruth(sample_filings / "expected.json")


@pytest.fixture(scope="session")
def workspace(sample_index: Path) -> Workspace:
    """The index of the sample filings with what is derived from it."""
    return Workspace.open(sample_index)


@pytest.fixture(scope="session")
def context(workspace: Workspace) -> AnswerContext:
    """The default context over the sample filings."""
    return AnswerContext.by_rules(workspace)


@pytest.fixture(scope="session")
def ask(context: AnswerContext) -> Callable[..., Answer]:
    """Ask the graph one question."""

    def asked(question: str, doc_ids: Sequence[str] | None = None) -> Answer:
        return answer_question(question, context, doc_ids=doc_ids)

    return asked
