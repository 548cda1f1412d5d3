"""Filings held against FinanceBench's lists."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from benchmarks.reading import ReadingReport, gold_pages_labelled, load_labels, read_filing_beside
from fin_agent.errors import ReadError
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.index.protocol import FilingRecord, StoredPage
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page, Statement


def record(year: int, end: date, month: int, quarter: int | None = None, form: Form = Form.TEN_K) -> FilingRecord:
    identity = Identity("Acme", form, year, quarter, end, month)
    return FilingRecord("ACME_2023_10K", "", identity, 1, "", "", 1, 1)


def labels(tmp_path: Path, **entry: object) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text(json.dumps({"doc_name": "ACME_2023_10K", "doc_type": "10k", "doc_period": 2023} | entry) + "\n\n")
    return path


def test_a_year_by_the_filers_naming_or_by_its_end(tmp_path: Path) -> None:
    label = load_labels(labels(tmp_path))["ACME_2023_10K"]
    own = read_filing_beside(record(2023, date(2023, 12, 31), 12), label, (), ())
    assert (own.form_right, own.year_right, own.ending_year_right) == (True, True, True)
    winter = read_filing_beside(record(2022, date(2023, 1, 28), 1), label, (), ())
    assert (winter.year_right, winter.ending_year_right) == (False, True)
    other = read_filing_beside(record(2022, date(2022, 12, 31), 12, form=Form.TEN_Q), label, (), ())
    assert (other.form_right, other.year_right, other.ending_year_right) == (False, False, False)


def test_a_quarter_in_the_name_has_to_be_right(tmp_path: Path) -> None:
    path = labels(tmp_path, doc_name="ACME_2024Q1_10Q", doc_type="10q", doc_period=2024)
    label = load_labels(path)["ACME_2024Q1_10Q"]
    for quarter, right in ((1, True), (2, False)):
        read = read_filing_beside(record(2023, date(2023, 4, 29), 1, quarter, Form.TEN_Q), label, (), ())
        assert (read.year_right, read.ending_year_right) == (False, right)


def test_statements_that_no_page_shows_are_missing() -> None:
    pages = [
        StoredPage("ACME_2023_10K", Page(3, "", "8", Statement.INCOME, further_statements=(Statement.CASH_FLOW,))),
        StoredPage("ACME_2023_10K", Page(4, "", "8")),
    ]
    read = read_filing_beside(record(2023, date(2023, 12, 31), 12), None, pages, ())
    assert read.missing == ("balance",)
    assert (read.form_right, read.balance, read.cash) == (None, "not checkable", "not checkable")
    assert "ACME_2023_10K: not located: balance" in ReadingReport((read,), 0, 0, ()).misses()


def test_gold_pages_need_the_label_of_their_title() -> None:
    def question(text: str, page: int = 3) -> FinanceBenchQuestion:
        key = ("ACME_2023_10K", page)
        return FinanceBenchQuestion("1", "", key[0], "metrics-generated", "", "", "", (key,), ((key, text),))

    outlines = {"ACME_2023_10K": [StoredPage("ACME_2023_10K", Page(3, "", "8", Statement.INCOME))]}
    title_of = load_lexicon().statement_of_title
    right = question("Acme Corp\nCONSOLIDATED STATEMENTS OF INCOME\n1")
    wrong = question("CONSOLIDATED BALANCE SHEETS\n1")
    assert gold_pages_labelled([right], outlines, title_of) == (1, 1, ())
    assert gold_pages_labelled([question("no title")], outlines, title_of) == (1, 1, ())
    assert gold_pages_labelled([wrong], outlines, title_of)[1:] == (0, ("ACME_2023_10K page 4: labelled income",))
    assert gold_pages_labelled([question("no title", 9)], outlines, title_of)[1] == 0


@pytest.mark.parametrize(
    "line", ["not json", '{"doc_name": "x"}', '{"doc_name": "x", "doc_type": "s-1", "doc_period": 1}']
)
def test_a_line_that_is_no_document_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text(line)
    with pytest.raises(ReadError, match="line 1"):
        load_labels(path)
