"""Programs as cells, answers as CSV and as a report: what needs no extra."""

from __future__ import annotations

import io
import pickle
import re
from math import isfinite
from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer
from fin_agent.cli import main
from fin_agent.presentation.exports import answer_cell, answer_csv, cells_of, html_report, statement_workbook
from fin_agent.presentation.filings import statement_parts
from fin_agent.presentation.pages import join_tables
from fin_agent.vocabulary.page import Statement
from fin_agent.workspace import Workspace
from tests.markup import HOSTILE_MARKUP

PROGRAM = """\
def solution():
    profit_fy2023 = 1872  # USD millions: 'Gross profit', harborlight_2023_10k page 9 line 8
    sales_fy2023 = 3533  # USD millions: 'Net sales', harborlight_2023_10k page 9 line 6

    margin = 100 * profit_fy2023 / sales_fy2023
    return {returned}
"""


def test_figures_are_inputs_with_their_source_and_the_rest_formulas() -> None:
    (profit, sales, margin), results = cells_of(PROGRAM.format(returned="margin"))
    assert (profit.formula, profit.value, profit.unit, profit.label) == ("", 1872, "USD millions", "Gross profit")
    assert (sales.doc_id, sales.page, sales.line) == ("harborlight_2023_10k", 9, 6)
    assert margin.formula == "=(100*B6)/B7" and margin.value == pytest.approx(52.986, abs=0.001)
    assert [each.formula for each in results] == ["=B8"]


@pytest.mark.parametrize(
    ("returned", "formula", "value"),
    [
        ("abs(-margin)", "=ABS((-B8))", 52.98613),
        ("max([profit_fy2023, sales_fy2023])", "=MAX(B6,B7)", 3533),
        ("round(margin)", "=ROUND(B8,0)", 53),
        ("sales_fy2023 - (profit_fy2023 - 1) ** 2", "=B7-((B6-1)^2)", 3533 - 1871**2),
    ],
)
def test_what_programs_are_written_with_is_a_formula(returned: str, formula: str, value: float) -> None:
    _, (result,) = cells_of(PROGRAM.format(returned=returned))
    assert result.formula == formula and result.value == pytest.approx(value)


def test_what_cells_cannot_say_is_told_as_such() -> None:
    cells, results = cells_of(PROGRAM.format(returned="sorted([profit_fy2023, sales_fy2023])"))
    assert not results and len(cells) == 3
    assert not cells_of(PROGRAM.format(returned="1 if margin > 50 else 0"))[1]


def test_totals_of_a_statement_are_formulas_that_give_what_is_printed(workspace: Workspace) -> None:
    """Of every total that its sum proves to the last digit; over the rows that it adds up, not over all above it."""
    pytest.importorskip("xlsxwriter", reason="needs the extra `excel`")
    openpyxl = pytest.importorskip("openpyxl", reason="reads workbooks back")
    record = workspace.index.filing("harborlight_2023_10k")
    made = {}
    for statement in Statement:
        tables = join_tables(statement_parts(workspace, record.doc_id, statement)[1])
        written = statement_workbook(record, statement, tables)
        formulas, values = (openpyxl.load_workbook(io.BytesIO(written), data_only=each) for each in (False, True))
        for sheet, printed in zip(formulas, values, strict=True):
            for cell in (cell for row in sheet.iter_rows() for cell in row if str(cell.value).startswith("=")):
                parts = re.findall(r"([+-]?)([A-Z]+[0-9]+)", cell.value)
                total = sum((-1 if sign == "-" else 1) * (printed[place].value or 0) for sign, place in parts)
                assert total == pytest.approx(printed[cell.coordinate].value)
                assert "harborlight_2023_10k, page" in cell.comment.text
                made[sheet.cell(cell.row, 1).value.strip()] = len(parts)
    assert made["Gross profit"] == 2 and made["Total current assets"] == 5 and made["Total assets"] == 5
    assert {"Operating income", "Net income", "Net cash provided by operating activities"} <= made.keys()
    assert not {"Net sales", "Cost of sales", "Inventories"} & made.keys()


def test_the_answer_is_a_formula_of_the_results(workspace: Workspace) -> None:
    for question in (
        "What was Harborlight's gross margin in FY2023?",
        "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?",
    ):
        answer = workspace.ask(question)
        assert answer.program is not None
        _, results = cells_of(answer.program)
        cell = next(each for each in results if f"={answer_cell(answer, results)[1:]}" == each.formula)
        assert cell.value == pytest.approx(answer.answer.value)


def test_csv_names_filing_page_and_line_and_holds_no_formula(workspace: Workspace) -> None:
    answer = workspace.ask("What was Harborlight's net income in FY2023?")
    told = answer_csv([answer, *(answer.model_copy(update={"question": each}) for each in ("=1+1", "＝1+1", "a;=1+1"))])
    assert '"harborlight_2023_10k",9,19' in told
    assert told.count("\n\"'=1+1") > 0 and told.count("\n\"'＝1+1") > 0 and '\n"a;=1+1",' in told
    assert not re.search(r"(?:^|[\n;,])\"?[=＝]", told.replace('"a;=1+1"', ""))


def test_a_report_never_takes_a_text_for_markup(workspace: Workspace) -> None:
    answer = workspace.ask("What was Harborlight's net income in FY2023?").model_copy(update={"citations": ()})
    tags = html_report([answer], lambda doc_id, page, boxes: None).count("<")
    for hostile in HOSTILE_MARKUP:
        changed = answer.model_copy(update={"question": hostile, "program": hostile, "warnings": (hostile,)})
        told = html_report([changed], lambda doc_id, page, boxes: None)
        assert told.count("<") == tags + 2, hostile  # the paragraph of the warning


def test_a_notebook_shows_figures_program_and_page(workspace: Workspace) -> None:
    answer = workspace.ask("What was Harborlight's net income in FY2023?")
    shown = answer._repr_html_()
    assert "$544 million" in shown and "harborlight_2023_10k" in shown and "def solution" in shown
    assert shown.count("data:image/png;base64,") == 1
    # An answer that went through a file or to another process has no index behind it.
    sent = pickle.loads(pickle.dumps(answer))
    assert sent == answer
    for copied in (Answer.model_validate_json(answer.model_dump_json()), sent):
        assert "def solution" in copied._repr_html_() and "data:image" not in copied._repr_html_()


def test_ask_writes_a_report_with_its_pages_and_says_what_it_cannot_write(
    sample_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["ask", "What was Harborlight's net income in FY2023?", "--index", str(sample_index), "--no-record"]
    report = tmp_path / "report.html"
    for name, code in (("report.html", 0), ("report.docx", 2)):
        monkeypatch.setattr("sys.argv", ["fin-agent", *asked, "--export", str(tmp_path / name)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert (ended.value.code or 0) in (code, 1 if code else 0)
    assert (
        "data:image/png;base64," in report.read_text()
        and "answers cannot be written to this kind of file" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "body",
    [
        "    return 9**9**9\n",
        "    a0 = 9\n" + "".join(f"    a{n} = a{n - 1} * a{n - 1}\n" for n in range(1, 40)) + "    return a39\n",
        "    return 1e999\n",
        "    return 1e200 * 1e200\n",
    ],
)
def test_a_program_without_end_or_measure_is_no_formula(body: str) -> None:
    """Whoever asks a server for a workbook says which program: it is worked out here, in no sandbox."""
    cells, results = cells_of(f"def solution():\n{body}")
    assert all(isfinite(each.value) for each in (*cells, *results))
