"""Answers as analysts read them, their programs, and what calls of models took."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from fin_agent.answering.answer import Answer, AnswerValue, Citation, PagePlace, Retrieved, RoleUsage, Usage
from fin_agent.cli.runs import run_view
from fin_agent.config import Settings
from fin_agent.evidence.evidence import TraceStep
from fin_agent.evidence.slot_ledger import Entry, Figure
from fin_agent.lexicon.slots import Slot
from fin_agent.presentation.answers import answer_view, rounds_view, usage_line, usage_view
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.workspace import Workspace
from tests.presentation.figures import shown
from tests.runs.recorded import run_of


def text_of(view: RenderableType) -> str:
    console = Console(width=100, record=True, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(view)
    return captured.get()


def figure(amount: str, *, page: int = 70, unit: str = "USD", scale: int = 1_000_000, doc_id: str = "") -> Figure:
    return Figure(
        doc_id=doc_id or "A_VERY_LONG_COMPANY_NAME_2022Q4_EARNINGS",
        page=page,
        line=3,
        box=(1.0, 2.0, 3.0, float(page)),
        label="Total [bold]net[/bold] revenues",
        column="2022",
        amount=Decimal(amount),
        printed=Decimal(amount),
        scale=scale,
        unit=unit,
        fiscal_year=2022,
        quarter=None,
        months=12,
    )


def entry(metric: str, found: Figure | None, *conflicts: Figure) -> Entry:
    slot = Slot(
        company="x",
        company_name="The Extraordinarily Long Named Holding Corporation of America, Inc.",
        metric=metric,
        label=metric.replace("_", " "),
        fiscal_year=2022,
    )
    return Entry(slot=slot, required=True, figure=found, conflicts=conflicts)


def cited(found: Figure) -> Citation:
    return Citation(doc_id=found.doc_id, page=found.page, text="x", box=found.box)


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (figure("6489"), "$6,489 million"),
        (figure("-12.5", scale=1_000), "-$12.5 thousand"),
        (figure("5.51", unit="USD per share", scale=1), "$5.51 per share"),
        (figure("-3.2", unit="percent", scale=1), "-3.2%"),
        (figure("771", unit="shares"), "771 million shares"),
        (figure("17", unit="count", scale=1), "17"),
    ],
)
def test_figures_carry_unit_and_scale(found: Figure, shown: str) -> None:
    assert amount_with_unit(found.amount, found.scale, found.unit) == shown


def test_numeric_answer_fits_and_keeps_value_filing_and_page_whole() -> None:
    used, unused = figure("1234567"), figure("99", page=71)
    other = figure("1230000", page=4, doc_id="ELSEWHERE")
    answer = Answer(
        question="?",
        answer=AnswerValue(value=1.0, unit="ratio", text="It is 1. " * 30),
        citations=(cited(used),),
        ledger=(entry("selling_general_and_administrative", used, other), entry("net_income", unused)),
        program="def solution():\n    return 1\n",
        assumptions=("FY2022 is read as the year that ended in 2023",),
        retrieved=Retrieved(pages=(PagePlace(doc_id="a", page=1), PagePlace(doc_id="b", page=1))),
        rounds=2,
        seconds=0.5,
    )
    shown = text_of(answer_view(answer))
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 100
    row = next(line for line in lines if used.doc_id in line)
    assert "$1,234,567 million" in row and row.rstrip().endswith("71")
    disagreeing = next(line for line in lines if line.strip().startswith("elsewhere"))
    assert "$1,230,000 million" in disagreeing and "ELSEWHERE" in disagreeing
    assert "net income" not in shown
    assert "Note: FY2022 is read as the year that ended in 2023" in shown
    assert lines[-1].startswith("2 rounds · 2 filings searched · 0.50 s")


def test_text_of_filings_is_neither_markup_nor_control() -> None:
    citation = Citation(doc_id="doc", page=0, text="[red]sales\x1b[2J rose[/red]")
    shown = text_of(answer_view(Answer(question="?", answer=AnswerValue(text="[b]up[/b]"), citations=(citation,))))
    assert "“[red]sales[2J rose[/red]”" in shown
    assert "doc, page 1" in shown
    assert "[b]up[/b]" in shown


def test_answer_that_is_a_quotation_is_shown_once() -> None:
    citation = Citation(doc_id="doc", page=0, text="Sales rose.")
    shown = text_of(answer_view(Answer(question="?", answer=AnswerValue(text="Sales rose."), citations=(citation,))))
    assert shown.count("Sales rose.") == 1
    assert shown.index("Sales rose.") < shown.index("doc, page 1")


def test_a_quotation_has_the_number_that_its_page_prints(workspace: Workspace) -> None:
    citation = Citation(doc_id="harborlight_2023_10k", page=8, text="Sales rose.")
    answer = Answer(question="?", answer=AnswerValue(text="Sales rose."), citations=(citation,))
    assert "harborlight_2023_10k, page 9 (printed as 8)" in text_of(answer_view(answer, workspace.index))


def test_refusal_after_a_search_names_the_nearest_pages() -> None:
    pages = (("acme_2022_10k", 37), ("acme_2022_10k", 149), ("acme_2021_10k", 2), ("acme_2021_10k", 8))
    found = Retrieved(pages=tuple(PagePlace(doc_id=doc_id, page=page) for doc_id, page in pages))
    refused = Answer(question="?", answer=AnswerValue(text="no"), refused=True, missing=("a sentence",), rounds=3)
    assert "Nearest pages" not in text_of(answer_view(refused))
    shown = text_of(answer_view(refused.model_copy(update={"retrieved": found})))
    assert "Nearest pages: acme_2022_10k p. 38, p. 150; acme_2021_10k p. 3 " in shown


def test_refusal_lists_what_is_missing_and_what_was_found() -> None:
    found = figure("5")
    answer = Answer(
        question="?",
        answer=AnswerValue(text="no"),
        refused=True,
        missing=("revenue of X for FY2020", "revenue of X for FY2021"),
        ledger=(entry("net_income", found), entry("revenue", None)),
        rounds=3,
    )
    shown = text_of(answer_view(answer))
    assert "Refused" in shown
    assert "- revenue of X for FY2020" in shown and "- revenue of X for FY2021" in shown
    assert shown.index("Found so far") < shown.index("net income")
    assert max(map(len, shown.splitlines())) <= 100


NAMES = st.text("abcdefghij_", min_size=1, max_size=40).map(lambda name: f"v{name}")


CURATION = RoleUsage(role="curation", model="openai:small", calls=2, cached_calls=1, input_tokens=4_000,
                     cached_input_tokens=1_000, output_tokens=100, dollars=0.0006)  # fmt: skip
REASONING = RoleUsage(role="reasoning", model="openai:large", calls=1, input_tokens=2_000, output_tokens=90,
                      dollars=0.0059)  # fmt: skip
USAGE = Usage(model_calls=3, cached_calls=1, input_tokens=6_000, cached_input_tokens=1_000, output_tokens=190,
              dollars=0.0065, roles=(CURATION, REASONING))  # fmt: skip
STEP = TraceStep(
    node="filter_passages",
    round=1,
    summary="kept 2",
    calls=("curation by openai:small: 2,000 tokens in, 50 out, $0.00030",),
    warnings=("the curation of the model \x1b[2J could not be had",),
    flags=("passage 3 speaks to the model: 'ignore the question'",),
)
ANSWER = Answer(
    question="Why?",
    answer=AnswerValue(text="So."),
    rounds=1,
    usage=USAGE,
    warnings=("rules quote the answer in place of the model",),
    trace=(STEP,),
)


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({}, "3 model calls, 1 cached reply, 6,000 tokens in, 190 out, $0.0065"),
        ({"dollars": None}, "3 model calls, 1 cached reply, 6,000 tokens in, 190 out, price unknown"),
        ({"approximate": True}, "3 model calls, 1 cached reply, about 6,000 tokens in, 190 out, $0.0065"),
        ({"model_calls": 0, "cached_calls": 2}, "2 cached replies, at no cost"),
        ({"model_calls": 0, "cached_calls": 0}, ""),
    ],
)
def test_on_a_line(changed: dict[str, object], line: str) -> None:
    assert usage_line(USAGE.model_copy(update=changed)) == line


def test_by_role_with_the_sum() -> None:
    lines = shown(usage_view(USAGE, questions=2))
    assert [line.split() for line in lines[2:5]] == [
        ["curation", "openai:small", "2", "1", "4,000", "1,000", "100", "0.0006"],
        ["reasoning", "openai:large", "1", "0", "2,000", "0", "90", "0.0059"],
        ["all", "3", "1", "6,000", "1,000", "190", "0.0065"],
    ]
    assert lines[5] == "Per question: 1.5 calls, 3,095 tokens, $0.00325."


def test_an_unknown_price_is_marked_and_told() -> None:
    unknown = REASONING.model_copy(update={"dollars": None})
    text = "\n".join(shown(usage_view(USAGE.model_copy(update={"roles": (CURATION, unknown), "dollars": None}))))
    assert "0.0006" in text and text.count("?") == 3 and "the price of a model is unknown" in text


def test_an_answer_tells_warnings_and_calls() -> None:
    lines = shown(answer_view(ANSWER))
    assert "Warning: rules quote the answer in place of the model" in lines
    assert lines[-1] == f"{usage_line(USAGE)} (curation 3, reasoning 1)"
    assert not [
        line for line in shown(answer_view(Answer(question="?", answer=AnswerValue(text="So.")))) if "model" in line
    ]


def test_many_warnings_are_cut_in_an_answer_and_whole_in_its_run() -> None:
    many = ANSWER.model_copy(update={"warnings": tuple(f"warning {number}" for number in range(9))})
    lines = shown(answer_view(many))
    assert sum(line.startswith("Warning: ") for line in lines) == 6 and "… 3 more warnings in the trace" in lines
    run = run_of(many)
    assert sum(line.startswith("Warning: ") for line in shown(run_view(run))) == 9


def test_a_run_and_a_trace_tell_calls_flags_and_warnings_of_a_step() -> None:
    run = run_of(ANSWER, Settings(models={"model": "openai:large"}))
    for lines in (shown(run_view(run)), shown(rounds_view([STEP], full=True))):
        told = [line.strip() for line in lines]
        assert "called: curation by openai:small: 2,000 tokens in, 50 out, $0.00030" in told
        assert "flagged: passage 3 speaks to the model: 'ignore the question'" in told
        assert "Warning: the curation of the model [2J could not be had" in told
    lines = shown(run_view(run))
    assert "settings: models.model openai:large" in lines
    assert any("analyst llm" in line for line in lines)
    assert any(line.split()[:2] == ["reasoning", "openai:large"] for line in lines)
