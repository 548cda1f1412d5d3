"""The figures of whole companies: those of the statements as the samples were made, and what is left out."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from fin_agent.evaluation.generated.question_material import QuestionMaterial, figures_of_tags, period_of
from fin_agent.evaluation.generated.truth import Figures
from fin_agent.evaluation.xbrl_truth import TrueTag
from fin_agent.lexicon.lexicon import load_lexicon
from tests.evaluation.generated.making import SEGMENT, filing, tag

ROWS = {
    ("income", "Net sales"): "revenue",
    ("income", "Gross profit"): "gross_profit",
    ("income", "Operating income"): "operating_income",
    ("income", "Net income"): "net_income",
    ("balance", "Total current assets"): "current_assets",
    ("balance", "Total assets"): "total_assets",
    ("balance", "Accounts payable"): "accounts_payable",
}


@pytest.mark.parametrize("doc_id", ["harborlight_2025_10k", "quillmark_2025q2_10q"])
def test_figures_are_those_the_samples_were_made_with(
    doc_id: str, tagged_material: QuestionMaterial, sample_html: Path
) -> None:
    made = {each["doc_id"]: each for each in json.loads((sample_html / "expected.json").read_text(encoding="utf-8"))}
    owner = tagged_material.workspace.directory.owners[doc_id]
    last = date.fromisoformat(made[doc_id]["period_end"])
    found = 0
    for (statement, label), metric in ROWS.items():
        for row in made[doc_id]["statements"][statement]["rows"]:
            if row["label"] != label:
                continue
            for start, end, value in row["values"]:
                if made[doc_id]["quarter"] and not _is_of_the_quarter(start, end, made[doc_id]["period_end"]):
                    continue
                year = made[doc_id]["fiscal_year"] - round((last - date.fromisoformat(end)).days / 365)
                figure = tagged_material.figures.figure(owner, metric, year, made[doc_id]["quarter"])
                assert figure is not None and float(figure.value) == float(value), (label, end)
                found += 1
    assert found >= 5


def _is_of_the_quarter(start: str | None, end: str, last: str) -> bool:
    return end == last and (start is None or (date.fromisoformat(end) - date.fromisoformat(start)).days < 100)


def _figures(*tags: TrueTag) -> Figures:
    return figures_of_tags(
        [filing(*tags)], {"a24": "a"}, load_lexicon(), {"net_income": "revenue"}, ("accounts_payable",)
    )


INCOME = (tag("IncomeTaxExpenseBenefit", 3), tag("EarningsPerShareDiluted", 1))


def test_tags_that_differ_leave_no_figure_and_rounded_ones_do() -> None:
    sales = tag("Revenues", 1234)
    in_billions = tag("Revenues", 1200, table=None, step=100_000_000)
    agreed = _figures(sales, in_billions, *INCOME).figure("a", "revenue", 2024)
    assert agreed is not None and (agreed.value, agreed.step) == (1_234_000_000, 1_000_000)
    differing = _figures(sales, tag("RevenueFromContractWithCustomerExcludingAssessedTax", 1111), *INCOME)
    assert differing.figure("a", "revenue", 2024) is None and differing.is_named("a", "revenue", 2024)


def test_what_only_a_note_gives_is_no_figure_of_the_statement() -> None:
    noted = _figures(tag("Revenues", 1234, table=7), *INCOME)
    assert noted.figure("a", "revenue", 2024) is None
    payable = _figures(tag("AccountsPayableCurrent", 12, table=7, instant=True))
    assert payable.figure("a", "accounts_payable", 2024) is not None


def test_zeros_parts_and_other_units_are_left_out() -> None:
    assert _figures(tag("Revenues", 0), *INCOME).figure("a", "revenue", 2024) is None
    assert _figures(tag("Revenues", 5, (SEGMENT, "a:OneMember")), *INCOME).figure("a", "revenue", 2024) is None
    assert _figures(tag("Revenues", 5, unit="EUR"), *INCOME).figure("a", "revenue", 2024) is None


def test_a_metric_stands_in_where_no_tag_states_the_other() -> None:
    assert (found := _figures(tag("Revenues", 5), *INCOME).figure("a", "net_income", 2024)) is not None
    assert found.value == 5_000_000
    own = _figures(tag("Revenues", 5), tag("ProfitLoss", 0), *INCOME)
    assert own.figure("a", "net_income", 2024) is None


def test_a_tax_benefit_keeps_its_sign() -> None:
    figures = _figures(tag("IncomeTaxExpenseBenefit", -3), INCOME[1])
    assert (found := figures.figure("a", "income_tax_expense", 2024)) is not None and found.value == -3_000_000


@pytest.mark.parametrize(
    ("start", "end", "period"),
    [
        (date(2024, 1, 1), date(2024, 12, 31), (2024, None)),
        (date(2022, 1, 2), date(2022, 12, 30), (2022, None)),
        (None, date(2023, 12, 31), (2023, None)),
        (None, date(2021, 12, 31), None),
        (None, date(2024, 6, 30), None),
        (date(2024, 7, 1), date(2024, 12, 31), None),
        (date(2024, 10, 1), date(2024, 12, 31), None),
    ],
)
def test_periods_of_an_annual_report(start: date | None, end: date, period: tuple[int, int | None] | None) -> None:
    assert period_of(start, end, filing()) == period


@pytest.mark.parametrize(
    ("start", "end", "period"),
    [
        (date(2024, 4, 1), date(2024, 6, 30), (2024, 2)),
        (date(2023, 4, 2), date(2023, 7, 1), (2023, 2)),
        (date(2024, 1, 1), date(2024, 6, 30), None),
        (date(2024, 1, 1), date(2024, 3, 31), None),
        (None, date(2024, 6, 30), (2024, 2)),
        (None, date(2023, 12, 31), (2023, None)),
        (None, date(2023, 6, 30), None),
    ],
)
def test_periods_of_a_quarterly_report(start: date | None, end: date, period: tuple[int, int | None] | None) -> None:
    assert period_of(start, end, filing(quarter=2, end=date(2024, 6, 30))) == period
