"""Generated formulas, asked of the sample filings: brackets, amounts, numbers and lines of other years."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer
from tests.graphs.conftest import SCALES, GroundTruth

Ask = Callable[..., Answer]
LINES = {
    "revenue": "revenue", "net income": "net_income", "capex": "capital_expenditures", "gross profit": "gross_profit",
    "operating income": "operating_income", "total assets": "total_assets", "R&D expense": "research_and_development",
}  # fmt: skip
SIGNS = {
    "+": (("+", "plus"), operator.add), "-": (("-", "minus", "less"), operator.sub),
    "*": (("*", "times"), operator.mul), "/": (("/", "over", "divided by"), operator.truediv),
}  # fmt: skip
AMOUNTS = (("$1.5 billion", 1.5e9), ("$1,200 million", 1.2e9), ("250 million", 2.5e8), ("$2 billion", 2e9))
FRAMES = ("What is {} for Harborlight in FY2024?", "Harborlight FY2024: {}", "For Harborlight in 2024, calculate {}")
Formula = tuple[str, float]
"""A formula in words and its value."""


def bracketed(formula: Formula) -> str:
    words, _ = formula
    return f"({words})" if " " in words else words


def joined(sign: str, left: Formula, right: Formula, chance: random.Random) -> Formula:
    spellings, apply = SIGNS[sign]
    return f"{bracketed(left)} {chance.choice(spellings)} {bracketed(right)}", apply(left[1], right[1])


def dollars(chance: random.Random, depth: int, truth: GroundTruth) -> Formula:
    if depth == 0:
        words, metric = chance.choice(list(LINES.items()))
        year = chance.choice((2022, 2023, 2024, 2024, 2024))
        value = abs(float(truth.value("HLGT", metric, year)))
        return f"{year} {words}" if year != 2024 else words, value
    sign = chance.choice(list(SIGNS))
    left = dollars(chance, depth - 1, truth)
    if sign in "*/":
        number = chance.choice((2, 4, 12, 0.5))
        return joined(sign, left, (str(number), number), chance)
    return joined(sign, left, chance.choice((dollars(chance, depth - 1, truth), chance.choice(AMOUNTS))), chance)


def formulas(truth: GroundTruth, seed: int, number: int) -> list[Formula]:
    """Formulas over any years, without a figure less or over itself."""
    chance, made = random.Random(seed), list[Formula]()
    while len(made) < number:
        formula = dollars(chance, chance.choice((1, 2)), truth)
        if chance.random() < 0.5:
            formula = joined("/", formula, dollars(chance, chance.choice((0, 1)), truth), chance)
        words, value = formula
        lines = [line for line in LINES for _ in range(words.count(line))]
        if lines and len(set(lines)) == len(lines) and value:
            made.append(formula)
    return made


@pytest.mark.parametrize("seed", range(4))
def test_formulas_have_their_exact_value(ask: Ask, truth: GroundTruth, seed: int) -> None:
    wrong: list[str] = []
    refused = 0
    for place, (words, value) in enumerate(formulas(truth, seed, 30)):
        answer = ask(FRAMES[place % len(FRAMES)].format(words))
        unit, found = answer.answer.unit or "", answer.answer.value
        refused += answer.refused
        scale = 0.01 if unit == "percent" else SCALES.get(unit, 1)
        if not answer.refused and (found is None or found * scale != pytest.approx(value)):
            wrong.append(f"{words}: {answer.answer.text}, not {value}")
    assert not wrong
    assert refused <= 1


def test_a_divisor_is_of_the_year_of_what_it_divides(ask: Ask, truth: GroundTruth) -> None:
    def margin(year: int) -> float:
        income, revenue = (float(truth.value("HLGT", metric, year)) for metric in ("operating_income", "revenue"))
        return income / revenue

    answer = ask("Harborlight FY2024 operating income over revenue less FY2023 operating income over revenue").answer
    scale = 0.01 if answer.unit in ("percent", "percentage points") else 1
    assert (answer.value or 0) * scale == pytest.approx(margin(2024) - margin(2023))
