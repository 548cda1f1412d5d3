"""Write formulas at random over lines of the statements, ask for them, and hold the answers against the exact values.

    python benchmarks/formulas.py INDEX [--number 400] [--seed 1] [--show]

Formulas have up to three operators in words or signs, brackets, constants before and behind, and lines of one or two
years; amounts are only added to amounts. Each line is first asked alone: companies and years where all are answered by
their metric are used, and these figures make the value that the formula has to have.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from fin_agent.workspace import Workspace

LINES = (
    "revenue",
    "net income",
    "total assets",
    "total liabilities",
    "operating income",
    "accounts receivable",
    "accounts payable",
    "total current assets",
    "total current liabilities",
    "cash and cash equivalents",
    "income tax expense",
    "capital expenditures",
    "research and development expense",
    "goodwill",
    "interest expense",
    "inventories",
)
_FEWEST_LINES = 8
_WORDS = {"+": ("+", "plus"), "-": ("-", "minus"), "*": ("*", "times"), "/": ("/", "divided by")}
_FRAMES = (
    "What was {formula} of {company} in fiscal {year}?",
    "{company} fiscal {year}: {formula}",
    "Calculate {formula} for {company} in fiscal {year}",
)
_NEAR, _ROUNDED = Decimal("0.002"), Decimal("0.005")


class Term(NamedTuple):
    """A formula with its value and the power of money in it."""

    text: str
    value: Decimal
    dollars: int


def figures_of(workspace: Workspace) -> Iterator[tuple[str, int, Mapping[str, Decimal]]]:
    """Yield (company, year, figures of its lines) where enough lines are answered for the year and the one before."""
    for company in workspace.directory.companies:
        filed = (workspace.directory.identities[doc_id].fiscal_year for doc_id in company.doc_ids)
        for year in sorted({year for year in filed if year})[-2:]:
            held = {
                line: value for line in LINES if (value := _asked(f"{company.name} {line} fiscal {year}", workspace))
            }
            if len(held) >= _FEWEST_LINES:
                yield company.name, year, held


def _asked(question: str, workspace: Workspace) -> Decimal | None:
    answer = workspace.ask(question).answer
    return Decimal(str(answer.value)) if answer.value else None


def drawn(figures: Mapping[str, Decimal], draw: random.Random, depth: int) -> Term:
    """Return a formula of at most `depth` operators upon one another."""
    if depth == 0 or draw.random() < 0.2:
        line = draw.choice(sorted(figures))
        return Term(line, figures[line], 1)
    left = drawn(figures, draw, depth - 1)
    if draw.random() < 0.2:
        number = draw.choice((2, 4, 7, 365))
        sign = draw.choice("*/")
        value = left.value * number if sign == "*" else left.value / number
        return Term(f"{_bracketed(left)} {draw.choice(_WORDS[sign])} {number}", value, left.dollars)
    right = drawn(figures, draw, depth - 1)
    sign = draw.choice("+-/" if left.dollars == right.dollars else "/")
    if sign == "/" and (not right.value or right.dollars != left.dollars):
        return left
    value = {"+": left.value + right.value, "-": left.value - right.value}.get(sign)
    value = left.value / right.value if value is None else value
    dollars = left.dollars - right.dollars if sign == "/" else left.dollars
    return Term(f"{_bracketed(left)} {draw.choice(_WORDS[sign])} {_bracketed(right)}", value, dollars)


def _bracketed(term: Term) -> str:
    return f"({term.text})" if term.text not in LINES else term.text


def is_right(answer: float, term: Term) -> bool:
    """Whether an answer, in the unit of its lines, in dollars or in percent, is the value, as it is rounded."""
    scales = (0, -3, -6) if term.dollars else (0, -2)  # small amounts are told in dollars
    ways = [Decimal(str(answer)).scaleb(scale) for scale in scales]
    return any(abs(way - term.value) <= max(_NEAR * abs(term.value), _ROUNDED) for way in ways)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--number", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    workspace, draw = Workspace.open(arguments.index), random.Random(arguments.seed)
    known = list(figures_of(workspace))
    counts: Counter[str] = Counter()
    while counts.total() < arguments.number:
        company, year, figures = draw.choice(known)
        term = drawn(figures, draw, 3)
        if term.text in LINES or len(set(re.findall("|".join(LINES), term.text))) < len(
            re.findall("|".join(LINES), term.text)
        ):
            continue  # a line alone, or a line twice: `x - x` has no source
        question = draw.choice(_FRAMES).format(formula=term.text, company=company, year=year)
        answer = workspace.ask(question).answer
        told = "refused" if answer.value is None else "right" if is_right(answer.value, term) else "wrong"
        counts[told] += 1
        if arguments.show and told != "right":
            print(f"{told}: {question}\n  {term.value:,.4f}\n  {answer.text[:260]}")
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))


if __name__ == "__main__":
    main()
