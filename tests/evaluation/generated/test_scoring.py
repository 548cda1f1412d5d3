"""What counts as right, full, and named as missing."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.evaluation import Family
from fin_agent.evaluation.benchmark import report_of, write_csv
from fin_agent.evaluation.generated.truth import ExpectedAnswer, GeneratedQuestion, SlotKey, has_failed, judge
from fin_agent.evidence.intent import OutputUnit
from fin_agent.evidence.slot_ledger import Entry, Figure
from fin_agent.lexicon.company_names import Company
from fin_agent.lexicon.slots import Slot

COMPANIES = {
    "a": Company("a", "Anvil, Inc.", ("Anvil, Inc.",), ("ANV",), ()),
    "k": Company("k", "Kestrel plc", ("Kestrel plc",), (), ()),
}
TOTAL = GeneratedQuestion(
    id="t",
    family=Family.MULTI_FILING,
    kind="total",
    text="What was Anvil's total revenue over FY2019-FY2020?",
    slots=(SlotKey("a", "revenue", 2019), SlotKey("a", "revenue", 2020)),
    filings=("a19", "a20"),
    expected=ExpectedAnswer(3e9, "USD", 2e6),
)
ABSENT = GeneratedQuestion(
    id="p",
    family=Family.UNANSWERABLE,
    kind="period not filed",
    text="What was Anvil's capex in Q3 FY2019?",
    missing_names=(("Q3", "third quarter"), ("FY2019", "2019")),
)


def entry(
    year: int, *, company: str = "a", metric: str = "revenue", filled: bool = True, required: bool = True
) -> Entry:
    slot = Slot(company=company, company_name=company, metric=metric, label=metric, fiscal_year=year)
    figure = Figure.model_validate(
        {
            "doc_id": "a19", "page": 0, "line": 0, "box": (0, 0, 1, 1), "label": "Revenue", "column": "", "amount": 1,
            "printed": 1, "scale": 1, "unit": "USD", "fiscal_year": year, "quarter": None, "months": 12,
        }
    )  # fmt: skip
    return Entry(slot=slot, required=required, figure=figure if filled else None)


def answered(value: float | None, unit: OutputUnit | None = "USD millions", text: str = "", *entries: Entry) -> Answer:
    ledger = entries or (entry(2019), entry(2020))
    return Answer(question="", answer=AnswerValue(value=value, unit=unit, text=text), ledger=ledger, rounds=1)


@pytest.mark.parametrize(
    ("value", "unit", "right"),
    [
        (3_000, "USD millions", True),
        (3_001.9, "USD millions", True),
        (3.01, "USD billions", True),
        (3_020, "USD millions", False),
        (-3_000, "USD millions", False),
        (None, None, False),
    ],
)
def test_a_value_is_right_within_its_rounding_in_any_unit(value: float | None, unit: OutputUnit, right: bool) -> None:
    assert judge(TOTAL, answered(value, unit), COMPANIES).figures["right"] is right


def test_a_difference_may_be_told_either_way_round() -> None:
    question = replace(TOTAL, expected=ExpectedAnswer(3e9, "USD", signed=False))
    assert judge(question, answered(-3_000), COMPANIES).figures["right"]


def test_the_company_first_named_is_the_one_chosen() -> None:
    question = replace(TOTAL, expected=ExpectedAnswer(5.0, "ratio", company="k"))
    text = "Kestrel plc has the highest ratio: 5.00 (Anvil, Inc.: 4.00)."
    assert judge(question, answered(5.0, "ratio", text), COMPANIES).figures["right"]
    turned = "Anvil, Inc. has the highest ratio: 5.00 (Kestrel plc: 4.00)."
    assert not judge(question, answered(5.0, "ratio", turned), COMPANIES).figures["right"]
    assert not judge(question, answered(5.0, "ratio", "Nobody stands out."), COMPANIES).figures["right"]
    assert judge(question, answered(None, None, "Kestrel plc, before Anvil, Inc."), COMPANIES).figures["right"]
    assert not judge(question, answered(7.0, "ratio", text), COMPANIES).figures["right"]


def test_a_ledger_is_full_where_no_required_slot_is_empty_within_three_rounds() -> None:
    full = judge(TOTAL, answered(3_000), COMPANIES)
    assert full.figures["full_ledger"] and not has_failed(full)
    lacking = judge(TOTAL, answered(3_000, "USD millions", "", entry(2019), entry(2020, filled=False)), COMPANIES)
    assert not lacking.figures["full_ledger"] and has_failed(lacking)
    assert lacking.figures["slots_lacking"] == ["a revenue FY2020"]
    late = judge(TOTAL, answered(3_000).model_copy(update={"rounds": 4}), COMPANIES)
    assert not late.figures["full_ledger"]
    none = judge(TOTAL, Answer(question="", answer=AnswerValue(text="Words."), rounds=1), COMPANIES)
    assert not none.figures["full_ledger"] and has_failed(none)
    optional = answered(3_000, "USD millions", "", entry(2018, required=False, filled=False), entry(2019), entry(2020))
    assert judge(TOTAL, optional, COMPANIES).figures["full_ledger"]


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ("Q3 FY2019 of Anvil, Inc. is not in the index", True),
        ("the third quarter of 2019 was not found", True),
        ("Q3 FY2018 of Anvil, Inc. is not in the index", False),
        ("FY2019 of Anvil, Inc. is not in the index", False),
        ("Q30 of 12019", False),
    ],
)
def test_a_refusal_has_to_name_what_is_missing(missing: str, named: bool) -> None:
    refusal = Answer(question="", answer=AnswerValue(text="Refused."), refused=True, missing=(missing,))
    outcome = judge(ABSENT, refusal, COMPANIES)
    assert outcome.figures["missing_named"] is named
    assert has_failed(outcome) is not named
    assert outcome.figures["right"] is outcome.figures["full_ledger"] is None


def test_an_answer_where_a_refusal_was_due_is_a_failure() -> None:
    assert has_failed(judge(ABSENT, answered(3.0, "USD", "Q3 FY2019: 3"), COMPANIES))


def test_a_tagged_figure_has_to_agree_to_its_last_digit() -> None:
    exact = replace(TOTAL, exact=True, expected=ExpectedAnswer(3e9, "USD", 1e6))
    assert judge(exact, answered(3_001), COMPANIES).figures["right"]
    assert not judge(exact, answered(3_003), COMPANIES).figures["right"]
    assert judge(replace(exact, exact=False), answered(3_003), COMPANIES).figures["right"]
    assert not judge(exact, answered(None), COMPANIES).figures["right"]


def test_a_report_counts_each_kind_and_lists_every_failure(tmp_path: Path) -> None:
    right = judge(TOTAL, answered(3_000), COMPANIES)
    wrong = judge(TOTAL, answered(9_000).model_copy(update={"rounds": 3}), COMPANIES)
    refusal = Answer(question="", answer=AnswerValue(text="No."), refused=True, missing=("Q3 FY2019",))
    refused = judge(ABSENT, refusal, COMPANIES)
    report = report_of("generated", [right, wrong, refused], title="Made")
    multi, unanswerable = report.of("multi-filing"), report.of("unanswerable")
    assert [multi[name] for name in ("questions", "full_ledger", "right", "refused")] == [2, 1.0, 0.5, 0.0]
    assert [multi[name] for name in ("rounds", "wrong", "missing_named")] == [{1: 1, 3: 1}, 0.5, None]
    assert [unanswerable[name] for name in ("refused", "missing_named", "right")] == [1.0, 1.0, None]
    assert [has_failed(row) for row in (right, wrong, refused)] == [False, True, False]
    assert wrong.gold == "3,000,000,000 USD"
    console = Console(width=160)
    with console.capture() as captured:
        console.print(*report.as_tables())
    assert "multi-filing" in captured.get() and "1/0/1" in captured.get()
    narrow = Console(width=100)
    with narrow.capture() as captured:
        narrow.print(*report.as_tables())
    shown = captured.get()
    assert "…" not in shown and all(heading in shown for heading in ("rounds", "right", "refused", "wrong", "named"))
    write_csv([right, wrong, refused], tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == ["total", "total", "period not filed"]
    assert rows[0]["filings"] == "a19; a20"
