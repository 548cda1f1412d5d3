"""Questions taken apart: what is asked, what is defined, how the answer is wanted."""

from __future__ import annotations

import pytest

from fin_agent.query.question_sentences import requested_decimals, requested_unit, sentences_of, with_what_is_explained

CORE = "what is Acme's FY2019 net income?"


@pytest.mark.parametrize(
    "question",
    [
        CORE,
        f"You are an investment banker. {CORE}",
        f"Assume that you are a public equities analyst. {CORE} Answer in USD millions.",
        f"We need to calculate a reasonable approximation. Here's the question: {CORE}",
        f"Answer the following question by primarily using the balance sheet: {CORE}",
        f"Using only the income statement, {CORE}",
        f"According to the information provided in the P&L statement, {CORE}",
        f"By drawing conclusions from the details in the cash flow statement, {CORE} Round to one decimal place.",
        f"{CORE} Please base your judgments on the information in the balance sheet.",
        f"{CORE} Please utilize the annual report of the company.",
        f"{CORE} Give a response to the question by relying on the details shown in the 10-K.",
        f"Even with lower sales, {CORE}",
        f"In spite of its charges for plants, {CORE}",
        f"You are given a filing. {CORE} If this is not a useful metric for the company, then state that.",
        f"{CORE} Should it not be a meaningful measure for such a business, please say so.",
        f"{CORE} In case it isn't relevant here, note that and give the reason.",
    ],
)
def test_the_core_is_what_asks(question: str) -> None:
    assert sentences_of(question).asked.lower() == CORE.lower()
    assert sentences_of(question).definitions == ()


@pytest.mark.parametrize(
    ("question", "name", "formula"),
    [
        (
            "What is the quick ratio? Quick ratio is defined as: cash / liabilities.",
            "Quick ratio",
            "cash / liabilities",
        ),
        ("Quick ratio is defined as: (cash) / (liabilities). What is it?", "Quick ratio", "(cash) / (liabilities)"),
        ("What is DPO? DPO is here defined as: 365 * a / b. Round to 2 decimals.", "DPO", "365 * a / b"),
        ("Define ROA as net income / total assets. What was ROA in 2020?", "ROA", "net income / total assets"),
        ("What are turns? Inventory turns are defined as cost / stock.", "Inventory turns", "cost / stock"),
    ],
)
def test_definitions_stand_before_or_after_the_question(question: str, name: str, formula: str) -> None:
    assert sentences_of(question).definitions == ((name, formula),)
    assert "?" in sentences_of(question).asked


def test_several_definitions_are_kept_in_order() -> None:
    wording = sentences_of("What is the CCC? CCC is defined as: DIO + DSO. DIO is defined as: 365 * a / b.")
    assert wording.definitions == (("CCC", "DIO + DSO"), ("DIO", "365 * a / b"))


def test_definitions_with_semicolons_between_them_are_apart() -> None:
    told = sentences_of("Acme net debt to EBITDA in 2020? Net debt = debt - cash; EBITDA = operating profit + D&A.")
    assert told.definitions == (("Net debt", "debt - cash"), ("EBITDA", "operating profit + D&A"))


def test_a_sentence_that_only_says_how_is_kept_whole() -> None:
    told = sentences_of("What was Acme's debt-to-equity in 2018? Count borrowings plus notes over total equity.")
    assert told.statements == ("Count borrowings plus notes over total equity.",)
    assert sentences_of("What was revenue? Round to two decimals.").statements == ()


def test_initials_and_abbreviations_end_no_sentence() -> None:
    assert sentences_of("What did Acme Inc. Earn in fiscal 2020?").asked == "What did Acme Inc. Earn in fiscal 2020?"


def test_instructions_keep_what_the_core_leaves_out() -> None:
    wording = sentences_of("What is the margin? Answer in percent.")
    assert "percent" in wording.instructions
    assert "percent" not in wording.asked


