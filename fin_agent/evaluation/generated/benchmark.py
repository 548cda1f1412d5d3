"""Questions of every kind made from an index, asked and judged, and what they came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from fin_agent.answering.answer import Answer
from fin_agent.evaluation import Family
from fin_agent.evaluation.benchmark import Answered, Column, Report, mean_of, report_on, seconds_at
from fin_agent.evaluation.generated import between_companies, one_company
from fin_agent.evaluation.generated.drawing import Maker, Material, made
from fin_agent.evaluation.generated.figures import shares
from fin_agent.evaluation.generated.one_company import lookup_questions
from fin_agent.evaluation.generated.question import GeneratedQuestion, Outcome, canonical
from fin_agent.evaluation.generated.unanswerable import unanswerable_questions
from fin_agent.workspace import Workspace

COUNTS: Mapping[Family, int] = {Family.MULTI_FILING: 100, Family.UNANSWERABLE: 60, Family.LOOKUP: 120}
"""How many questions of each family are made where nothing else is said."""


def generated_questions(
    workspace: Workspace, families: Sequence[Family], seed: int, *, counts: Mapping[Family, int] = COUNTS
) -> tuple[GeneratedQuestion, ...]:
    """Questions over what the index holds, family by family; the same index and seed give the same ones."""
    material = Material(workspace)
    if not material.companies:
        return ()
    makers = {
        Family.MULTI_FILING: _multi_filing_questions,
        Family.UNANSWERABLE: unanswerable_questions,
        Family.LOOKUP: lookup_questions,
    }
    return tuple(question for family in families for question in makers[family](material, counts[family], seed))


def asked_repeatedly(ask: Callable[[], Answered], repeat: int) -> Answered:
    """The first answer, with how many of the `repeat - 1` others differ from it."""
    first = ask()
    again: list[Answer] = [ask().answer for _ in range(repeat - 1)]
    differing = sum(canonical(answer) != canonical(first.answer) for answer in again)
    return first.model_copy(update={"differing": differing})


def report_on_generated(outcomes: Sequence[Outcome]) -> Report:
    """The figures by family, then by kind. Raises ValueError without outcomes."""
    sections: Mapping[str, Callable[[Outcome], str]] = {
        "family": lambda outcome: outcome.family,
        "kind": lambda outcome: outcome.kind,
    }
    return report_on(outcomes, "Generated questions", _CAPTION, _COLUMNS, sections)


def failure_lines(outcome: Outcome) -> Iterator[str]:
    """A failure in words: the question, what was expected, what came, what was missing."""
    yield f"{outcome.kind}: {outcome.question}"
    yield f"  expected {outcome.expected}"
    yield f"  got {outcome.got} ({outcome.rounds} rounds)"
    if outcome.slots_lacking:
        yield f"  lacking {', '.join(outcome.slots_lacking)}"
    if outcome.slots_beside:
        yield f"  beside {', '.join(outcome.slots_beside)}"
    if outcome.differing:
        yield f"  {outcome.differing} repeated runs answered otherwise"


_SHARES: tuple[tuple[str, Maker, int], ...] = (
    ("total", one_company.total, 15),
    ("average", one_company.average, 14),
    ("change", one_company.change, 12),
    ("growth", one_company.growth, 9),
    ("annual growth", one_company.annual_growth, 7),
    ("difference", between_companies.difference, 11),
    ("ratio", between_companies.ratio, 8),
    ("highest", between_companies.highest, 9),
    ("of highest", between_companies.of_highest, 5),
    ("faster", between_companies.faster, 4),
    ("combined", between_companies.combined, 3),
    ("highest over years", between_companies.highest_over_years, 3),
)
"""Kinds of questions whose figures stand in no single filing, and how many of each among a hundred."""


def _multi_filing_questions(material: Material, count: int, seed: int) -> Iterator[GeneratedQuestion]:
    """`count` questions of all kinds, ordered by kind; fewer where the index holds no more of a kind."""
    for (name, maker, _), share in zip(_SHARES, shares([each for _, _, each in _SHARES], count), strict=True):
        yield from made(material, name, maker, share, seed)


def _rounds(outcomes: Sequence[Outcome]) -> dict[int, int]:
    """How many questions ended after so many rounds."""
    return dict(sorted(Counter(each.rounds for each in outcomes).items()))


_COLUMNS: tuple[Column[Outcome], ...] = (
    Column("questions", len, "n", str),
    Column("full_ledger", mean_of(lambda outcome: outcome.full_ledger), "full"),
    Column("rounds", _rounds, "rounds 1/2/3", lambda rounds: "/".join(str(rounds.get(each, 0)) for each in (1, 2, 3))),
    Column("slots_equal", mean_of(lambda outcome: outcome.slots_equal), "slots"),
    Column("right", mean_of(lambda outcome: outcome.right), "right"),
    Column("refused", mean_of(lambda outcome: outcome.refused), "refused"),
    Column(
        "missing_named",
        mean_of(lambda each: None if each.missing_named is None else each.missing_named and each.refused),
        "named",
    ),
    Column("median_seconds", seconds_at(50), "s", "{:.2f}".format),
    Column("differing", lambda outcomes: sum(each.differing > 0 for each in outcomes), "unlike", str),
)
_CAPTION = (
    "in percent of the questions; full: no required slot empty within three rounds; slots: those that the question"
    " needs; named: what is missing; s: median seconds; unlike: questions that another run answered otherwise"
)
