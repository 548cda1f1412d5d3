"""Which measures a question lists, and where `and` joins none."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.listed_measures import listed_measures
from fin_agent.evidence.intent import Comparison
from fin_agent.lexicon.lexicon import load_lexicon


def members(text: str) -> tuple[str, ...] | None:
    found = listed_measures(text, text, load_lexicon())
    return None if found is None else found.members


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("What were revenue and net income?", ("revenue", "net income")),
        ("State revenue, cost of revenue and gross profit.", ("revenue", "cost of revenue", "gross profit")),
        ("What were basic and diluted earnings per share?", ("basic earnings per share", "diluted earnings per share")),
        ("What were short- and long-term debt?", ("short-term debt", "long-term debt")),
        ("What were current assets and liabilities?", ("current assets", "current liabilities")),
        ("What were return on assets and equity?", ("return on assets", "return on equity")),
        ("What were gross, operating and net margins?", ("gross margins", "operating margins", "net margins")),
        ("What were accounts payable and receivable?", ("accounts payable", "accounts receivable")),
        ("What was spent on research and development and marketing?",
         ("research and development", "marketing expense")),
        ("What were operating income and expenses?", ("operating income", "operating expenses")),
        ("Total assets, total liabilities and total equity?", ("Total assets", "total liabilities", "total equity")),
        ("How much cash came from operations, investing and financing?",
         tuple(f"cash flow from {one} activities" for one in ("operating", "investing", "financing"))),
    ],
)  # fmt: skip
def test_lists(text: str, wanted: tuple[str, ...]) -> None:
    assert members(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "What was research and development?",
        "What was property, plant and equipment?",
        "What were selling, general and administrative expenses?",
        "What is the sum of dividends and share repurchases?",
        "What is the difference between operating income and net income?",
        "What were total dividends and buybacks?",
        "What were revenue and net income combined?",
        "What was net income or loss?",
        "What were inventories and prepaid expenses?",
        "What were accounts payable and other current liabilities?",
        "What were liabilities and shareholders' equity?",
        "What were dragons, net income and revenue?",
        "What is the ratio of current assets and current liabilities?",
        "What share of revenue were R&D and SG&A?",
    ],
)
def test_and_joins_no_measures(text: str) -> None:
    assert members(text) is None


@pytest.mark.parametrize(
    ("text", "extreme", "alone"),
    [
        ("Which was larger, R&D or SG&A?", Comparison.HIGHEST, "was R&D"),
        ("Did it spend less on dividends or on capex?", Comparison.LOWEST, "Did it spend on dividends"),
        ("Of operating and investing activities, which used more cash?", Comparison.LOWEST,
         "cash flow from operating activities"),
    ],
)  # fmt: skip
def test_which_of_them(text: str, extreme: Comparison, alone: str) -> None:
    found = listed_measures(text, text, load_lexicon())
    assert found is not None
    assert found.extreme is extreme
    assert alone in " ".join(found.questions[0].replace(",", " ").split())


def test_the_question_about_one_keeps_the_other_words() -> None:
    found = listed_measures(*["What were both revenue and net income in thousands?"] * 2, load_lexicon())
    assert found is not None
    assert found.questions == ("What were revenue in thousands?", "What were net income in thousands?")
