"""Ask for printed rows by their own names, and hold the answers against the figures that stand in them.

    python benchmarks/printed_lines.py INDEX [--number 500] [--seed 1] [--show]

Rows of annual and quarterly reports are drawn at random; each has one figure for the period of its report, and no
other row of this name in the same report has another. Nothing but the name, the company and the period is asked, so
that a miss is one of reading names or of choosing among rows. `--show` prints the misses.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from fin_agent.index.protocol import SourcedFact
from fin_agent.workspace import Workspace

_FEWEST, _MOST = 2, 9
"""Words of a name: single words are asked with a part or a statement, and longer names are sentences."""
_FORMS = (
    "What was {company}'s {name} in {period}?",
    "{company} {name} {period}",
    "How much was the {name} of {company} in {period}?",
)
_NUMBER = re.compile(r"(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<scale>%|thousand|million|billion)?")
_SCALES = {"thousand": 3, "million": 6, "billion": 9}
_NEAR = Decimal("0.006")
_REFUSAL = "This cannot be answered"


class Asked(NamedTuple):
    question: str
    sourced: SourcedFact


def questions(workspace: Workspace, number: int, seed: int) -> Iterator[Asked]:
    draw, directory = random.Random(seed), workspace.directory
    reports = [
        doc_id for doc_id, one in sorted(directory.identities.items()) if one.fiscal_year and doc_id in directory.owners
    ]
    while number:
        doc_id = draw.choice(reports)
        identity = directory.identities[doc_id]
        rows = [
            each
            for each in workspace.index.facts([doc_id], years=[identity.fiscal_year or 0])
            if each.fact.source == "table" and each.fact.amount and each.fact.period.quarter == identity.quarter
        ]
        values = defaultdict(set)
        for each in rows:
            values[each.fact.label.lower()].add(abs(each.fact.value))
        fitting = [
            each for each in rows if len(values[each.fact.label.lower()]) == 1 and _can_be_asked(each.fact.label)
        ]
        if not fitting:
            continue
        chosen = draw.choice(fitting)
        name = re.sub(r"\s*\((?:\d|[a-z])\)\s*$", "", chosen.fact.label).strip(" :.,")
        name = name[0].lower() + name[1:] if name[1:2].islower() else name
        year = f"fiscal {identity.fiscal_year}"
        period = f"Q{identity.quarter} {year}" if identity.quarter else year
        company = directory.by_key[directory.owners[doc_id]].name
        yield Asked(draw.choice(_FORMS).format(company=company, name=name, period=period), chosen)
        number -= 1


def _can_be_asked(label: str) -> bool:
    return _FEWEST <= len(re.findall(r"[A-Za-z]{3,}", label)) <= _MOST and not re.search(r"\d", label)


def is_right(answer: str, value: Decimal) -> bool:
    """Whether an answer has the figure, in its scale or, for a rate, in percent."""
    for found in _NUMBER.finditer(answer):
        amount = Decimal(found["number"].replace(",", "")).scaleb(_SCALES.get(found["scale"] or "", 0))
        ways = (amount, amount / 100) if found["scale"] == "%" else (amount,)
        if any(abs(way - abs(value)) <= _NEAR * abs(value) for way in ways):
            return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--number", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    workspace = Workspace.open(arguments.index)
    counts: Counter[str] = Counter()
    for question, sourced in questions(workspace, arguments.number, arguments.seed):
        answer = workspace.ask(question).answer
        told = "right" if is_right(answer.text, sourced.fact.value) else "another figure"
        told = "refused" if answer.text.startswith(_REFUSAL) else told
        counts[told] += 1
        if arguments.show and told != "right":
            place = f"{sourced.doc_id} page {sourced.key.page + 1}: {sourced.fact.value:,}"
            print(f"{told}: {question}\n  {place}\n  {answer.text[:200]}")
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))


if __name__ == "__main__":
    main()
