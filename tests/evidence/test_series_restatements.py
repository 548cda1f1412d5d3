"""Years of a series are taken from reports of one time; where that cannot be, it is said."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from fin_agent.evidence.report_selection import Basis, basis_of
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.slots import Slot
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from tests.evidence.filed import workspace_of

IDENTITIES = {f"acme{year}": Identity("Acme", Form.TEN_K, year, None, date(year, 12, 31)) for year in range(2015, 2024)}
OWNERS = dict.fromkeys(IDENTITIES, "acme")


def slot(year: int, metric: str = "diluted_eps") -> Slot:
    return Slot(company="acme", company_name="Acme", metric=metric, label=metric, fiscal_year=year)


def states(filing: int, year: int, amount: str, metric: str = "diluted_eps") -> SourcedFact:
    unit, scale = ("USD per share", 1) if metric == "diluted_eps" else ("USD", 1_000_000)
    period = FactPeriod(year, None, 12, date(year, 12, 31))
    fact = Fact("Row", Decimal(amount), scale, unit, period, 40, Box(0, 0, 9, 9), metric=metric, column=str(year),
                statement=Statement.INCOME)  # fmt: skip
    return SourcedFact(f"acme{filing}", fact)


def basis(slots: list[Slot], *facts: SourcedFact) -> Basis:
    return basis_of(slots, facts, workspace_of(OWNERS, IDENTITIES))


def taken(found: Basis) -> dict[int, tuple[str, str]]:
    return {one.fiscal_year: (fact.doc_id, str(fact.fact.amount)) for one, fact in found.preferred.items()}


def test_a_split_inside_the_series_is_in_all_of_its_years() -> None:
    found = basis(
        [slot(2015), slot(2018)],
        states(2015, 2015, "3.70"), states(2016, 2015, "1.85"), states(2016, 2016, "2.16"), states(2017, 2015, "1.85"),
        states(2018, 2018, "1.17"), states(2018, 2016, "2.16"),
    )  # fmt: skip
    assert taken(found) == {2015: ("acme2017", "1.85"), 2018: ("acme2018", "1.17")}
    assert not found.incomparable


def test_what_is_restated_after_the_series_does_not_count() -> None:
    found = basis(
        [slot(2016, "revenue"), slot(2017, "revenue")],
        states(2016, 2016, "85", "revenue"), states(2017, 2016, "85", "revenue"), states(2017, 2017, "90", "revenue"),
        states(2018, 2016, "91", "revenue"), states(2018, 2017, "97", "revenue"),
    )  # fmt: skip
    assert taken(found) == {2016: ("acme2017", "85"), 2017: ("acme2017", "90")}


SPLIT = (
    states(2019, 2019, "23.01"), states(2021, 2019, "23.01"), states(2021, 2020, "41.83"), states(2021, 2021, "64.81"),
    states(2022, 2020, "2.09"), states(2022, 2021, "3.24"), states(2022, 2022, "-0.27"),
)  # fmt: skip


@pytest.mark.parametrize("years", [(2019, 2022), (2019, 2020, 2021, 2022)])
def test_reports_that_count_shares_differently_cannot_be_joined(years: tuple[int, ...]) -> None:
    found = basis([slot(year) for year in years], *SPLIT)
    assert taken(found)[2019] == ("acme2021", "23.01")
    (words,) = found.incomparable
    assert "64.81" in words
    assert "3.24" in words


def test_a_split_between_two_reports_that_share_no_year_is_seen_in_those_between() -> None:
    later = (states(2023, 2023, "2.90"), states(2023, 2021, "3.24"))
    found = basis([slot(2017), slot(2023)], states(2017, 2017, "20"), states(2019, 2017, "20"), *SPLIT, *later)
    assert taken(found)[2017] == ("acme2019", "20")
    assert len(found.incomparable) == 1


def test_a_small_restatement_is_told() -> None:
    found = basis(
        [slot(year, "revenue") for year in (2015, 2016, 2018)],
        states(2017, 2015, "100", "revenue"), states(2017, 2016, "110", "revenue"),
        states(2018, 2016, "118", "revenue"), states(2018, 2018, "140", "revenue"),
    )  # fmt: skip
    assert taken(found)[2016] == ("acme2018", "118")
    assert not found.incomparable
    assert ["110" in words and "118" in words for words in found.restated] == [True]


def test_a_single_year_and_a_quarter_have_no_series() -> None:
    assert basis([slot(2016)], states(2016, 2016, "1")).preferred == {}
    quarters = [slot(year).model_copy(update={"quarter": 2}) for year in (2016, 2017)]
    assert basis(quarters, states(2016, 2016, "1")).preferred == {}
