"""The entries as shipped, the loader's checks, and the expressions."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from fin_agent.errors import LexiconError
from fin_agent.lexicon.entry_loading import expression_inputs, parse_expression
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.page import Statement


def test_the_lexicon_is_as_large_as_promised() -> None:
    lexicon = load_lexicon()
    assert len(lexicon.metrics) >= 250
    assert len(lexicon.formulas) >= 60
    assert len(lexicon.topic_entries) >= 30


def test_loading_is_cached() -> None:
    assert load_lexicon() is load_lexicon()


def test_entries_are_frozen() -> None:
    with pytest.raises(ValidationError):
        load_lexicon().metrics["revenue"].unit = "percent"  # type: ignore[misc]


def test_every_metric_can_be_found_by_a_label_or_a_word() -> None:
    silent = [metric.id for metric in load_lexicon().metrics.values() if not (metric.labels or metric.words)]
    assert silent == []


def test_every_label_leads_to_its_own_metric_on_its_own_statement() -> None:
    lexicon = load_lexicon()
    astray = []
    for metric in lexicon.metrics.values():
        for label in metric.labels:
            if metric.statement is None or ">" in label:
                continue
            found = lexicon.metric_of_label(label, metric.statement)
            if found != metric.id:
                astray.append((label, metric.id, found))
    assert astray == []


def test_outflows_are_cash_leaving_or_contra_balances() -> None:
    lexicon = load_lexicon()
    assert lexicon.metrics["capital_expenditures"].sign == "outflow"
    assert lexicon.metrics["dividends_paid"].sign == "outflow"
    assert lexicon.metrics["revenue"].sign == "as printed"
    assert lexicon.metrics["cost_of_revenue"].sign == "expense"


def test_concepts_lead_to_metrics() -> None:
    lexicon = load_lexicon()
    assert lexicon.metric_of_concept("us-gaap:AssetsCurrent") == "current_assets"
    assert lexicon.metric_of_concept("PaymentsToAcquirePropertyPlantAndEquipment") == "capital_expenditures"
    assert lexicon.metric_of_concept("us-gaap:NoSuchElement") is None


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("days_payable_outstanding", ("accounts_payable", "cost_of_revenue", "inventories")),
        ("free_cash_flow", ("cash_from_operations", "capital_expenditures")),
        ("ebitda", ("operating_income", "depreciation_and_amortization")),
        ("current_ratio", ("current_assets", "current_liabilities")),
    ],
)
def test_formulas_take_the_standard_inputs(name: str, inputs: tuple[str, ...]) -> None:
    assert expression_inputs(load_lexicon().formulas[name].expression) == inputs


def test_percent_formulas_are_written_out_in_percent() -> None:
    for formula in load_lexicon().formulas.values():
        if formula.unit == "percent":
            assert formula.expression.startswith("100 * "), formula.id


@pytest.mark.parametrize(
    "expression",
    [
        "revenue ** 2",
        "open('x')",
        "revenue.unit",
        "lambda: 1",
        "revenue if cash else 0",
        "avg(revenue, cash)",
        "1 +",
        "'a'",
    ],
)
def test_an_expression_holds_arithmetic_only(expression: str) -> None:
    with pytest.raises(ValueError, match=r"allowed|parsed|takes|unknown function"):
        parse_expression(expression)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("metrics:\n  a: {labels: X}\n  a: {labels: Y}\n", "given twice"),
        ("metrics:\n  a: {labels: Net sales, statement: income}\n", "also claimed by metric revenue"),
        ("metrics:\n  a: {labels: nowhere > X}\n", "section `nowhere`"),
        ("metrics:\n  a: {labels: X, colour: red}\n", "colour"),
        ("metrics:\n  a: {labels: X, derive: revenue - nothing}\n", "`nothing` is neither a metric nor a formula"),
        ("metrics:\n  revenue: {derive: gross_profit + cost_of_revenue}\n", "refers to itself"),
        ("metrics:\n  a: {words: COGS}\n", "also names cost_of_revenue"),
        ("metrics:\n  a: {patterns: ['(']}\n", "not a regular expression"),
        (
            "formulas:\n  f: {words: f, expression: median(revenue), unit: ratio, meaning: m}\n",
            "unknown function `median`",
        ),
        ("formulas:\n  revenue: {words: f, expression: total_assets, unit: USD, meaning: m}\n", "has the same id"),
        ("topics:\n  t: {words: w, items: 10-K.99, expand: e}\n", "Item `10-K.99` is not defined"),
        ("statements:\n  ledger: {titles: Ledger}\n", "not a primary statement"),
        ("companies:\n  a: {}\n", "unknown heading `companies`"),
        ("metrics: [a]\n", "not a mapping"),
        ("metrics:\n  a: 1\n", "not a mapping"),
        ("- a\n", "contains no headings"),
        ("metrics: {", "not valid YAML"),
    ],
)
def test_a_bad_file_is_named_with_what_to_do(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "own.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(LexiconError) as raised:
        load_lexicon(tmp_path)
    assert message in str(raised.value)
    assert "own.yaml" in str(raised.value)
    assert raised.value.remedy


def test_an_id_given_in_two_files_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("metrics:\n  widgets: {labels: Widgets}\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("metrics:\n  widgets: {labels: More widgets}\n", encoding="utf-8")
    with pytest.raises(LexiconError, match=r"also given in .*a\.yaml"):
        load_lexicon(tmp_path)


def test_a_folder_that_is_missing_or_empty_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match="no such folder"):
        load_lexicon(tmp_path / "none")
    with pytest.raises(LexiconError, match="no lexicon file"):
        load_lexicon(tmp_path)


def test_a_user_adds_and_overrides_entries(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "metrics:\n"
        "  widgets_sold: {labels: Widgets sold, words: widget volume, unit: count, statement: other}\n"
        "  revenue: {labels: + Takings from fairs}\n"
        "formulas:\n"
        "  price_per_widget:\n"
        "    {words: price per widget, expression: revenue / widgets_sold, unit: USD, meaning: revenue per widget}\n"
        "  quick_ratio: {meaning: ours}\n",
        encoding="utf-8",
    )
    lexicon = load_lexicon(tmp_path)
    assert lexicon.metric_of_label("Widgets sold", None) == "widgets_sold"
    assert lexicon.metric_of_label("Takings from fairs", Statement.INCOME) == "revenue"
    assert lexicon.metric_of_label("Net sales", Statement.INCOME) == "revenue"
    assert [mention.id for mention in lexicon.mentions("price per widget and widget volume")] == [
        "price_per_widget",
        "widgets_sold",
    ]
    assert lexicon.formulas["quick_ratio"].meaning == "ours"
    assert lexicon.formulas["quick_ratio"].expression == load_lexicon().formulas["quick_ratio"].expression
    assert load_lexicon().metric_of_label("Takings from fairs", Statement.INCOME) is None


def test_a_definition_is_a_metric_or_a_formula() -> None:
    lexicon = load_lexicon()
    assert lexicon.definition("revenue") is lexicon.metrics["revenue"]
    assert lexicon.definition("quick_ratio") is lexicon.formulas["quick_ratio"]
    with pytest.raises(LexiconError, match="no metric or formula"):
        lexicon.definition("magic")


def test_items_know_their_form() -> None:
    items = load_lexicon().items
    assert (items["10-Q.II.1A"].form, items["8-K.5.07"].form) == ("10-Q", "8-K")
