"""Formulas written out in a question, in generated shapes: every one is read whole, with the value it has."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from fin_agent.lexicon.company_mentions import CompanyDirectory
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.query.lexer import KnownName, KnownNames
from fin_agent.query.parsing import NoReadingError
from fin_agent.query.reading import candidate_readings, read_question
from fin_agent.query.tree import Function, Line, Measure, Move, NamedFormula, Number, Operation
from fin_agent.vocabulary.identity import Form, Identity

LINES = {
    "revenue": "revenue",
    "net income": "net_income",
    "operating income": "operating_income",
    "capital expenditures": "capital_expenditures",
    "total assets": "total_assets",
    "depreciation and amortization": "depreciation_and_amortization",
    "interest expense": "interest_expense",
    "cost of revenue": "cost_of_revenue",
    "inventories": "inventories",
    "cash from operations": "cash_from_operations",
    "research and development expense": "research_and_development",
    "total current liabilities": "total_current_liabilities",
    "regulatory credits sold abroad": "",
    "long-lived assets": "",
}
SIGNS = {
    "+": ("+", "plus"),
    "-": ("-", "minus"),
    "*": ("*", "times", "multiplied by"),
    "/": ("/", "divided by"),
}
FRAMES = (
    "{} for Apple in fiscal 2024?",
    "What was Apple's {} in 2024?",
    "Compute {} for Apple, FY2024.",
    "Apple, fiscal year 2024: {}",
    "For Apple in 2024, calculate {}.",
)


@pytest.fixture(scope="module")
def names() -> KnownNames:
    apple = Identity(company="Apple Inc.", form=Form.TEN_K, ticker="AAPL")
    return KnownNames(load_lexicon(), CompanyDirectory([("apple", apple)]))


def _shape(chance: random.Random, depth: int) -> tuple[str, str]:
    """A formula in words and as Python over `v(line, year)`."""
    if depth == 0 or chance.random() < 0.25:
        if chance.random() < 0.18:
            number = chance.choice(["7", "365", "1,000", "0.5", "12", "100", "2"])
            return number, number.replace(",", "")
        line = chance.choice(list(LINES))
        return line, f"v({line!r})"
    operator = chance.choice(list(SIGNS))
    left, right = _shape(chance, depth - 1), _shape(chance, depth - 1)
    sign = chance.choice(SIGNS[operator])
    sides = [(f"({words})", f"({python})") if _compound(python) else (words, python) for words, python in (left, right)]
    return f"{sides[0][0]} {sign} {sides[1][0]}", f"{sides[0][1]} {operator} {sides[1][1]}"


def _compound(python: str) -> bool:
    return any(f" {operator} " in python for operator in SIGNS)


def _value(measure: Measure, figures: dict[str, float]) -> float:
    match measure:
        case Number(value=value):
            return value
        case Line(words=words, period=period):
            return figures[words] * (1 if period is None else period.fiscal_year or 1)
        case Operation(operator=operator, left=left, right=right):
            first, second = _value(left, figures), _value(right, figures)
            return eval(f"a {operator.replace('^', '**')} b", {"a": first, "b": second})
        case Function(name="mean", of=parts):
            return sum(_value(part, figures) for part in parts) / len(parts)
        case Function(name="sum", of=parts):
            return sum(_value(part, figures) for part in parts)
        case NamedFormula() | Move() | Function():
            raise AssertionError(measure)


def test_generated_formulas_have_their_exact_value(names: KnownNames) -> None:
    chance = random.Random(7)
    figures = {line: chance.uniform(3, 900) for line in LINES}
    wrong: list[str] = []
    asked = 0
    while asked < 400:
        words, python = _shape(chance, chance.choice([1, 2, 2, 3]))
        if not _compound(python) or "v(" not in python:
            continue
        try:
            wanted = eval(python, {"v": figures.__getitem__})
        except ZeroDivisionError:
            continue
        asked += 1
        question = chance.choice(FRAMES).format(words)
        query = read_question(question, names)
        wanted = eval(python, {"v": figures.__getitem__})
        if (
            query.unread
            or len(query.measures) != 1
            or abs(_value(query.measures[0], figures) - wanted) > 1e-9 * abs(wanted)
        ):
            wrong.append(question)
    assert not wrong, f"{len(wrong)} of {asked}: {wrong[:8]}"


YEARS = (
    ("(2024 revenue - 2022 revenue) / 2022 revenue for Apple", "(r * 2024 - r * 2022) / (r * 2022)"),
    ("Apple revenue in 2024 minus revenue in 2023", "r"),
    ("Apple: 2024 capital expenditures / average of 2023 and 2024 total assets", "c * 2024 / (a * 2023.5)"),
    ("Apple's 2024 revenue squared / 2023 net income", "(r * 2024) ** 2 / (n * 2023)"),
    ("What is the sum of 2024 revenue and 2023 net income of Apple?", "r * 2024 + n * 2023"),
)


@pytest.mark.parametrize(("question", "wanted"), YEARS)
def test_each_line_may_be_of_its_own_year(names: KnownNames, question: str, wanted: str) -> None:
    figures = {line: 3.0 + place for place, line in enumerate(LINES)}
    query = read_question(question, names)
    assert not query.unread
    assert len(query.measures) == 1
    short = {"r": "revenue", "c": "capital expenditures", "a": "total assets", "n": "net income"}
    value = eval(wanted, {letter: figures[line] for letter, line in short.items()})
    assert _value(query.measures[0], figures) == pytest.approx(value)


@pytest.mark.parametrize(
    "question", ["Apple (revenue - net income / total assets in 2024?", "Apple revenue) / 2 in 2024?"]
)
def test_a_bracket_that_is_not_closed_is_told(names: KnownNames, question: str) -> None:
    with pytest.raises(NoReadingError, match="bracket"):
        read_question(question, names)


@pytest.mark.parametrize("words", ["A B ", "revenue in 2023, ", "up down "])
def test_questions_of_very_many_words_are_refused(names: KnownNames, words: str) -> None:
    with pytest.raises(NoReadingError, match="more than the limit of 400"):
        read_question(words * 450, names)


def test_a_superlative_may_begin_the_name_of_a_line(names: KnownNames) -> None:
    first, *_ = candidate_readings("Apple's minimum sublease payments in fiscal 2024?", names)
    assert [line.words for line in first.lines()] == ["minimum sublease payments"] and first.comparison is None


@pytest.mark.parametrize(
    "name", ["Cash conversion", "Spending margin against volume", "Operating intensity, please", "Total capital turns"]
)
@pytest.mark.parametrize(
    "formula", ["(revenue - cost of revenue) / total assets", "inventories / cost of revenue x 365"]
)
def test_a_formula_behind_a_colon_is_asked_for_whatever_it_is_called(
    names: KnownNames, name: str, formula: str
) -> None:
    bare = read_question(f"{formula} for Apple in 2024?", names)
    read = [one for one in candidate_readings(f"{name} for Apple in 2024: {formula}.", names) if not one.unread]
    assert bare.measures in [one.measures for one in read]
    assert all(one.periods == bare.periods for one in read)


@pytest.mark.parametrize("request_words", ["Growth of cash conversion", "The highest cash conversion of the segments"])
def test_words_that_ask_for_more_than_a_formula_behind_a_colon_are_not_passed_over(
    names: KnownNames, request_words: str
) -> None:
    try:
        read = list(candidate_readings(f"{request_words} for Apple in 2024: net income / total assets.", names))
    except NoReadingError:
        return
    bare = read_question("net income / total assets for Apple in 2024?", names)
    passed_over = [one for one in read if not one.unread and (one.kind, one.measures) == (bare.kind, bare.measures)]
    assert not passed_over


@pytest.mark.parametrize(
    ("question", "kind", "measure"),
    [
        ("Which region brought Apple the most iPhone revenue in 2024?", "region", "iPhone revenue"),
        ("Which Apple iPhone product line had the lowest revenue in 2024?", "product", "iPhone revenue"),
        ("Which acquisition contributed most to Apple's goodwill in 2024?", "acquisition", "goodwill"),
        ("What was the largest component of Apple's inventories in 2024?", "component", "inventories"),
    ],
)
def test_what_is_ranked_is_a_kind_of_part_and_a_part_beside_it_a_word_of_the_line(
    names: KnownNames, question: str, kind: str, measure: str
) -> None:
    def parts_in(text: str, keys: Sequence[str]) -> list[KnownName]:
        return [KnownName("iPhone", at, at + len("iPhone")) for at in [text.find("iPhone")] if at >= 0]

    query = read_question(question, replace(names, parts_in=parts_in))
    assert query.parts is not None and (query.parts.kind, query.parts.names) == (kind, ())
    assert [line.words for line in query.lines()] == [measure] and not query.unread
