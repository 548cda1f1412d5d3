"""The sizes that texts give their numbers."""

from __future__ import annotations

import pytest

from fin_agent.analyst.model.grounding import (
    Quote,
    non_figure_numbers,
    scaled_numbers_in,
    unsupported_numbers,
)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("$3,533 million", ["million"]),
        ("$3.5bn, $3.5 b, 3.5 bn and 3.5B", ["billion"] * 4),
        ("US$12mm or $12 M or 12 mn", ["million"] * 3),
        ("41k, 41 dozen, 41 hundred thousand", ["thousand", "dozen", "hundred thousand"]),
        ("(6.0)% | 6.0 | % and 6.0 per cent", ["%", "%", "%"]),
        ("30 basis points, 30bps, 3 percentage points", ["basis points", "basis points", "points"]),
        ("41 laboratories, 5 best, 7 k-factors, 3 buyers", ["", "", "", ""]),
        ("2,000,000 people in 2023.", ["", ""]),
    ],
)
def test_sizes_behind_numbers(text: str, sizes: list[str]) -> None:
    assert [each.size for each in scaled_numbers_in(text)] == sizes


@pytest.mark.parametrize(
    ("words", "quote", "lacking"),
    [
        ("between 3% and 5%", "an increase of 3 to 5 percent", ()),
        ("$2.1 billion and $3.4 billion", "were $2.1, $2.9 and $3.4 billion", ()),
        ("$2.1 million", "were $2.1, $2.9 and $3.4 billion", ("2.1 million",)),
        ("41 million", "41 laboratories and $5 million", ("41 million",)),
        ("a 1.3% decline", "a decline of 1.3 percentage points", ("1.3 %",)),
        ("3,533 million", "Net sales | 3,533", ("3533 million",)),
        ("its 401k plan", "our 401(k) plan", ()),
    ],
)
def test_a_size_is_that_of_the_quote(words: str, quote: str, lacking: tuple[str, ...]) -> None:
    assert unsupported_numbers(words, [Quote(quote)], "", "") == lacking


def test_names_and_bounds_of_a_question_are_its_own() -> None:
    question = "Did its 57 shops of FY23 yield more than 6% in Q2 by Note 9 of 12/31/2023?"
    assert set(non_figure_numbers(question).split()) >= {"2023", "9", "12/31/2023"}
    assert not {"57", "6", "6%"} & set(non_figure_numbers(question).split())
    assert unsupported_numbers("More than 6%, by Note 9", [], "", question) == ()
    assert unsupported_numbers("It yields 6% of 57", [], "", question) == ("6", "57")
    assert unsupported_numbers("More than 6 million", [], "", question) != ()
    assert unsupported_numbers("It yields 6% of 57", [], "", question, denied=True) == ()


@pytest.mark.parametrize(
    ("words", "lacking"),
    [
        ("Gross margin rose 2.1 percentage points, from 43.1% to 45.2%.", ()),
        ("Gross margin rose by 210 basis points.", ()),
        ("Gross margin rose by some 2 points.", ()),
        ("Gross margin rose 2.2 percentage points.", ("2.2",)),
        ("Gross margin rose 2.1%.", ("2.1",)),
    ],
)
def test_points_may_be_said_of_two_quoted_percentages(words: str, lacking: tuple[str, ...]) -> None:
    quotes = [Quote("Gross margin 45.2%"), Quote("Gross margin was 43.1% in 2022")]
    assert unsupported_numbers(words, quotes, "2022", "") == lacking
