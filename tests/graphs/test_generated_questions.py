"""Questions in generated shapes and in several wordings, asked end to end: the figure of the filings, or none."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from fin_agent.answering.answer import Answer

if TYPE_CHECKING:
    from tests.graphs.conftest import GroundTruth

Ask = Callable[..., Answer]
BaseUnits = Callable[[Answer], Decimal | None]

FORMULAS, QUESTIONS = 60, 12
"""How many are drawn; 400 and 100 were run when the shapes were written."""
LINES = {
    "revenue": "revenue",
    "net income": "net_income",
    "operating income": "operating_income",
    "capital expenditures": "capital_expenditures",
    "total assets": "total_assets",
    "total current liabilities": "total_current_liabilities",
    "inventories": "inventories",
    "cash flow from operations": "cash_from_operations",
    "R&D expense": "research_and_development",
    "gross profit": "gross_profit",
}
FRAMES = (
    "{formula} for {company} in fiscal {year}?",
    "What was {company}'s {formula} in FY{year}?",
    "Compute {formula} for {company}, FY{year}.",
    "{company}, fiscal year {year}: {formula}",
    "{company} FY{year} coverage = {formula}",
    "What was {company}'s intensity in {year}, i.e. {formula}?",
    "{company}'s safety ratio for {year}, using {formula}?",
    "For {company} in FY{year}, calculate {formula}.",
)
_Values = Callable[[str, int], Decimal]


def _amount(chance: random.Random, depth: int) -> tuple[str, str]:
    """(words, Python over `v(line, years back)`) of an amount of dollars."""
    draw = chance.random()
    if depth == 0 or draw < 0.3:
        line = chance.choice(list(LINES))
        return line, f"v({line!r}, 0)"
    if draw < 0.4:
        line = chance.choice(["total assets", "inventories", "total current liabilities"])
        words = chance.choice(
            [f"average {line}", f"(opening {line} + closing {line}) / 2", f"average of opening and closing {line}"]
        )
        return (f"({words})" if "/" in words else words), f"((v({line!r}, 0) + v({line!r}, 1)) / 2)"
    if draw < 0.5:
        line = chance.choice(list(LINES))
        return f"prior-year {line}", f"v({line!r}, 1)"
    if draw < 0.6:
        words, python = _amount(chance, 0)
        number = chance.choice(["2", "0.5", "7", "1.25"])
        return f"({words} {chance.choice(['x', '*', 'times'])} {number})", f"({python} * D({number!r}))"
    (left, first), (right, second) = _amount(chance, depth - 1), _amount(chance, depth - 1)
    if first == second:
        return left, first  # a figure less itself is refused
    plus = chance.random() < 0.5
    sign = chance.choice(["+", "plus"] if plus else ["-", "minus", "less"])
    return f"({left} {sign} {right})", f"({first} {'+' if plus else '-'} {second})"


def _formula(chance: random.Random) -> tuple[str, str]:
    """A ratio of amounts, with constants before and behind it, or a sum of such ratios."""
    (left, first), (right, second) = _amount(chance, 2), _amount(chance, 2)
    over = chance.choice(["/", "divided by", "over"])
    words, python = f"{left} {over} {right}", f"{first} / {second}"
    draw = chance.random()
    if draw < 0.15 and "D(" not in python:
        return f"365 x {words}", f"365 * {python}"
    if draw < 0.3:
        return f"1 - {words}", f"1 - {python}"
    if draw < 0.45:
        other, third = _amount(chance, 1)
        return f"{words} + 0.5 * ({other} / total assets)", f"{python} + D('0.5') * ({third} / v('total assets', 0))"
    if draw < 0.55:
        return f"{left} as % of {right}", f"100 * {python}"
    return words, python


def test_formulas_of_generated_shapes_have_their_value_or_are_refused(
    ask: Ask, truth: GroundTruth, base_units: BaseUnits
) -> None:
    chance = random.Random(11)
    right, wrong, refused, asked = 0, [], [], 0
    while asked < FORMULAS:
        company, year = chance.choice(truth.companies), chance.choice([2023, 2024])

        def value(line: str, back: int, ticker: str = company.ticker, year: int = year) -> Decimal:
            return truth.value(ticker, LINES[line], year - back)

        words, python = _formula(chance)
        try:
            wanted = eval(python, {"v": value, "D": Decimal})
        except (AssertionError, ZeroDivisionError):
            continue
        asked += 1
        question = chance.choice(FRAMES).format(formula=words, company=company.short, year=year)
        answer = ask(question)
        got = base_units(answer)
        if got is None:
            refused.append((question, answer.answer.text))
            continue
        near = {wanted, wanted * 100, wanted / 100}  # a share may be told in percent
        if any(abs(got - one) <= abs(one) * Decimal("0.006") + Decimal("0.006") for one in near):
            right += 1
        else:
            wrong.append((question, float(got), float(wanted)))
    assert not wrong, wrong[:5]
    assert right >= 0.95 * asked, f"{right} of {asked}: {refused}"


WORDINGS = {
    "{line}": (
        "What was {company}'s {line} in fiscal {year}?",
        "{company} {line} FY{year}",
        "{company} - {line}, fiscal {year}",
        "How much {line} did {company} report for {year}?",
        "I need the {line} of {company} for the year {year}, please.",
    ),
    "{line} / {other}": (
        "What was {line} as a percentage of {other} at {company} in fiscal {year}?",
        "{company} FY{year}: {line} / {other}",
        "{company}'s {line} to {other} ratio in {year}?",
        "What share of {company}'s {other} was {line} in {year}?",
        "For {company} in {year}, {line} divided by {other}?",
    ),
    "change in {line}": (
        "By how much did {company}'s {line} change in fiscal {year}?",
        "What was the change in {line} at {company} from {before} to {year}?",
        "{company} {line}: {year} minus {before}?",
        "How much did {line} move at {company} between {before} and {year}?",
        "Change in {company}'s {line}, FY{year} vs FY{before}?",
    ),
    "growth of {line}": (
        "How fast did {company}'s {line} grow in fiscal {year}?",
        "{company} {line} growth FY{year}",
        "By what percentage did {line} of {company} change from {before} to {year}?",
        "What was the year-over-year growth in {line} at {company} in {year}?",
        "{company}: {line} growth rate, {year} against {before}?",
    ),
}


def test_five_wordings_of_a_question_have_one_figure(ask: Ask, truth: GroundTruth) -> None:
    chance = random.Random(5)
    same, told, other = 0, 0, []
    for _ in range(QUESTIONS):
        company, year = chance.choice(truth.companies), chance.choice([2023, 2024])
        line, divisor = chance.sample(["revenue", "net income", "operating income", "capital expenditures"], 2)
        wordings = WORDINGS[chance.choice(list(WORDINGS))]
        fields = {"company": company.short, "year": year, "before": year - 1, "line": line, "other": divisor}
        values = [(ask(text.format(**fields)).answer.value, text.format(**fields)) for text in wordings]
        known = [value for value, _ in values if value is not None]
        first = max(known, key=lambda value: sum(_alike(value, one) for one in known), default=None)
        told += len(values)
        same += sum(first is not None and value is not None and _alike(value, first) for value, _ in values)
        other += [
            text for value, text in values if value is not None and first is not None and not _alike(value, first)
        ]
    assert not other, other
    assert same >= 0.95 * told, f"{same} of {told}"


def _alike(one: float, other: float) -> bool:
    """The same figure, a share as a fraction or in percent."""
    return any(abs(one - value) <= 0.006 * abs(value) + 0.006 for value in (other, other * 100, other / 100))
