"""Programs of a model: written from figures of the company and period asked about, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

import pytest

from fin_agent.analyst.events import journal
from fin_agent.analyst.model.analyst import ModelAnalyst
from fin_agent.analyst.model.programs import MOST_FIGURES, _is_called, offered_figures, years_allowed
from fin_agent.answering.program import Program
from fin_agent.errors import SandboxError
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.index.protocol import PageKey, SourcedFact
from fin_agent.testing import ModelCall, ScriptedChatModel
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace
from tests.analyst.model.clients import NOTHING, Offered, Prompted, analyst, offered, program, roles

MEDIAN = "What was the median of Harborlight's revenue over FY2022 - FY2024?"
ONE_YEAR = "What was the median of Harborlight's revenue in FY2023?"
QUARTER = "What was the median of Harborlight's revenue in Q3 FY2024?"
BOTH = "What was the median of revenue of Harborlight and Tellurond in FY2024?"
PART = "What was the median of Harborlight's Environmental Sensing net sales in FY2024?"
SALES = {f"sales_{year}": ("Net sales", f"FY{year}") for year in (2022, 2023, 2024)}
OF_2023 = {"sales_2023": ("Net sales", "FY2023")}
FILED_FOR_2023 = ("harborlight_2023_10k", "tellurond_2023_10k")

Replying = Callable[[ModelCall], Mapping[str, object]] | Mapping[str, object] | str


def pages_of(workspace: Workspace, doc_id: str) -> list[Evidence]:
    keys = [PageKey(doc_id, page) for page in range(workspace.index.filing(doc_id).page_count)]
    stored = workspace.index.passages(keys)
    return [Evidence(passage=RetrievedPassage.of(each, 0.0, 1), why="") for each in stored]


def asked(
    workspace: Workspace,
    question: str,
    reply: Replying | list[Replying],
    *doc_ids: str,
    then: Callable[[ModelAnalyst, Intent, list[Evidence]], Program | None] | None = None,
    **update: object,
) -> tuple[Program | None, str, tuple[str, ...], ScriptedChatModel]:
    """The program, why there is none, the warnings, and the model."""
    writing, model = analyst(workspace, {"program": reply, "program_repair": reply, "intent": NOTHING})  # type: ignore[dict-item]
    intent = writing.intent(question).model_copy(update=update)
    evidence = [each for doc_id in doc_ids or ("harborlight_2024_10k",) for each in pages_of(workspace, doc_id)]
    before = len(model.calls)
    with journal() as notes:
        try:
            if then is not None:
                found = then(writing, intent, evidence)
            else:
                found = writing.program(intent, writing.plan(intent), Ledger(), evidence)
            why = ""
        except ValueError as failure:
            found, why = None, str(failure)
    del model._calls[:before]
    return found, why, notes.warnings, model


def test_a_program_names_its_figures_and_their_places(workspace: Workspace) -> None:
    found, why, warnings, model = asked(
        workspace, MEDIAN, program(SALES, "sorted([sales_2022, sales_2023, sales_2024])[1]", "USD millions")
    )
    assert found is not None and (why, warnings) == ("", ()) and roles(model) == ["program"]
    assert found.by_model and found.unit == "USD millions"
    figures = sorted(found.variables.values(), key=lambda figure: figure.fiscal_year)
    assert [(each.label, int(each.amount), each.fiscal_year) for each in figures] == [
        ("Net sales", 3334, 2022), ("Net sales", 3533, 2023), ("Net sales", 3763, 2024),
    ]  # fmt: skip
    assert {each.doc_id for each in figures} == {"harborlight_2024_10k"}


def test_a_model_is_shown_figures_of_the_company_and_years_asked_about_only(workspace: Workspace) -> None:
    _, _, _, model = asked(
        workspace,
        ONE_YEAR,
        program(OF_2023, "sales_2023", "USD millions"),
        "harborlight_2023_10k",
        "tellurond_2023_10k",
    )
    shown = offered(model.calls[0].text)
    assert len(shown) > 40 and [each.number for each in shown] == list(range(1, len(shown) + 1))
    assert "tellurond" not in model.calls[0].text
    assert {each.period[-6:] for each in shown} <= {"FY2020", "FY2021", "FY2022", "FY2023"}


def test_figures_are_offered_once_at_most_so_many_and_those_the_question_names_first(workspace: Workspace) -> None:
    reading, _ = analyst(workspace, NOTHING)
    intent = reading._rules.intent(BOTH)
    evidence = [
        each for doc_id in ("harborlight_2024_10k", "tellurond_2024_10k") for each in pages_of(workspace, doc_id)
    ]
    listed = offered_figures(intent, Ledger(), evidence, workspace)
    assert len(listed) == MOST_FIGURES == len(set(listed))
    assert {each.doc_id for each in listed if each.fact.metric == "revenue"} == {
        "harborlight_2024_10k", "tellurond_2024_10k",
    }  # fmt: skip
    assert years_allowed(intent, workspace) == range(2021, 2025)
    nobody = intent.model_copy(update={"companies": ()})
    assert offered_figures(nobody, Ledger(), evidence, workspace) == ()
    assert offered_figures(intent, Ledger(), [], workspace) == ()


def refuses(**fields: object) -> Mapping[str, object]:
    return {"inputs": [1], "code": "def solution():\n    return 5", "unit": "USD", "missing": None, **fields}


@pytest.mark.parametrize(
    ("question", "reply", "told"),
    [
        (MEDIAN, refuses(inputs=[]), "`inputs` names no figure"),
        (MEDIAN, refuses(inputs=[1, 9_999]), "there are no figures 9999: 1 to"),
        (MEDIAN, refuses(inputs=[0]), "there are no figures 0"),
        (MEDIAN, refuses(code="#" * 30_000), "`code` has 30,000 characters"),
        (ONE_YEAR, program({"sales": ("Net sales", "FY2022")}, "sales", "USD millions"), "of FY2023"),
        (
            ONE_YEAR,
            program({"other": ("Net sales", "FY2022"), **OF_2023}, "other", "USD millions"),
            "none of its figures is of FY2023",
        ),
        (QUARTER, program({"sales": ("Net sales", "| FY2024")}, "sales", "USD millions"), "of Q3 FY2024"),
        (BOTH, program({"sales": ("Net sales", "FY2024")}, "sales", "USD millions"), "is of Tellurond"),
        (
            PART,
            program({"sales": ("Cost of sales", "FY2024")}, "sales", "USD millions"),
            "none of its figures is of the part 'Environmental Sensing'",
        ),
    ],
)
def test_a_program_that_passes_the_question_by_is_sent_back_once_and_left(
    workspace: Workspace, question: str, reply: Replying, told: str
) -> None:
    parts = {"parts": ("Environmental Sensing",)} if question == PART else {}
    if question == QUARTER:
        reply = _annual
    found, why, warnings, model = asked(workspace, question, reply, **parts)
    assert found is None and why == "the model wrote no program that can be used"
    assert roles(model) == ["program", "program"]
    (warning,) = warnings
    assert (
        warning.startswith("the program of the model could not be had: two replies could not be used: ")
        and told in warning
    )
    assert told in model.calls[1].text


def _annual(call: ModelCall) -> Mapping[str, object]:
    """Takes the year's figure for that of a quarter."""
    figure: Offered = next(each for each in offered(call.text) if each.label == "Net sales" and each.period == "FY2024")
    code = f"def solution():\n    sales = {figure.amount}  # {figure.unit}: 'Net sales'\n    return sales"
    return {"inputs": [figure.number], "code": code, "unit": "USD millions"}


