"""What questions made from tags came to: accuracy by kind, and every miss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from rich.table import Table

from fin_agent.evaluation.generated.scoring import Outcome
from fin_agent.evaluation.metrics import percentile


@dataclass(frozen=True, slots=True)
class KindAccuracy:
    """The figures of one kind, or of one sort of it."""

    kind: str
    sort: str | None
    """None for the whole kind."""
    questions: int
    right: float
    refused: float
    wrong: float
    """Answered, and not right."""
    median_seconds: float


@dataclass(frozen=True, slots=True)
class TaggedQuestionsReport:
    """All figures of one run."""

    kinds: tuple[KindAccuracy, ...]
    sorts: tuple[KindAccuracy, ...]
    misses: tuple[Outcome, ...]

    def as_json(self) -> dict[str, object]:
        """Plain values for `json.dumps`."""
        return asdict(self)

    def as_table(self) -> Table:
        """One line per kind, then per sort; shares in percent."""
        table = Table(
            title="Questions made from tags", caption="right: within 0.5 %; one tagged figure: to its last digit"
        )
        table.add_column("questions", no_wrap=True)
        for heading in ("n", "right", "refused", "wrong", "median s"):
            table.add_column(heading, justify="right")
        for figures in self.kinds:
            table.add_row(figures.kind, *_cells(figures), style="bold")
        table.add_section()
        for figures in self.sorts:
            table.add_row(figures.sort, *_cells(figures))
        return table


def report_on_tagged(outcomes: Sequence[Outcome]) -> TaggedQuestionsReport:
    """The report over scored questions. Raises ValueError without any."""
    if not outcomes:
        raise ValueError("a report needs at least one question")
    kinds = dict.fromkeys(outcome.family for outcome in outcomes)
    sorts = dict.fromkeys((outcome.family, outcome.kind) for outcome in outcomes)
    return TaggedQuestionsReport(
        kinds=tuple(_accuracy(kind, None, [each for each in outcomes if each.family == kind]) for kind in kinds),
        sorts=tuple(
            _accuracy(kind, sort, [each for each in outcomes if (each.family, each.kind) == (kind, sort)])
            for kind, sort in sorted(sorts, key=lambda pair: (list(kinds).index(pair[0]), pair[1]))
        ),
        misses=tuple(outcome for outcome in outcomes if not outcome.right),
    )


def miss_lines(outcome: Outcome) -> Iterator[str]:
    """A miss in words: the question, what tags say, what was answered."""
    yield f"{outcome.kind}: {outcome.question}"
    yield f"  tagged {outcome.expected} ({', '.join(outcome.filings)})"
    yield f"  {'refused' if outcome.refused else 'answered'} {outcome.got}"


def _accuracy(kind: str, sort: str | None, outcomes: Sequence[Outcome]) -> KindAccuracy:
    right = sum(bool(each.right) for each in outcomes)
    refused = sum(each.refused for each in outcomes)
    count = len(outcomes)
    return KindAccuracy(
        kind,
        sort,
        count,
        right / count,
        refused / count,
        (count - right - refused) / count,
        percentile([each.seconds for each in outcomes], 50),
    )


def _cells(figures: KindAccuracy) -> tuple[str, ...]:
    shares = (f"{100 * share:.1f}" for share in (figures.right, figures.refused, figures.wrong))
    return (str(figures.questions), *shares, f"{figures.median_seconds:.2f}")
