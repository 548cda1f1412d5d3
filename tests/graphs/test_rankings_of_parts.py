"""Members of a family ranked, counted and chosen, in the words of several askers: asked of the sample filings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]
DATA_CENTER, AUTOMOTIVE, INDUSTRIAL = "Data Center", "Automotive", "Industrial and Connectivity"


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("Rank Tellurond's segments by fiscal 2024 revenue, smallest first.", [INDUSTRIAL, AUTOMOTIVE, DATA_CENTER]),
        (
            "Rank Tellurond's segments by how much their revenue grew in fiscal 2024, strongest first.",
            [DATA_CENTER, INDUSTRIAL, AUTOMOTIVE],
        ),
        (
            "Rank Tellurond's segments by how fast they grew in fiscal 2024, slowest first.",
            [AUTOMOTIVE, INDUSTRIAL, DATA_CENTER],
        ),
        (
            "Worst to best, order Tellurond's segments by revenue growth in fiscal 2023.",
            [INDUSTRIAL, DATA_CENTER, AUTOMOTIVE],
        ),
        (
            "Rank Tellurond's segments by how much revenue dropped in fiscal 2023.",
            [INDUSTRIAL, DATA_CENTER, AUTOMOTIVE],
        ),
        ("Rank Tellurond's three segments by fiscal 2024 revenue, high to low.", [DATA_CENTER, AUTOMOTIVE, INDUSTRIAL]),
        ("Sort Tellurond's segments by fiscal 2024 revenue from low to high.", [INDUSTRIAL, AUTOMOTIVE, DATA_CENTER]),
        ("Line up the three Tellurond segments by fiscal 2024 revenue.", [DATA_CENTER, AUTOMOTIVE, INDUSTRIAL]),
        ("In what order do Tellurond's segments come by fiscal 2024 revenue?", [DATA_CENTER, AUTOMOTIVE, INDUSTRIAL]),
        (
            "Arrange Tellurond's segments by fiscal 2024 revenue growth, fastest first.",
            [DATA_CENTER, INDUSTRIAL, AUTOMOTIVE],
        ),
    ],
)
def test_a_ranking_begins_where_the_question_says(question: str, order: list[str], ask: Ask) -> None:
    text = ask(question).answer.text
    assert all(f"{place}. {name}: " in text for place, name in enumerate(order, 1)), text


@pytest.mark.parametrize(
    ("question", "first"),
    [
        # By sales it would be Data Center and Automotive.
        ("Which two Tellurond segments grew the most in fiscal 2024?", [DATA_CENTER, INDUSTRIAL]),
        ("Name the two Tellurond segments that grew the most in fiscal 2024.", [DATA_CENTER, INDUSTRIAL]),
        ("Top two Tellurond segments by revenue growth in fiscal 2024?", [DATA_CENTER, INDUSTRIAL]),
        ("Bottom two Tellurond segments by revenue in fiscal 2024?", [INDUSTRIAL, AUTOMOTIVE]),
        ("Tellurond's two smallest segments by revenue in fiscal 2024?", [INDUSTRIAL, AUTOMOTIVE]),
    ],
)
def test_the_first_of_a_ranking_are_those_by_its_measure(question: str, first: list[str], ask: Ask) -> None:
    text = ask(question).answer.text
    assert all(f"{place}. {name}: " in text for place, name in enumerate(first, 1)) and "3. " not in text, text


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Where did Tellurond's revenue grow the most in fiscal 2024?", "Europe"),
        ("Where does most of Tellurond's revenue come from, fiscal 2024?", "China"),
        ("Comparing Data Center and Automotive, where did Tellurond's revenue grow most in fiscal 2024?", DATA_CENTER),
        ("In what part of the business did Tellurond grow fastest in fiscal 2024?", DATA_CENTER),
        ("Which Tellurond segment lagged the others in revenue growth in fiscal 2024?", AUTOMOTIVE),
        ("Which Tellurond segment outpaced the rest in revenue growth in fiscal 2023?", AUTOMOTIVE),
        ("Biggest decliner among Tellurond's segments in fiscal 2023?", INDUSTRIAL),
        # By its rate, as above, it is another one than by its amount.
        ("Which Tellurond segment lost the most revenue in fiscal 2023?", DATA_CENTER),
        ("Which Tellurond segment contributed most to the decline in revenue in fiscal 2023?", DATA_CENTER),
        ("Fastest-growing Quillmark product line in fiscal 2024?", "Online"),
        ("Of Tellurond's three segments, whose revenue grew the most in percentage terms in fiscal 2024?", DATA_CENTER),
        ("Whose revenue grew fastest among the three Tellurond segments in fiscal 2024?", DATA_CENTER),
        ("Which of the three reportable Tellurond segments grew fastest in fiscal 2024?", DATA_CENTER),
        ("Which Tellurond segment saw the gentlest revenue decline in fiscal 2023?", DATA_CENTER),
        ("Which Tellurond unit had the fastest revenue growth in fiscal 2024?", DATA_CENTER),
    ],
)
def test_the_first_member_is_asked_for_in_many_words(question: str, name: str, ask: Ask) -> None:
    text = ask(question).answer.text
    assert text.startswith(f"{name} of "), text


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which Tellurond segment came next after Data Center by revenue in fiscal 2024?", AUTOMOTIVE),
        ("Tellurond fiscal 2024: #2 segment by revenue, right behind Data Center?", AUTOMOTIVE),
        ("Which Tellurond segment took the runner-up spot in fiscal 2024 revenue?", AUTOMOTIVE),
        ("Data Center leads Tellurond's fiscal 2024 revenue by segment; who comes next?", AUTOMOTIVE),
        ("Which Tellurond segment led revenue growth in fiscal 2023?", AUTOMOTIVE),
        ("In fiscal 2024, what Tellurond segment outgrew all the others on revenue?", DATA_CENTER),
        ("Which Tellurond segment lost the most ground in revenue in fiscal 2023?", INDUSTRIAL),
        (
            "Which of Tellurond's segments (Automotive, Connectivity, Data Center) grew fastest in fiscal 2023?",
            AUTOMOTIVE,
        ),
        ("Among data center, automotive and connectivity, which grew revenue most at Tellurond in 2024?", DATA_CENTER),
        ("Tellurond fiscal 2024: best operating margin out of Automotive/Data Center?", AUTOMOTIVE),
        ("Which Tellurond segment was most profitable relative to its own revenue in fiscal 2024?", AUTOMOTIVE),
    ],
)
def test_places_and_listed_members_are_asked_for_in_many_words(question: str, name: str, ask: Ask) -> None:
    text = ask(question).answer.text
    assert text.startswith(f"{name} of "), text


def test_a_listed_name_that_is_no_member_is_not_passed_over(ask: Ask) -> None:
    assert ask(
        "Among Data Center, Automotive and Aerospace, which Tellurond segment had the most revenue in 2024?"
    ).refused


@pytest.mark.parametrize(
    "question",
    [
        "Rank Tellurond's segments by fiscal 2023 revenue growth; which is first?",
        "Rank Tellurond's segments by fiscal 2023 revenue growth - who's on top?",
        "Rank Tellurond's segments by fiscal 2023 revenue growth and name the leader.",
    ],
)
def test_an_order_says_who_is_first(question: str, ask: Ask) -> None:
    text = ask(question).answer.text
    assert f"1. {AUTOMOTIVE}: 15.9%" in text and " has the " not in text and "Not found" not in text, text


@pytest.mark.parametrize(
    "question",
    [
        "Tellurond's revenue of all segments together in fiscal 2024?",
        "Tellurond's combined revenue over its three segments in fiscal 2024?",
    ],
)
def test_a_sum_is_over_all_members(question: str, ask: Ask) -> None:
    text = ask(question).answer.text
    assert "7,464" in text and all(one in text for one in (DATA_CENTER, AUTOMOTIVE, INDUSTRIAL)), text


def test_a_sum_over_more_members_than_there_are_is_refused(ask: Ask) -> None:
    assert ask("Tellurond's combined revenue over its four segments in fiscal 2024?").refused


def test_where_something_is_asks_for_no_ranking(ask: Ask) -> None:
    assert ask("Where is Tellurond's largest factory?").refused


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("How many of Tellurond's segments grew revenue in fiscal 2023?", f"1 of 3: {AUTOMOTIVE}: 15.9% ("),
        ("In fiscal 2023, how many Tellurond segments saw revenue fall?", f"2 of 3: {DATA_CENTER}: -13.5%; "),
        ("How many of Tellurond's segments earned more than $1 billion in fiscal 2024 revenue?", "3 of 3: "),
        ("Did every Tellurond segment grow revenue in fiscal 2023?", f"No: not {DATA_CENTER}: -13.5%; "),
        ("Did all of Tellurond's segments grow revenue in fiscal 2024?", f"Yes: {DATA_CENTER}: 26.9%; "),
        ("Was there any Tellurond segment whose revenue rose in fiscal 2023?", f"{AUTOMOTIVE}: 15.9% ("),
        (
            "Which Tellurond segments (Data Center, Automotive and so on) shrank in fiscal 2023?",
            f"{DATA_CENTER}: -13.5%; ",
        ),
        ("Which Tellurond segments (e.g. Automotive) grew in fiscal 2023?", f"{AUTOMOTIVE}: 15.9% ("),
        ("Which Tellurond segments grew revenue by more than 20% in fiscal 2024?", f"{DATA_CENTER}: 26.9% ("),
        ("Which Tellurond segments had revenue declines of more than 15% in fiscal 2023?", f"{INDUSTRIAL}: -16.8% ("),
        ("Which Tellurond segments lost revenue in fiscal 2023?", f"{INDUSTRIAL}: -$325 million; "),
    ],
)
def test_members_are_counted_chosen_and_all_of_them_claimed(question: str, lead: str, ask: Ask) -> None:
    text = ask(question).answer.text
    assert text.startswith(lead), text


@pytest.mark.parametrize(
    "question",
    [
        "Which of Tellurond's five segments had the highest revenue in fiscal 2024?",
        "Of the two Tellurond segments, whose revenue grew fastest in fiscal 2024?",
        "Rank Tellurond's four segments by fiscal 2024 revenue, high to low.",
    ],
)
def test_as_many_members_are_found_as_the_question_counts(question: str, ask: Ask) -> None:
    assert ask(question).answer.text.startswith("This cannot be answered")


@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("Did any of Tellurond's segments see lower revenue in fiscal 2023?", f"{DATA_CENTER}: "),
        ("Did any Tellurond segment post higher revenue in fiscal 2024, and if so which?", f"{DATA_CENTER}: "),
    ],
)
def test_lower_and_higher_of_any_member_are_falls_and_rises(question: str, beginning: str, ask: Ask) -> None:
    text = ask(question).answer.text
    assert text.startswith(beginning) and "(Growth of revenue" in text, text


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("Rank fiscal 2022, 2023 and 2024 by Harborlight revenue, high to low.", [2024, 2023, 2022]),
        ("Order 2022, 2023 and 2024 by Harborlight revenue, lowest first.", [2022, 2023, 2024]),
    ],
)
def test_years_are_put_in_order(question: str, order: list[int], ask: Ask) -> None:
    text = ask(question).answer.text
    at = [text.index(f"{place}. Harborlight Instruments, Inc. FY{year}: ") for place, year in enumerate(order, 1)]
    assert at == sorted(at)


@pytest.mark.parametrize(
    "question",
    [
        "Did Tellurond's revenue grow in all of its segments in fiscal 2023, or only some?",
        "Did all of Tellurond's segments grow revenue in fiscal 2023, or did some shrink?",
        "Did revenue at Tellurond rise in every one of its segments in fiscal 2023, or just in a few?",
    ],
)
def test_a_claim_over_all_members_is_settled_whatever_else_might_be(question: str, ask: Ask) -> None:
    text = ask(question).answer.text
    assert text.startswith("No: not ") and INDUSTRIAL in text and f"the others: {AUTOMOTIVE}: 15.9%" in text, text


@pytest.mark.parametrize(
    "question",
    [
        "Did any of Tellurond's segments manage to grow revenue in fiscal 2023, or did they all decline?",
        "Did any of Tellurond's segments grow revenue in fiscal 2023, or did every one of them fall?",
        "Which Tellurond segment ended fiscal 2023 with more revenue than it had at the start of the year?",
    ],
)
def test_those_that_grew_are_told_beside_the_others(question: str, ask: Ask) -> None:
    text = ask(question).answer.text
    assert text.startswith(f"{AUTOMOTIVE}: 15.9%") and f"{DATA_CENTER}: -13.5%" in text, text


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        (
            "Rank Tellurond's segments by fiscal 2024 revenue; was Automotive still the biggest, as in 2023?",
            f"1. {DATA_CENTER}: ",
            f"{DATA_CENTER} of Tellurond",
        ),
        (
            "Was Tellurond's largest segment by revenue in fiscal 2024 also the one with the fastest revenue growth?",
            f"{DATA_CENTER} of Tellurond",
            "highest growth of revenue",
        ),
        (
            "Which Tellurond segment grew revenue fastest in fiscal 2023, and did any segment's revenue shrink?",
            f"{AUTOMOTIVE} of Tellurond",
            f"{INDUSTRIAL}: -",
        ),
        (
            "Was the Tellurond segment with the largest revenue in fiscal 2024 also the most profitable one?",
            f"{DATA_CENTER} of Tellurond",
            "highest operating income",
        ),
    ],
)
def test_two_rankings_are_answered_one_by_one(question: str, first: str, second: str, ask: Ask) -> None:
    text = ask(question).answer.text
    assert first in text and second in text and "Not found" not in text, text


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Was Automotive the largest segment of Tellurond by revenue in fiscal 2024?", DATA_CENTER),
        ("In fiscal 2023, was Data Center Tellurond's fastest-growing segment?", AUTOMOTIVE),
        (
            "Between Data Center, Automotive and Connectivity, who had the sharpest revenue drop in 2023 at Tellurond?",
            INDUSTRIAL,
        ),
    ],
)
def test_a_part_is_held_against_all_of_its_kind(question: str, name: str, ask: Ask) -> None:
    text = ask(question).answer.text
    assert text.startswith(f"{name} of Tellurond") and DATA_CENTER in text and AUTOMOTIVE in text, text


def test_a_fall_is_ranked_from_the_worst_by_any_adverb(ask: Ask) -> None:
    for adverb in ("far", "steeply", "deeply"):
        text = ask(f"Rank Tellurond's segments by how {adverb} revenue fell in fiscal 2023, worst first.").answer.text
        assert f"1. {INDUSTRIAL}: -" in text and f"3. {AUTOMOTIVE}: 15.9%" in text, text