def test_a_fault_that_is_mended_leaves_no_warning(workspace: Workspace) -> None:
    turns: list[Replying] = [refuses(inputs=[]), program(OF_2023, "sales_2023", "USD millions")]
    found, _, warnings, model = asked(workspace, ONE_YEAR, turns)
    assert found is not None and warnings == () and len(model.calls) == 2
    assert "`inputs` names no figure" in model.calls[1].text and "`inputs` names no figure" not in model.calls[0].text


def test_no_program_and_why(workspace: Workspace) -> None:
    none = {"inputs": [], "code": "", "unit": None}
    found, why, warnings, model = asked(workspace, MEDIAN, {**none, "missing": "the sales\nof FY2022"})
    assert (found, why, warnings) == (None, "the sales of FY2022", ()) and len(model.calls) == 1
    for said in (None, "the answer is 42.5"):
        assert asked(workspace, MEDIAN, {**none, "missing": said})[1] == "the model finds the figures not enough"
    assert asked(workspace, MEDIAN, none)[1] == "the model finds the figures not enough"
    found, why, _, model = asked(workspace, MEDIAN, NOTHING, "tellurond_2024_10k")
    assert why == "the passages kept hold no figures of the company and period asked about" and model.calls == []


def test_the_fourth_quarter_may_be_what_a_year_has_beyond_three(workspace: Workspace) -> None:
    question = "What was the median of Harborlight's revenue in Q4 FY2024?"
    reply = program({"year": ("Net sales", "FY2024")}, "year", "USD millions")
    assert asked(workspace, question, reply)[0] is not None


