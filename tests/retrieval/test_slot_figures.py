"""Figures of slots: the nearest to the words, if it is the part asked for or a part of the metric's total."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.lexicon.slots import Slot
from fin_agent.retrieval.slot_figures import facts_for
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace


class OneFiling:
    """An index of one filing."""

    def __init__(self, facts: list[SourcedFact]) -> None:
        self._facts = facts

    def entries(self) -> tuple[()]:
        return ()

    def facts(self, doc_ids: Any, *, pages: Any = None, years: Any = None, metrics: Any = None) -> list[SourcedFact]:
        return [
            each
            for each in self._facts
            if (pages is None or each.key in pages)
            and (years is None or each.fact.period.fiscal_year in years)
            and (metrics is None or each.fact.metric in metrics)
        ]


def row(line: int, label: str, amount: int, year: int = 2023, **more: Any) -> SourcedFact:
    period = FactPeriod(year, None, 12)
    box = Box(0, line, 1, line + 1)
    return SourcedFact("a", Fact(label, Decimal(amount), 1, "USD", period, 0, box, line=line, column=str(year), **more))


def workspace(*facts: SourcedFact) -> Workspace:
    company = SimpleNamespace(key="acme", name="Acme", doc_ids=("a",))
    directory = SimpleNamespace(
        by_key={"acme": company}, identities={"a": Identity("Acme", Form.TEN_K, fiscal_year=2023)}
    )
    index = OneFiling(list(facts))
    return cast(Workspace, SimpleNamespace(index=index, directory=directory, lexicon=load_lexicon()))


def slot(phrase: str, part: str | None = None, year: int = 2023) -> Slot:
    return Slot(company="acme", company_name="Acme", label=phrase, fiscal_year=year, part=part, phrase=phrase)


def networks(stated: int) -> Workspace:
    """Two rows under a total, without a word for sales, and a segment's sales of the amount `stated`."""
    return workspace(
        row(1, "Carrier network", 3200, section=("Optical",)),
        row(2, "Enterprise network", 1149, section=("Optical",)),
        row(3, "Total Optical", 4349, section=("Optical",)),
        row(20, "Net sales", stated, metric="segment_revenue", scope="Optical"),
    )


def test_a_row_is_of_the_metric_that_its_total_is_a_figure_of() -> None:
    found = facts_for(slot("enterprise network sales"), networks(4349))
    assert [hit.sourced.fact.amount for hit in found.matches] == [1149]


def test_a_row_under_another_total_is_not_of_the_metric() -> None:
    assert not facts_for(slot("enterprise network sales"), networks(5000)).matches


def test_a_figure_of_another_year_does_not_fill_a_slot() -> None:
    assert not facts_for(slot("enterprise network sales", year=2022), networks(4349)).matches
