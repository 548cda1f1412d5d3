"""Everyday words, and what filings write for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent.lexicon.lexicon import load_lexicon


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Who are its rivals?", "competitors"),
        ("Is anybody suing them?", "litigation"),
        ("What did they pay for the start-up?", "acquisition"),
        ("How much is sold abroad?", "outside the United States"),
        ("Does it depend on any single customer?", "customer accounted for"),
        ("Who audits the books?", "independent registered public accounting firm"),
        ("When do its bonds come due?", "maturities"),
    ],
)
def test_everyday_words_lead_to_what_filings_write(text: str, term: str) -> None:
    assert term in load_lexicon().filing_terms(text)


def test_each_term_comes_once_in_the_order_of_the_words() -> None:
    terms = load_lexicon().filing_terms("Rivals, rivals and lawsuits: who sued the competitors?")
    assert len(terms) == len(set(terms))
    assert terms.index("competitors") < terms.index("litigation")


def test_words_that_are_no_synonyms_lead_nowhere() -> None:
    assert load_lexicon().filing_terms("total assets at year end") == ()


def test_a_users_own_words_are_laid_over(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("synonyms:\n  kit: {words: kit; gear, expand: equipment}\n", encoding="utf-8")
    assert load_lexicon(tmp_path).filing_terms("How much kit do they own?") == ("equipment",)


def test_metrics_of_a_formula_are_those_it_is_made_of() -> None:
    metrics = load_lexicon().metrics_in("the FY2022 quick ratio and net income")
    assert "net_income" in metrics
    assert "current_liabilities" in metrics or "total_current_liabilities" in metrics
    assert "quick_ratio" not in metrics