def test_a_program_is_repaired_with_what_was_wrong_before_it(workspace: Workspace) -> None:
    first = Program("def solution():\n    return 41", {}, 1, (), by_model=True)
    problem = SandboxError("41 has no source", remedy="Use the figures.")

    def repaired(writing: ModelAnalyst, intent: Intent, evidence: list[Evidence]) -> Program | None:
        return writing.repaired_program(intent, writing.plan(intent), Ledger(), evidence, first, problem)

    found, _, warnings, model = asked(
        workspace, ONE_YEAR, program(OF_2023, "sales_2023", "USD millions"), then=repaired
    )
    assert found is not None and warnings == () and roles(model) == ["program_repair"]
    assert "return 41" in model.calls[0].text and "41 has no source. Use the figures." in model.calls[0].text
    none = asked(workspace, ONE_YEAR, {"inputs": [], "code": " ", "missing": "a figure"}, then=repaired)
    assert none[0] is None and none[2] == ()
    wrong = asked(
        workspace, ONE_YEAR, program({"sales": ("Net sales", "FY2022")}, "sales", "USD millions"), then=repaired
    )
    assert wrong[0] is None and "the program-repair of the model could not be had" in wrong[2][0]


def _of(*lines: tuple[str, str], unit: str = "USD millions") -> Replying:
    """A program over figures by the whole of their labels."""

    def written(call: Prompted) -> Mapping[str, object]:
        listed = offered(call.text)
        chosen = [
            next(each for each in listed if each.label.split(" > ")[-1] == label and each.period == period)
            for label, period in lines
        ]
        given = [f"    figure_{place} = {each.amount}" for place, each in enumerate(chosen)]
        total = " + ".join(f"figure_{place}" for place in range(len(chosen)))
        code = "\n".join(["def solution():", *given, f"    return {total}"])
        return {"inputs": [each.number for each in chosen], "code": code, "unit": unit, "missing": None}

    return written


@pytest.mark.parametrize(
    "label", ["Total operating expenses", "Selling, general and administrative", "Interest expense"]
)
def test_a_row_that_shares_no_more_than_expense_is_not_the_expense_asked_about(
    workspace: Workspace, label: str
) -> None:
    question = "What was Harborlight's advertising expense in FY2023?"
    found, _, warnings, _ = asked(workspace, question, _of((label, "FY2023")), "harborlight_2023_10k")
    assert found is None and "none of its figures is of marketing" in warnings[0]


def _row(label: str, *section: str) -> SourcedFact:
    fact = Fact(label, Decimal(5), 1, "USD", FactPeriod(2023, None, 12), 1, Box(0, 0, 1, 1), section=section, line=1)
    return SourcedFact("acme_2023_10k", fact)


@pytest.mark.parametrize(
    ("label", "section", "phrases", "called"),
    [
        ("Advertising and promotion", (), ("advertising expense",), True),
        ("Total operating expenses", (), ("advertising expense", "marketing"), False),
        ("Demand creation expense", (), ("advertising expense", "Demand creation expense"), True),
        ("Other", ("Advertising expense",), ("advertising expense",), True),
        ("Interest", ("Advertising expense",), ("advertising expense",), False),
        ("Net income", (), ("net income", "net earnings"), True),
        ("Income before taxes", (), ("operating income", "income from operations"), False),
        ("Total operating expenses", (), ("operating income",), False),
        ("Operating income", (), ("operating income",), True),
    ],
)
def test_what_a_row_is_called(label: str, section: tuple[str, ...], phrases: tuple[str, ...], called: bool) -> None:
    assert _is_called(_row(label, *section), phrases) is called