@pytest.mark.parametrize("question", ["Tell me the revenue of Acme.", "Acme revenue 2023", "Compare A and B."])
def test_a_question_without_a_question_mark_is_its_own_core(question: str) -> None:
    assert sentences_of(question).asked == question


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("Round to two decimal places.", 2),
        ("Round your answer to one decimal place.", 1),
        ("with three digits after the decimal point", 3),
        ("rounded to 4 decimals", 4),
        ("to five decimal places", 5),
        ("with no decimal places", 0),
        ("to zero decimals", 0),
        ("to the nearest million", 0),
        ("to the nearest whole percent", 0),
        ("to the nearest tenth", 1),
        ("to the nearest cent", 2),
        ("as exactly as you can", None),
        ("over two years", None),
    ],
)
def test_decimal_places(words: str, places: int | None) -> None:
    assert requested_decimals(words) == places


@pytest.mark.parametrize(
    ("words", "unit"),
    [
        ("in USD millions", "USD millions"),
        ("(in thousands)", "USD thousands"),
        ("in $ billions", "USD billions"),
        ("in millions of US dollars", "USD millions"),
        ("to the nearest million", "USD millions"),
        ("in units of percents", "percent"),
        ("What percent of sales", "percent"),
        ("the EBITDA % margin", "percent"),
        ("What % of sales", "percent"),
        ("a discount of 5% of the price", None),
        ("by how many percentage points", "percentage points"),
        ("a business in decline", None),
        ("in 2023", None),
    ],
)
def test_units(words: str, unit: str | None) -> None:
    assert requested_unit(words) == unit


@pytest.mark.parametrize(
    "question",
    [
        "In fiscal 2021, which of these had the highest current ratio: Nike, Acme and Bolt?",
        "Add up the FCF of Acme from fiscal 2014 through fiscal 2018: what is the total?",
        "Divide Acme's operating profit by Bolt's: what is the ratio?",
        "Sum Acme's revenue for FY2017 to FY2021.",
    ],
)
def test_what_stands_before_a_colon_is_asked_too(question: str) -> None:
    assert sentences_of(question).asked == question


@pytest.mark.parametrize(
    "asked",
    ["Why?", "How come?", "What's behind that?", "What was the reason?", "What drove it?", "What explains the drop?",
     "And what happened?", "What led to this?", "Why is that?", "What was the main driver of the decline?",
     "How does management account for it?", "What does the company put it down to?", "How is that explained?",
     "How does it explain the drop?", "What do they blame?"],
)  # fmt: skip
def test_a_reason_is_asked_for_of_the_sentence_before(asked: str) -> None:
    for joint in (".", " -", ";", ":", ","):
        question = f"Acme's margin fell in 2022{joint} {asked}"
        assert with_what_is_explained(question) == "How come Acme's margin fell in 2022?"
    assert with_what_is_explained(f"Did Acme's margin fall - {asked}") == f"Did Acme's margin fall - {asked}"


@pytest.mark.parametrize(
    ("question", "complete"),
    [
        ("Despite higher sales, Acme's margin fell in 2022. Why?", "How come Acme's margin fell in 2022?"),
        ("Why did margins fall in 2022 although sales rose?", "Why did margins fall in 2022?"),
        (
            "Why did margins fall even though sales rose in 2022?",
            "Why did margins fall even though sales rose in 2022?",
        ),
        ("Why is Acme's tax rate unusually low in 2022?", "Why is Acme's tax rate lower in 2022?"),
        ("Why were Acme's sales so much weaker in 2022?", "Why were Acme's sales lower in 2022?"),
        ("What made Acme's interest bill smaller?", "How come Acme's interest bill lower?"),
        ("What explains the heavier losses of Acme?", "What explains the higher losses of Acme?"),
        ("Why did Acme leave Greater China?",) * 2,
        ("Why did Acme earn less in 2022?", "Why did Acme net income decreased in 2022?"),
        ("Why did Acme swing to an operating loss?", "Why did Acme operating income decreased?"),
        ("What was revenue in 2022? Why?", "What was revenue in 2022? Why?"),
        ("Acme sold a mill. What was behind the jump in sales of pulp?",) * 2,
        ("Did sales rise although prices fell?", "Did sales rise although prices fell?"),
        ("Was Acme's debt so high in 2022?", "Was Acme's debt so high in 2022?"),
    ],
)
def test_what_is_granted_is_not_explained_and_levels_are_movements(question: str, complete: str) -> None:
    assert with_what_is_explained(question) == complete
