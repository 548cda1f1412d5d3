"""Questions of every kind made from an index, and what their answers came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fin_agent.evaluation import Family
from fin_agent.evaluation.benchmark import MEDIAN_SECONDS, QUESTIONS, REFUSED, Column, Report, Row, report_on
from fin_agent.evaluation.generated import question_generators, unanswerable
from fin_agent.evaluation.generated.question import GeneratedQuestion
from fin_agent.evaluation.generated.sampling import Maker, Material, questions_of
from fin_agent.workspace import Workspace

COUNTS: Mapping[Family, int] = {Family.MULTI_FILING: 100, Family.UNANSWERABLE: 60, Family.LOOKUP: 120}
"""How many questions of each family are made where nothing else is said."""

_MAKERS: Mapping[Family, Sequence[tuple[str, Maker, int]]] = {
    Family.MULTI_FILING: (
        ("total", question_generators.total, 15),
        ("average", question_generators.average, 14),
        ("change", question_generators.change, 12),
        ("growth", question_generators.growth, 9),
        ("annual growth", question_generators.annual_growth, 7),
        ("difference", question_generators.difference, 11),
        ("ratio", question_generators.ratio, 8),
        ("highest", question_generators.highest, 9),
        ("of highest", question_generators.of_highest, 5),
        ("faster", question_generators.faster, 4),
        ("combined", question_generators.combined, 3),
        ("highest over years", question_generators.highest_over_years, 3),
    ),
    Family.UNANSWERABLE: (
        ("company absent", unanswerable.company_absent, 1),
        ("year absent", unanswerable.year_absent, 1),
        ("metric not reported", unanswerable.metric_absent, 1),
        ("period not filed", unanswerable.period_absent, 1),
    ),
    Family.LOOKUP: (
        ("lookup, own year", question_generators.own_year, 6),
        ("lookup, earlier column", question_generators.earlier_year, 5),
        ("lookup, quarter", question_generators.of_a_quarter, 1),
    ),
}
"""Names of makers, and the weight of each among its family."""


def generated_questions(
    workspace: Workspace, families: Sequence[Family], seed: int, *, counts: Mapping[Family, int] = COUNTS
) -> tuple[GeneratedQuestion, ...]:
    """Questions over what the index holds, family by family; the same index and seed give the same ones."""
    material = Material(workspace)
    if not material.companies:
        return ()
    questions: list[GeneratedQuestion] = []
    for family in families:
        known = [
            each for each in _MAKERS[family] if material.quarterly or each[1] is not question_generators.of_a_quarter
        ]
        questions += questions_of(material, known, counts[family], seed)
    return tuple(questions)


def report_on_made(rows: Sequence[Row], title: str, caption: str = "") -> Report:
    """The figures by family, then by kind. Raises ValueError without rows."""
    return report_on(rows, title, f"{_CAPTION}{caption}", _COLUMNS, ("family", "kind"), overall=False)


def miss_lines(row: Row) -> Iterator[str]:
    """A miss in words: the question, what was expected, what came, what was missing."""
    yield f"{row.labels['kind']}: {row.question}"
    yield f"  expected {row.gold} ({', '.join(row.figures['filings'])})"
    yield f"  {'refused' if row.refused else 'answered'} {row.text} ({row.figures['rounds']} rounds)"
    if row.figures["slots_lacking"]:
        yield f"  lacking {', '.join(row.figures['slots_lacking'])}"


def _rounds(rows: Sequence[Row]) -> dict[int, int]:
    """How many questions ended after so many rounds."""
    return dict(sorted(Counter(row.figures["rounds"] for row in rows).items()))


_COLUMNS = (
    QUESTIONS,
    Column("full_ledger", "full"),
    Column("rounds", "rounds 1/2/3", _rounds, lambda rounds: "/".join(str(rounds.get(each, 0)) for each in (1, 2, 3))),
    Column("right", "right"),
    REFUSED,
    Column("wrong", "wrong"),
    Column("missing_named", "named"),
    MEDIAN_SECONDS,
)
_CAPTION = (
    "in percent of the questions; full: no required slot empty within three rounds; named: what is missing;"
    " s: median seconds"
)
