"""What TAT-QA's questions came to: by answer type and source, and how the wrong ones are wrong."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from rich import box
from rich.table import Table

from fin_agent.evaluation.metrics import percentile
from fin_agent.evaluation.tatqa.asking import Outcome

ALL = "all"
TYPES = ("arithmetic", "count", "span", "multi-span")
"""The order they are shown in; other types follow."""


@dataclass(frozen=True, slots=True)
class TypeFigures:
    """The figures of one answer type and source; shares are 0 to 1."""

    answer_type: str
    source: str
    """`all`, `table`, `text` or `table-text`."""
    questions: int
    exact: float
    f1: float
    scale: float
    """Share with the gold scale."""
    misses: dict[str, int]
    """How many are wrong in which way, the most frequent first."""
    median_seconds: float


@dataclass(frozen=True, slots=True)
class TatReport:
    """All figures of one run; the first is over all questions."""

    figures: tuple[TypeFigures, ...]

    def of(self, answer_type: str, source: str = ALL) -> TypeFigures:
        """The figures of one type and source. Raises KeyError where there is no such question."""
        for figures in self.figures:
            if (figures.answer_type, figures.source) == (answer_type, source):
                return figures
        raise KeyError(f"{answer_type}, {source}")

    def as_json(self) -> dict[str, object]:
        """Plain values for `json.dumps`."""
        return asdict(self)

    def as_table(self) -> Table:
        """One line per type, then per source of it; in percent."""
        table = Table(title=_TITLE, caption=_CAPTION, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        table.add_column("answers", no_wrap=True)
        for heading in _COLUMNS:
            table.add_column(heading, justify="right")
        table.add_column("most misses")
        for figures in self.figures:
            whole = figures.source == ALL
            table.add_row(
                figures.answer_type if whole else f"  {figures.source}",
                str(figures.questions),
                f"{100 * figures.exact:.1f}",
                f"{100 * figures.f1:.1f}",
                f"{100 * figures.scale:.1f}",
                f"{1000 * figures.median_seconds:.1f}",
                "; ".join(f"{name} {count}" for name, count in list(figures.misses.items())[:_SHOWN]) if whole else "",
                style="bold" if whole else None,
            )
        return table


def report_on(outcomes: Sequence[Outcome]) -> TatReport:
    """The report over scored questions. Raises ValueError without any."""
    if not outcomes:
        raise ValueError("a report needs at least one question")
    found = [_figures(ALL, ALL, outcomes)]
    known = {outcome.answer_type for outcome in outcomes}
    for answer_type in (*(each for each in TYPES if each in known), *sorted(known - set(TYPES))):
        of_type = [outcome for outcome in outcomes if outcome.answer_type == answer_type]
        found.append(_figures(answer_type, ALL, of_type))
        for source in sorted({outcome.source for outcome in of_type}):
            found.append(_figures(answer_type, source, [each for each in of_type if each.source == source]))
    return TatReport(tuple(found))


def write_outcomes(outcomes: Sequence[Outcome], folder: Path) -> None:
    """Writes `rows.csv`, a line per question, and `predictions.json` as the published script reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(asdict(outcomes[0])) if outcomes else [])
        writer.writeheader()
        for outcome in outcomes:
            fields = asdict(outcome)
            writer.writerow(
                {name: " | ".join(each) if isinstance(each, tuple) else each for name, each in fields.items()}
            )
    predictions = {outcome.id: [list(outcome.answer), outcome.scale] for outcome in outcomes}
    (folder / "predictions.json").write_text(json.dumps(predictions, ensure_ascii=False, indent=0), encoding="utf-8")


_SHOWN = 3
_TITLE = "TAT-QA"
_COLUMNS = ("n", "EM", "F1", "scale", "ms")
_CAPTION = (
    "in percent of the questions; EM, F1: exact match and F1 by the published definition; scale: the gold scale;"
    " ms: median milliseconds"
)


def _figures(answer_type: str, source: str, outcomes: Sequence[Outcome]) -> TypeFigures:
    misses = Counter(outcome.miss.value for outcome in outcomes if outcome.exact < 1)
    return TypeFigures(
        answer_type=answer_type,
        source=source,
        questions=len(outcomes),
        exact=fmean(outcome.exact for outcome in outcomes),
        f1=fmean(outcome.f1 for outcome in outcomes),
        scale=fmean(float(outcome.scale == outcome.gold_scale) for outcome in outcomes),
        misses=dict(sorted(misses.items(), key=lambda miss: (-miss[1], miss[0]))),
        median_seconds=percentile([outcome.seconds for outcome in outcomes], 50),
    )
