"""A summary says what a filing is."""

from __future__ import annotations

from datetime import date

from fin_agent.evidence.filing_preparation import summary_of
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page


def filing(identity: Identity) -> Filing:
    return Filing("acme", "acme.pdf", "0" * 64, identity, (Page(0, "Cover", title="FORM 10-Q"),), (), ())


def test_a_summary_names_company_form_period_and_other_names() -> None:
    names = {"ticker": "ACME", "other_names": ("Acme Works",)}
    summary = summary_of(filing(Identity("Acme Tools, Inc.", Form.TEN_Q, 2023, 2, date(2023, 6, 30), **names)))
    for part in ("Acme Tools, Inc. (ACME)", "10-Q", "Q2 fiscal 2023", "June 30, 2023", "Acme Works", "FORM 10-Q"):
        assert part in summary


def test_a_release_of_results_says_which_quarter_they_are_of() -> None:
    results = FactPeriod(2022, 3, 3, date(2022, 9, 30))
    summary = summary_of(filing(Identity("Acme", Form.EIGHT_K, period_end=date(2022, 10, 20), results=results)))
    assert "results of the third quarter of fiscal 2022" in summary
    assert "fiscal year unknown" in summary
