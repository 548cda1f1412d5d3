"""Answers as data frames (extra `pandas`), and as workbooks (extra `excel`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent.workspace import Workspace

pytest.importorskip("pandas", reason="needs the extra `pandas`")


def test_the_figures_of_an_answer(workspace: Workspace) -> None:
    frame = workspace.ask("What was Harborlight's gross margin in FY2023?").to_dataframe()
    profit = frame[frame.label == "Gross profit"].iloc[0]
    assert (profit.value, profit.doc_id, profit.page_number, profit.line) == (1872e6, "harborlight_2023_10k", 9, 8)


def test_figures_found_by_their_words(workspace: Workspace) -> None:
    frame = workspace.facts("accrued liabilities", company="Harborlight", fiscal_year=2023).to_dataframe()
    assert (frame.iloc[0].label, frame.iloc[0].value, frame.iloc[0].page_number) == ("Accrued liabilities", 420e6, 11)


def test_a_workbook_is_written(workspace: Workspace, tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter", reason="needs the extra `excel`")
    openpyxl = pytest.importorskip("openpyxl", reason="reads workbooks back")
    workspace.ask("What was Harborlight's gross margin in FY2023?").to_excel(tmp_path / "answer.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "answer.xlsx").active
    assert sheet["B3"].value.startswith("=")
