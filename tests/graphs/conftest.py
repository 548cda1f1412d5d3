"""The sample filings as ground truth: what each figure is, where it stands, and a context to ask for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from fin_agent.answering.answer import Answer
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.workspace import Workspace

DEDUCTIONS = frozenset({
    "capital_expenditures", "dividends_paid", "share_repurchases", "interest_expense", "debt_repaid", "acquisitions",
    "treasury_stock",
})  # fmt: skip
"""Printed negative, asked for as positive amounts."""
SCALES = {"USD": 1, "USD thousands": 1_000, "USD millions": 1_000_000, "USD billions": 1_000_000_000}


@dataclass(frozen=True)
class Company:
    """A made-up registrant as questions name it."""

    name: str
    ticker: str

    @property
    def short(self) -> str:
        """`Harborlight`."""
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
        """As people name it: what is deducted is a positive amount."""
        figure = self.figure(ticker, metric, year)
        assert figure is not None, (ticker, metric, year)
        return abs(figure.value) if metric in DEDUCTIONS else figure.value

    def known(self, ticker: str, metric: str) -> Iterator[int]:
        """The fiscal years that some filing states the metric for."""
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

    def _period(self, filing: dict[str, Any], value: dict[str, Any]) -> tuple[int, int | None] | None:
        """Fiscal year and quarter of a column: whole years before the filing's own end, else None."""
        lengths = (0, 12) if filing["quarter"] is None else (3,)
        if filing["form"] == "8-K" or value["months"] not in lengths:
            return None
        ago = (date.fromisoformat(filing["period_end"]) - date.fromisoformat(value["end"])).days / 365.25
        return (filing["fiscal_year"] - round(ago), filing["quarter"]) if abs(ago - round(ago)) < 0.05 else None


@pytest.fixture(scope="session")
def truth(sample_filings: Path) -> GroundTruth:
    """What the sample filings say."""
    return GroundTruth(sample_filings / "expected.json")


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


def in_base_units(answer: Answer) -> Decimal | None:
    """The answer's value in dollars, or in its own unit where that is none of dollars."""
    if answer.answer.value is None:
        return None
    return Decimal(repr(answer.answer.value)) * SCALES.get(answer.answer.unit or "", 1)


@pytest.fixture(scope="session")
def base_units() -> Callable[[Answer], Decimal | None]:
    """See `in_base_units`."""
    return in_base_units
