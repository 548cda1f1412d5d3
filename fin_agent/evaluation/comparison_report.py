"""A comparison's figures: each strategy overall, by question type and by filing type, and pairs of strategies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import groupby
from statistics import fmean

from fin_agent.evaluation import published
from fin_agent.evaluation.comparing import Comparison, Measure, NotBuilt, QuestionScore
from fin_agent.evaluation.metrics import percentile
from fin_agent.evaluation.oracle import Oracle
from fin_agent.evaluation.statistics import RESAMPLES, Interval, PairedTest, holm, mean_interval, paired_test

OVERALL = "overall"
COMPARED = Measure.PAGE_RECALL_OF_PASSAGES
"""What pairs of strategies are tested on."""
PUBLISHED_IDS = "financebench_id_"
"""How FinanceBench's ids of questions begin."""


class Kind(StrEnum):
    """By what questions are put together."""

    OVERALL = "overall"
    QUESTION_TYPE = "question type"
    FILING_TYPE = "filing type"


@dataclass(frozen=True, slots=True)
class Figure:
    """The mean of one measure over the questions that have it."""

    measure: Measure
    mean: float | None
    interval: Interval | None
    """Of the mean, drawing questions; None for fewer than two questions."""


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """One strategy on some of the questions."""

    strategy: str
    kind: Kind
    group: str
    questions: int
    failed: int
    """Questions the strategy failed on; they count as questions for which nothing was found."""
    figures: tuple[Figure, ...]
    passages_per_answer: float | None
    median_seconds: float | None
    p95_seconds: float | None

    def of(self, measure: Measure) -> Figure:
        """The figure of one measure."""
        return next(figure for figure in self.figures if figure.measure is measure)


@dataclass(frozen=True, slots=True)
class TestedPair:
    """Whether one strategy finds more of the gold pages than another, in its first k passages."""

    first: str
    second: str
    test: PairedTest
    corrected: float
    """The p-value corrected for the number of pairs tested (Holm)."""


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """All figures of a comparison."""

    k: int
    oracle: Oracle
    questions: int
    published_questions: bool
    """Whether all questions are FinanceBench's, by their ids: on others its published figures say nothing."""
    groups: tuple[GroupFigures, ...]
    """Overall first, then by question type, then by filing type; in each the strategies in their order."""
    pairs: tuple[TestedPair, ...]
    not_built: tuple[NotBuilt, ...]
    resamples: int
    seed: int

    @property
    def beside_published(self) -> bool:
        """Whether the published figures are of the same questions, as many results and no more given away."""
        return self.published_questions and self.k == published.K and self.oracle is not Oracle.PAGE

    @property
    def overall(self) -> tuple[GroupFigures, ...]:
        """All questions, one entry per strategy."""
        return tuple(group for group in self.groups if group.kind is Kind.OVERALL)

    def by(self, kind: Kind) -> tuple[tuple[str, tuple[GroupFigures, ...]], ...]:
        """The groups of one kind with their strategies."""
        chosen = [group for group in self.groups if group.kind is kind]
        return tuple((name, tuple(members)) for name, members in groupby(chosen, key=lambda group: group.group))

    def as_json(self) -> dict[str, object]:
        """Plain values for `json.dumps`."""
        return {
            "k": self.k,
            "oracle": self.oracle.value,
            "questions": self.questions,
            "groups": [_group_fields(group) for group in self.groups],
            "pairs": [
                {"first": pair.first, "second": pair.second, **asdict(pair.test), "p_value_holm": pair.corrected}
                for pair in self.pairs
            ],
            "not_built": [asdict(each) for each in self.not_built],
            "resamples": self.resamples,
            "seed": self.seed,
        }


def report_on(
    comparison: Comparison, pairs: Sequence[tuple[str, str]], *, resamples: int = RESAMPLES, seed: int = 0
) -> ComparisonReport:
    """The figures of `comparison`, and tests of these `pairs` of its strategies."""
    of_strategy = {strategy: comparison.of(strategy) for strategy in comparison.strategies}
    groups = [
        _group(strategy, kind, name, [score for score in of_strategy[strategy] if key(score) == name], resamples, seed)
        for kind, key in _KEYS
        for name in dict.fromkeys(sorted(key(score) for score in comparison.scores))
        for strategy in comparison.strategies
    ]
    tests = [
        paired_test(
            [_compared(score) for score in of_strategy[first]],
            [_compared(score) for score in of_strategy[second]],
            resamples=resamples,
            seed=seed,
        )
        for first, second in pairs
    ]
    corrected = holm([test.p_value for test in tests])
    return ComparisonReport(
        k=comparison.conditions.k,
        oracle=comparison.conditions.oracle,
        questions=max((len(scores) for scores in of_strategy.values()), default=0),
        published_questions=bool(comparison.scores)
        and all(score.id.startswith(PUBLISHED_IDS) for score in comparison.scores),
        groups=tuple(groups),
        pairs=tuple(
            TestedPair(first, second, test, p_value)
            for (first, second), test, p_value in zip(pairs, tests, corrected, strict=True)
        ),
        not_built=comparison.not_built,
        resamples=resamples,
        seed=seed,
    )


_KEYS: tuple[tuple[Kind, Callable[[QuestionScore], str]], ...] = (
    (Kind.OVERALL, lambda score: OVERALL),
    (Kind.QUESTION_TYPE, lambda score: score.question_type),
    (Kind.FILING_TYPE, lambda score: score.filing_type),
)


def _compared(score: QuestionScore) -> float:
    return score.of(COMPARED) or 0.0


def _group(
    strategy: str, kind: Kind, name: str, scores: Sequence[QuestionScore], resamples: int, seed: int
) -> GroupFigures:
    seconds = [score.seconds for score in scores if score.seconds is not None]
    passages = [score.passages_per_answer for score in scores if score.passages_per_answer is not None]
    return GroupFigures(
        strategy=strategy,
        kind=kind,
        group=name,
        questions=len(scores),
        failed=sum(bool(score.failure) for score in scores),
        figures=tuple(_figure(measure, scores, resamples, seed) for measure in Measure),
        passages_per_answer=fmean(passages) if passages else None,
        median_seconds=percentile(seconds, 50) if seconds else None,
        p95_seconds=percentile(seconds, 95) if seconds else None,
    )


def _figure(measure: Measure, scores: Sequence[QuestionScore], resamples: int, seed: int) -> Figure:
    sample = [found for score in scores if (found := score.of(measure)) is not None]
    if not sample:
        return Figure(measure, None, None)
    return Figure(measure, fmean(sample), mean_interval(sample, resamples=resamples, seed=seed))


def _group_fields(group: GroupFigures) -> dict[str, object]:
    return {
        "strategy": group.strategy,
        "kind": group.kind.value,
        "group": group.group,
        "questions": group.questions,
        "failed": group.failed,
        **{
            figure.measure.value: {
                "mean": figure.mean,
                "low": figure.interval.low if figure.interval else None,
                "high": figure.interval.high if figure.interval else None,
            }
            for figure in group.figures
        },
        "passages_per_answer": group.passages_per_answer,
        "median_seconds": group.median_seconds,
        "p95_seconds": group.p95_seconds,
    }
