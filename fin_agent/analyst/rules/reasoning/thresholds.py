"""Parts beside a share of the whole: `which segments represent more than 20% of revenue`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from fin_agent.analyst.protocol import Reasoning
from fin_agent.analyst.rules.reasoning.extremes import standings
from fin_agent.analyst.rules.reasoning.kinds import Kind
from fin_agent.analyst.rules.reasoning.ranked import Ranked
from fin_agent.analyst.rules.reasoning.scoring import Sought
from fin_agent.analyst.rules.reasoning.tables import plain_label
from fin_agent.analyst.rules.reasoning.wholes import whole_of
from fin_agent.evidence.evidence import Evidence
from fin_agent.index.protocol import FilingIndex

_ASKED = re.compile(
    r"\b(?:there\s+any|which|what|any|list(?:\s+the|\s+all)?|name(?:\s+the|\s+all)?)\s+(?:of\s+)?(?:(?:the|its|their)\s+)?"
    r"(?P<noun>[^?]*?)\s+(?:that\s+|which\s+)?(?:each\s+)?(?:represent\w*|account\w*\s+for|contribut\w*|ma[dk]e\w*\s+up|constitut\w*"
    r"|compris\w*|generat\w*)\s+(?P<bound>more\s+than|over|at\s+least|greater\s+than|above|less\s+than|under|below)\s+"
    r"(?P<share>\d+(?:\.\d+)?)\s*(?:%|percent)\s+of\s+(?P<whole>[^?]+)",
    re.I | re.S,
)
_LESS = re.compile(r"less|under|below", re.I)
_LEAST = re.compile(r"at\s+least", re.I)
_HUNDRED = Decimal(100)


def parts_beyond(sought: Sought, evidence: Sequence[Evidence], index: FilingIndex) -> Reasoning | None:
    """The parts whose revenue is beyond the share asked for, with the whole beside them; yes or no first where asked.

    None where no table of the evidence shows parts with a whole that is the company's own.
    """
    asked = _ASKED.search(sought.intent.core)
    metrics = sought.lexicon.metrics_in(asked["whole"]) if asked and sought.lexicon is not None else ()
    if asked is None or metrics != ("revenue",):
        return None
    found = list(standings(Ranked(asked["noun"], "revenue", highest=True), sought, evidence, index))
    best = max((each.fit for each in found), default=0.0)
    first = [each for each in found if each.fit == best]
    if not first or len({tuple(map(plain_label, each.rows)) for each in first}) > 1:
        return None
    standing = first[0]
    placed, column = standing.group.placed, standing.column
    whole = whole_of(standing.group, column, index)
    total = whole.cells[column] if whole is not None else None
    if whole is None or total is None:
        return None
    share = Decimal(asked["share"])
    fewer, least = _LESS.search(asked["bound"]), _LEAST.search(asked["bound"])
    taken = []
    for row in standing.rows:
        cell = row.cells[column]
        if cell is None:
            continue
        beside = cell.amount * _HUNDRED - share * total.amount
        if beside < 0 if fewer else beside > 0 or (least and beside == 0):
            taken.append((row, cell))
    listed = "; ".join(f"{plain_label(row)} ({placed.said(cell)})" for row, cell in taken)
    bound = f"{' '.join(asked['bound'].lower().split())} {share}% of {plain_label(whole)} ({placed.said(total)})"
    period = placed.period(column)
    verdict = ("Yes: " if taken else "No: ") if sought.kind is Kind.VERDICT else ""
    none = f"none of {len(standing.rows)} rows is {bound}, {period}; {plain_label(standing.rows[0])} comes first."
    text = f"{verdict}{f'{listed}: {bound}, {period}.' if taken else none}"
    rows = [row for row, _ in taken] if taken else list(standing.rows[:1])
    return Reasoning(text=text, citations=tuple(placed.cited(row, column) for row in (*rows, whole)))
