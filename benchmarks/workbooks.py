"""Whether exported workbooks compute their answers: `python benchmarks/workbooks.py INDEX [--answers 50] [--seed 0]`.

Asks questions of the index, exports each answer as a workbook, takes out the values that stand beside its formulas, has
LibreOffice calculate it, and compares. Each input's comment has to name filing, page and line. Needs `soffice`, the
extra `excel`, and openpyxl.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from math import isclose
from pathlib import Path

from openpyxl import load_workbook

from fin_agent import Answer, Workspace
from fin_agent.presentation.exports import answer_workbook

ASKED = (
    "What was {company}'s {line} in FY{year}?",
    "How much did {company}'s {line} change from FY{before} to FY{year}?",
    "What was {company}'s average {line} over FY{before} - FY{year}?",
    "What was {company}'s {line} as a percentage of revenue in FY{year}?",
    "Which company had the higher {line} in FY{year}, {company} or {other}?",
)
LINES = (
    "net income", "gross margin", "operating margin", "operating income", "current ratio", "inventory turnover",
    "cost of revenue", "capital expenditures", "return on assets", "effective tax rate", "net margin", "debt to equity",
)  # fmt: skip
SOURCE = re.compile(r"\S+ page \d+ line \d+")
RESULT = "B3"


def main() -> int:
    """Ask, export, recalculate, compare; 1 where one workbook does not give its answer's value."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index")
    parser.add_argument("--answers", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        answers = dict(zip(range(given.answers), computed(Workspace.open(given.index), given.seed), strict=False))
        inputs = unsourced = 0
        for number, answer in answers.items():
            file = folder / f"{number}.xlsx"
            file.write_bytes(answer_workbook([answer]))
            book = load_workbook(file)
            for row in book.active.iter_rows(min_row=6):
                for cell in row:
                    if cell.column == 2 and isinstance(cell.value, int | float):
                        inputs += 1
                        unsourced += cell.comment is None or SOURCE.search(cell.comment.text) is None
            book.save(file)  # without the values that were written beside the formulas
        command = ["soffice", "--headless", "--convert-to", "xlsx", "--outdir", str(folder / "calculated")]
        files = [str(folder / f"{number}.xlsx") for number in answers]
        subprocess.run([*command, *files], check=True, capture_output=True)
        wrong = []
        for number, answer in answers.items():
            value = load_workbook(folder / "calculated" / f"{number}.xlsx", data_only=True).active[RESULT].value
            if not isinstance(value, int | float) or not isclose(
                value, answer.answer.value or 0, rel_tol=1e-9, abs_tol=1e-9
            ):
                wrong.append((answer.question, answer.answer.value, value))
    for question, expected, value in wrong:
        print(f"{question}: {expected} is answered, {value} is calculated", file=sys.stderr)
    print(f"{len(answers) - len(wrong)} of {len(answers)} workbooks give the answer's value")
    print(f"{inputs - unsourced} of {inputs} inputs name filing, page and line in a comment")
    return bool(wrong or unsourced)


def computed(workspace: Workspace, seed: int) -> Iterator[Answer]:
    """Answers that a program computed, of questions drawn at random; none twice."""
    drawn = random.Random(seed)
    names = sorted(company.name for company in workspace.directory.companies)
    years = {each.company: each.annual for each in workspace.years.values() if each.annual}
    seen: set[str] = set()
    while len(seen) < 3_000:
        company, other = drawn.choice(sorted(years)), drawn.choice(names)
        year = drawn.choice(years[company])
        question = drawn.choice(ASKED).format(
            company=company, other=other, year=year, before=year - 1, line=drawn.choice(LINES)
        )
        if question in seen or company == other:
            continue
        seen.add(question)
        answer = workspace.ask(question)
        if not answer.refused and answer.program and answer.answer.value is not None:
            yield answer


if __name__ == "__main__":
    sys.exit(main())
