"""What generated questions came to: per family and per kind, and every failure."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich import box
from rich.table import Table

from fin_agent.evaluation.generated.scoring import Outcome
from fin_agent.evaluation.metrics import percentile


@dataclass(frozen=True, slots=True)
class KindFigures:
    """The figures of one family or kind; shares are None where it has no such questions."""

    name: str
    questions: int
    full_ledger: float | None
    rounds: dict[int, int]
    """How many questions ended after so many rounds."""
    slots_equal: float | None
    right: float | None
    refused: float
    missing_named: float | None
    """Of unanswerable ones: refused, and what is missing named."""
    median_seconds: float
    differing: int
    """Questions that another run answered otherwise."""


@dataclass(frozen=True, slots=True)
class GeneratedReport:
    """All figures of one run."""

    families: tuple[KindFigures, ...]
    kinds: tuple[KindFigures, ...]
    failures: tuple[Outcome, ...]

    def as_json(self) -> dict[str, object]:
        """Plain values for `json.dumps`."""
        return asdict(self)

    def as_table(self) -> Table:
        """One line per family, then per kind; shares in percent."""
        table = Table(title=_TITLE, caption=_CAPTION, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        table.add_column("questions", no_wrap=True)
        for heading in _COLUMNS:
            table.add_column(heading, justify="right", min_width=max(map(len, heading.split())))
        for family in self.families:
            table.add_row(*_cells(family), style="bold")
        table.add_section()
        for kind in self.kinds:
            table.add_row(*_cells(kind))
        return table


def report_on(outcomes: Sequence[Outcome]) -> GeneratedReport:
    """The report over scored questions. Raises ValueError without any."""
    if not outcomes:
        raise ValueError("a report needs at least one question")
    families = dict.fromkeys(outcome.family for outcome in outcomes)
    kinds = dict.fromkeys((outcome.family, outcome.kind) for outcome in outcomes)
    return GeneratedReport(
        families=tuple(_figures(name, [each for each in outcomes if each.family == name]) for name in families),
        kinds=tuple(
            _figures(kind, [each for each in outcomes if (each.family, each.kind) == (family, kind)])
            for family, kind in kinds
        ),
        failures=tuple(outcome for outcome in outcomes if outcome.failed),
    )


def write_outcomes(outcomes: Sequence[Outcome], path: Path) -> None:
    """One line per question, with a header. Replaces the file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(asdict(outcomes[0])) if outcomes else [])
        writer.writeheader()
        for outcome in outcomes:
            fields = asdict(outcome)
            writer.writerow(
                {name: "; ".join(each) if isinstance(each, tuple) else each for name, each in fields.items()}
            )


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


_COLUMNS = ("n", "full", "rounds 1/2/3", "slots", "right", "refused", "named", "s", "unlike")
_TITLE = "Generated questions"
_CAPTION = (
    "in percent of the questions; full: no required slot empty within three rounds; slots: those that the question"
    " needs; named: what is missing; s: median seconds; unlike: questions that another run answered otherwise"
)


def _figures(name: str, outcomes: Sequence[Outcome]) -> KindFigures:
    return KindFigures(
        name=name,
        questions=len(outcomes),
        full_ledger=_share([each.full_ledger for each in outcomes]),
        rounds=dict(sorted(Counter(each.rounds for each in outcomes).items())),
        slots_equal=_share([each.slots_equal for each in outcomes]),
        right=_share([each.right for each in outcomes]),
        refused=sum(each.refused for each in outcomes) / len(outcomes),
        missing_named=_share(
            [None if each.missing_named is None else each.missing_named and each.refused for each in outcomes]
        ),
        median_seconds=percentile([each.seconds for each in outcomes], 50),
        differing=sum(each.differing > 0 for each in outcomes),
    )


def _share(marks: Sequence[bool | None]) -> float | None:
    known = [mark for mark in marks if mark is not None]
    return sum(known) / len(known) if known else None


def _cells(figures: KindFigures) -> tuple[str, ...]:
    return (
        figures.name,
        str(figures.questions),
        _percent(figures.full_ledger),
        "/".join(str(figures.rounds.get(number, 0)) for number in (1, 2, 3)),
        _percent(figures.slots_equal),
        _percent(figures.right),
        _percent(figures.refused),
        _percent(figures.missing_named),
        f"{figures.median_seconds:.2f}",
        str(figures.differing),
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"
