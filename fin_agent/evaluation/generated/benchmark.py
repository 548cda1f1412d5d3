"""Generation of questions of every kind, from statements or tags, and the report on their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from fin_agent.evaluation import Family, QuestionKind
from fin_agent.evaluation.benchmark import MEDIAN_SECONDS, QUESTIONS, REFUSED, Column, Report, Row, report_on
from fin_agent.evaluation.generated import question_generators as ask
from fin_agent.evaluation.generated.question_material import QuestionMaterial
from fin_agent.evaluation.generated.sampling import Maker, sample_questions
from fin_agent.evaluation.generated.truth import GeneratedQuestion
from fin_agent.evaluation.xbrl_truth import TaggedFiling, read_tagged, tagged_files
from fin_agent.filings.reader import doc_id_of
from fin_agent.workspace import Workspace

COUNTS: Mapping[Family | QuestionKind, int] = {
    Family.MULTI_FILING: 100,
    Family.UNANSWERABLE: 60,
    Family.LOOKUP: 120,
    QuestionKind.LOOKUP: 150,
    QuestionKind.DERIVED: 110,
    QuestionKind.COMPARISON: 90,
    QuestionKind.PART: 120,
    QuestionKind.TOTAL: 60,
    QuestionKind.FAMILY: 300,
}
"""Default number of questions of each kind."""

_LOOKUPS = (
    ("lookup, own year", partial(ask.lookup, own=True), 6),
    ("lookup, earlier column", partial(ask.lookup, own=False), 6),
    ("lookup, quarter", ask.quarterly_figure, 2),
)
_TOTALS = (
    ("total", ask.total, 5),
    ("average", ask.average, 4),
    ("annual growth", ask.annual_growth, 2),
)
_CHANGES = (("growth", ask.growth, 4), ("change", ask.change, 3))
_COMPARISONS = (
    ("difference", ask.difference, 3),
    ("ratio", ask.ratio, 2),
    ("highest", ask.highest, 3),
    ("of highest", ask.figure_of_highest_company, 2),
    ("faster", ask.faster, 1),
    ("combined", ask.combined, 1),
    ("highest over years", ask.highest_over_years, 1),
)
_MAKERS: Mapping[Family | QuestionKind, Sequence[tuple[str, Maker, int]]] = {
    Family.MULTI_FILING: (*_TOTALS, *_CHANGES, *_COMPARISONS),
    Family.UNANSWERABLE: (
        ("company absent", ask.company_absent, 1),
        ("year absent", ask.year_absent, 1),
        ("metric not reported", ask.metric_absent, 1),
        ("period not filed", ask.period_absent, 1),
    ),
    Family.LOOKUP: _LOOKUPS,
    QuestionKind.LOOKUP: _LOOKUPS,
    QuestionKind.DERIVED: (("computed", ask.computed_measure, 5), *_CHANGES),
    QuestionKind.COMPARISON: _COMPARISONS,
    QuestionKind.PART: (
        ("part", partial(ask.figure_of_part, quarterly=False), 8),
        ("part, quarter", partial(ask.figure_of_part, quarterly=True), 2),
        ("growth of a part", ask.growth_of_part, 2),
        ("share of a part", ask.share_of_part, 1),
    ),
    QuestionKind.TOTAL: _TOTALS,
    QuestionKind.FAMILY: (
        ("highest part", ask.highest_part, 5),
        ("n-th part", ask.nth_part, 3),
        ("fastest part", ask.fastest_part, 3),
        ("members apart", partial(ask.two_parts, together=False), 3),
        ("members together", partial(ask.two_parts, together=True), 2),
        ("highest margin", ask.highest_margin, 1),
    ),
}
"""Kind -> its generators: name, function and weight."""


def read_folder(folder: Path, workspace: Workspace) -> tuple[tuple[TaggedFiling, ...], tuple[str, ...]]:
    """Return the tagged filings of a folder that the index holds, and the names of other files. Raises ReadError."""
    owners = workspace.directory.owners
    paths = tagged_files(folder)
    held = [path for path in paths if doc_id_of(path) in owners]
    read = (read_tagged(path) for path in held)
    filings = tuple(filing for filing in read if filing is not None)
    return filings, tuple(path.name for path in paths if path not in held)


def generated_questions(
    material: QuestionMaterial,
    kinds: Sequence[Family] | Sequence[QuestionKind],
    seed: int,
    *,
    counts: Mapping[Family, int] | Mapping[QuestionKind, int] | Mapping[Family | QuestionKind, int] = COUNTS,
) -> tuple[GeneratedQuestion, ...]:
    """Return questions of each kind; the same material and seed give the same questions.

    There are fewer than `counts` if the material has no more.
    """
    return tuple(
        question
        for kind in kinds
        for question in sample_questions(material, kind, _MAKERS[kind], counts[kind], seed)  # type: ignore[index]
    )


def report_on_generated(rows: Sequence[Row], title: str) -> Report:
    """Return the figures by family, then by kind. Raises ValueError if there are no rows."""
    return report_on(rows, title, [(_CAPTION, _COLUMNS)], ("family", "kind"), overall=False)


_COLUMNS = (
    QUESTIONS,
    Column("full_ledger", "full"),
    Column(
        "rounds",
        "rounds 1/2/3",
        lambda rows: dict(sorted(Counter(row.figures["rounds"] for row in rows).items())),
        lambda rounds: "/".join(str(rounds.get(each, 0)) for each in (1, 2, 3)),
    ),
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
