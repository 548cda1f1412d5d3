"""A figure counts as stated where it is the answer's own, and not where it merely stands in a long text."""

from __future__ import annotations

import pytest

from fin_agent.evaluation.answer_scoring import first_sentence, published_numeric_match, stated_match


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Net sales of Brightwater Inc. Group rose. They had been 5.", "Net sales of Brightwater Inc. Group rose."),
        ("By No. 5 of the list, J. Harrow leads", "By No. 5 of the list, J. Harrow leads"),
        ("It was 0.54. The year before 0.5.", "It was 0.54."),
        ("Rates went up.” 1 See the glossary.", "Rates went up."),
        ("One line\nand another", "One line\nand another"),
        ("", ""),
    ],
)
def test_first_sentence(text: str, first: str) -> None:
    assert first_sentence(text) == first


@pytest.mark.parametrize(
    ("value", "unit", "text", "gold", "matches"),
    [
        (34.64, "percent", "It fell.", "from 36.8% to 34.6%", True),
        (0.3464, "ratio", "It fell.", "34.6%", True),
        (2018.0, "USD millions", "", "$2,018mn", True),
        (2.018, "USD billions", "", "$2,018mn", True),
        (2018.0, "USD thousands", "", "$2,018mn", False),
        (36.0, "USD millions", "", "36%", False),
        (2.5, "percent", "", "$2.5bn", False),
        (0.66, "ratio", "", "0.66", True),
        (11588.0, "USD millions", "", "$11588.00", True),
        (None, None, "It was $1,097 million. More is planned.", "$1097 million and $862 million", True),
        (None, None, "More is planned. It was $1,097 million.", "$1097 million and $862 million", False),
        (None, None, "A tenth, 40 aircraft, was sold.", "40%", False),
        (None, None, "The share is 40.3%.", "40%", True),
        (None, None, "The share is 42%.", "40%", False),
        (None, None, "They owe $2.5 million.", "$2.5bn", False),
        (None, None, "They owe 2,544.", "$2,500", True),
        (None, None, "In 12 months", "12 months", False),
    ],
)
def test_stated(value: float | None, unit: str | None, text: str, gold: str, matches: bool) -> None:
    assert stated_match(value, unit, text, gold) is matches


def test_the_published_rule_takes_what_happens_to_stand_there() -> None:
    text = "Guidance was raised to 9 percent, from 8 percent before. Given the start, see note 1 of the release."
    gold = "It was raised by 1 percentage point."
    assert published_numeric_match(text, gold)
    assert not stated_match(None, None, text, gold)


def test_what_the_question_says_is_no_match() -> None:
    gold = "Yes, more than 20%: it is 39%."
    asked = "Is some segment more than 20% of revenue?"
    assert not stated_match(None, None, "A segment of more than 20% is reported.", gold, asked)
    assert stated_match(None, None, "A segment of 39% is reported.", gold, asked)
