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
_NEAR = Decimal("0.002")
_SCALES = {"USD thousands": 3, "USD millions": 6, "USD billions": 9, "percent": -2}
_LINE = re.compile("|".join(sorted(LINES, key=len, reverse=True)))


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
            asked = ((line, _asked(f"{company.name} {line} fiscal {year}", workspace)) for line in LINES)
            held = {line: value for line, value in asked if value}
            if len(held) >= _FEWEST_LINES:
                yield company.name, year, held


def _asked(question: str, workspace: Workspace) -> Decimal | None:
    """Return the answer to a question in its base unit: dollars, or the quotient of a percentage; None without any."""
    answer = workspace.ask(question).answer
    scale = _SCALES.get(answer.unit or "", 0)
    return Decimal(str(answer.value)).scaleb(scale) if answer.value is not None else None


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
        lines = _LINE.findall(term.text)
        if term.text in LINES or len(set(lines)) < len(lines):
            continue  # a line alone, or a line twice: `x - x` has no source
        question = draw.choice(_FRAMES).format(formula=term.text, company=company, year=year)
        value = _asked(question, workspace)
        is_right = value is not None and abs(value - term.value) <= _NEAR * abs(term.value)
        told = "refused" if value is None else "right" if is_right else "wrong"
        counts[told] += 1
        if arguments.show and told != "right":
            print(f"{told}: {question}\n  {term.value:,.4f}, told {value}")
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))


if __name__ == "__main__":
    main()
