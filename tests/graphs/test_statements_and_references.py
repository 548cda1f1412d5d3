"""Statements to confirm, formulas in sentences of their own, and requests that refer to the one before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]


@pytest.mark.parametrize("claim", ["Harborlight's revenue rose in FY2024", "Harborlight's gross margin fell in FY2023"])
@pytest.mark.parametrize(
    "form",
    [
        "True or false: {}",
        "{}. True or false?",
        "{} - correct?",
        "{}, right?",
        "Somebody told me {}. Is that right?",
        "{}. Am I right?",
    ],
)
def test_a_statement_to_confirm_is_a_claim(ask: Ask, form: str, claim: str) -> None:
    answer, plain = ask(form.format(claim)), ask(f"Is it true that {claim}?")
    assert answer.answer == plain.answer and answer.answer.text.startswith(("Yes: ", "No: "))
    assert answer.question == form.format(claim)


@pytest.mark.parametrize(
    "definition",
    [
        "operating income over total assets x 2",
        "Use operating income over total assets x 2.",
        "Use operating income over total assets x 2, ignore goodwill.",
        "It is operating income / total assets * 2.",
    ],
)
@pytest.mark.parametrize("name", ["return on assets", "margin", "profitability"])
def test_a_formula_in_a_sentence_of_its_own_replaces_the_name(ask: Ask, name: str, definition: str) -> None:
    exact = ask("Harborlight 2 * operating income / total assets in FY2023").answer.value
    assert exact is not None
    answer = ask(f"What was Harborlight's {name} in FY2023? {definition}").answer
    assert answer.value == pytest.approx(exact), answer.text


def test_a_formula_in_brackets_is_of_the_part_beside_it(ask: Ask) -> None:
    exact = ask("Tellurond Automotive operating income / revenue in FY2023").answer.value
    answer = ask("Tellurond FY2023: what were margins at the automotive business (operating income over revenue)?")
    assert exact is not None and answer.answer.value == pytest.approx(exact)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (
            "Add up Harborlight's net income and operating income for FY2024. What multiple of revenue is that?",
            ("Net income + operating income", "0.40"),
        ),
        (
            "Take Harborlight's net income plus total assets less goodwill. How much did that figure change"
            " from FY2022 to FY2023?",
            ("Change in net income + total assets - goodwill",),
        ),
        (
            "What was Harborlight's revenue in FY2024, and how much did it grow from FY2022?",
            ("from $3,334 million in FY2022 to $3,763 million in FY2024",),
        ),
        (
            "Which Tellurond segment had the lowest revenue in FY2023 and how far had it slipped from FY2022?",
            ("has the lowest revenue", "Change in Industrial and Connectivity revenue", "in FY2022"),
        ),
        (
            "Which Tellurond segment had the highest revenue in FY2023, and what share of the total was that?",
            ("has the highest revenue", "Data Center share of revenue"),
        ),
        (
            "Which Tellurond segment had the highest revenue in FY2023, and what was its operating income?",
            ("has the highest revenue", "Data Center operating income"),
        ),
        (
            "Which Tellurond segment had the lowest operating margin in FY2023, and did that margin rise from FY2022?",
            ("has the lowest operating margin", "in FY2022 to"),
        ),
    ],
)
def test_a_request_refers_to_the_one_before(ask: Ask, question: str, texts: tuple[str, ...]) -> None:
    answer = ask(question)
    assert not answer.refused, answer.missing
    for text in texts:
        assert text in answer.answer.text


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (
            "Which had the higher operating margin in FY2024, Harborlight or Quillmark, and how far had it changed from"
            " FY2022?",
            ("has the higher operating margin", "Change in operating margin of Harborlight", "in FY2022 to"),
        ),
        (
            "What was Tellurond's highest revenue from FY2022 to FY2024, and how far had it changed"
            " from the year before?",
            ("was highest in FY2024", "for FY2023 to FY2024"),
        ),
    ],
)
def test_a_request_after_a_ranking_is_about_what_it_selected(ask: Ask, question: str, texts: tuple[str, ...]) -> None:
    text = ask(question).answer.text
    assert all(one in text for one in texts), text


@pytest.mark.parametrize(
    "lead",
    ["Look at Harborlight in FY2022.", "I am studying Harborlight for fiscal 2022.", "Harborlight, fiscal 2022."],
)
def test_a_period_in_a_sentence_before_is_that_of_the_request(ask: Ask, lead: str) -> None:
    answer = ask(f"{lead} Calculate goodwill divided by total assets.")
    assert answer.answer == ask("Harborlight goodwill / total assets in FY2022").answer
    assert not any("no period was named" in one for one in answer.assumptions)


def test_coordinated_terms_are_added(ask: Ask) -> None:
    added = ask("Quillmark short-term debt + long-term debt in FY2023").answer
    assert ask("Quillmark's short- and long-term debt in FY2023").answer == added


@pytest.mark.parametrize(("verb", "verdict"), [("improve", "Yes: "), ("worsen", "No: ")])
def test_a_ratio_of_debt_improves_as_it_falls(ask: Ask, verb: str, verdict: str) -> None:
    rises = ask("Did Harborlight's debt / total assets rise in FY2024?").answer.text.startswith("Yes")
    said = ask(f"Did Harborlight's debt / total assets {verb} in FY2024?").answer.text
    assert said.startswith(verdict) is not rises


def test_a_share_refers_to_what_was_asked_or_is_refused(ask: Ask) -> None:
    text = ask("What was Tellurond's net income in FY2023, and what share of Automotive revenue is it?").answer.text
    assert "Net income / Automotive revenue" in text
    lost = ask("What was Tellurond's zircon harvest in FY2023, and what fraction of Automotive revenue is it?")
    assert "Automotive share of revenue" not in lost.answer.text


def test_a_verb_before_to_makes_no_ratio(ask: Ask) -> None:
    assert "Cash / " not in ask("How much cash did Harborlight use to repurchase common stock in 2023?").answer.text


def test_measures_next_to_each_other_are_no_list(ask: Ask) -> None:
    answer = ask("What EBIT did Harborlight's Jubilee Brand make in FY2023?")
    assert answer.refused and "'Jubilee" in answer.missing[0]


def test_several_quotients_below_one_are_told_in_percent(ask: Ask) -> None:
    text = ask("Compare net income / revenue of Harborlight and Quillmark in FY2023").answer.text
    assert text.count("%") == 2


@pytest.mark.parametrize(
    "question",
    [
        "Which segments of Tellurond made up more than 20% of revenue in FY2023?",
        "Which segments account for over 20% of Tellurond's revenue in FY2023?",
        "Are there any segments / divisions that represent more than 20% of Tellurond's revenue in FY2023?",
    ],
)
def test_members_beyond_a_share_of_the_whole(ask: Ask, question: str) -> None:
    text = ask(question).answer.text
    assert "Share of revenue" in text and text.index("%") < text.index("the others")
    shares = {
        name: ask(f"What share of Tellurond's revenue came from {name} in FY2023?").answer.value
        for name in ("Data Center", "Automotive", "Industrial and Connectivity")
    }
    above = {name for name, share in shares.items() if share is not None and share > 20}
    assert above and all((name in text.partition("the others")[0]) is (name in above) for name in shares)


@pytest.mark.parametrize(
    ("asked", "like"),
    [
        ("Did any of Tellurond's segments shrink in FY2023?", "Which of Tellurond's segments shrank in FY2023?"),
        ("Did any Tellurond segment lose money in FY2023?", "Which Tellurond segments lost money in FY2023?"),
        (
            "Was Tellurond's FY2023 revenue from Data Center larger than from Automotive?",
            "Was Tellurond's FY2023 Data Center revenue larger than its Automotive revenue?",
        ),
        (
            "Which two segments of Tellurond had the most revenue in FY2023?",
            "Top two segments of Tellurond by revenue in FY2023?",
        ),
        (
            "Harborlight FY2023: R&D vs. net income, which is the bigger bucket?",
            "Harborlight FY2023: R&D or net income, which was bigger?",
        ),
        (
            "Which Tellurond segment was the most profitable in FY2023?",
            "Which Tellurond segment had the highest operating income in FY2023?",
        ),
        (
            "Which Tellurond segment gained the most share of revenue in FY2023?",
            "Which Tellurond segment's share of revenue rose the most in FY2023?",
        ),
    ],
)
def test_several_wordings_of_one_request(ask: Ask, asked: str, like: str) -> None:
    one, other = ask(asked), ask(like)
    assert not one.refused and one.answer.text == other.answer.text


def test_both_ends_of_a_ranking_and_whether_any_fell(ask: Ask) -> None:
    first = "Which Tellurond segment had the highest revenue in FY2023"
    both = ask(f"{first}, and which the thinnest?").answer.text
    assert " has the highest " in both and " has the lowest " in both
    fell = ask(f"{first}, and did any shrink?").answer.text
    assert ask("Did any Tellurond segment shrink in FY2023?").answer.text in fell


def test_one_request_for_both_ends_lists_all_members(ask: Ask) -> None:
    for question in (
        "Tellurond's biggest and smallest segment by FY2023 revenue?",
        "Which Tellurond segment grew fastest in FY2024, and which one shrank the most?",
    ):
        text = ask(question).answer.text
        assert "1. " in text and "3. " in text


def test_a_year_between_two_is_any_of_them(ask: Ask) -> None:
    text = ask("In which year between 2022 and 2024 was Harborlight's revenue highest?").answer.text
    assert text.startswith("FY2024: ") and "FY2023: " in text and "FY2022: " in text


def test_what_is_asked_by_how_much_is_the_value(ask: Ask) -> None:
    answer = ask("Which was higher, Harborlight's revenue in 2023 or in 2024, and by how much?").answer
    assert answer.value == 230 and "$230 million apart" in answer.text


@pytest.mark.parametrize("joint", ["vs", "and", "compared with"])
def test_each_formula_is_of_its_own_company_and_period(ask: Ask, joint: str) -> None:
    one = ask("Harborlight's net income / revenue in FY2023").answer.value
    other = ask("Quillmark's gross profit / revenue in FY2024").answer.value
    text = ask(
        f"Harborlight's net income / revenue in FY2023 {joint} Quillmark's gross profit / revenue in FY2024"
    ).answer.text
    assert one is not None and other is not None
    assert f"{100 * one:.1f}%" in text and f"{100 * other:.1f}%" in text
    names = text.upper()
    assert names.index("HARBORLIGHT") < names.index(f"{100 * one:.1f}%") < names.index("QUILLMARK")
