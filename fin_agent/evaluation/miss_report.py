"""The misses of a run as a table for people and as one for machines."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from fin_agent.evaluation.financebench import Row
from fin_agent.evaluation.misses import Miss, MissStage


def misses_as_markdown(misses: Sequence[Miss], rows: Sequence[Row]) -> str:
    """What was missed of the questions with a gold figure, by stage and one by one; then what may match by chance."""
    asked = [row for row in rows if row.numeric_match_any is not None]
    stages = Counter(miss.stage for miss in misses)
    doubtful = [row for row in asked if row.numeric_match_any and not row.stated_match]
    return "\n".join(
        [
            "# Misses",
            "",
            f"{len(misses)} of {len(asked)} questions whose gold answer holds a figure.",
            "",
            *_table(("stage", "questions"), ((stage, str(stages[stage])) for stage in MissStage if stages[stage])),
            "",
            *_table(_HEADINGS, (_cells(miss) for miss in misses)),
            "",
            "# Matched, and perhaps by chance",
            "",
            f"{len(doubtful)} of the {len(asked) - len(misses)} matches: what matches is neither the value nor in the"
            " first sentence, or is of another kind of unit.",
            "",
            *_table(
                ("id", "question", "gold", "answer"), ((row.id, row.question, row.gold, row.text) for row in doubtful)
            ),
            "",
        ]
    )


def write_misses(misses: Sequence[Miss], path: Path) -> None:
    """A line per miss, with a header. Replaces the file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_HEADINGS)
        writer.writerows(_cells(miss) for miss in misses)


_HEADINGS = (
    "id",
    "company",
    "question_type",
    "question",
    "gold",
    "answer",
    "stage",
    "detail",
    "relation",
    "figure_was_read",
)
_LONGEST = 300


def _cells(miss: Miss) -> tuple[str, ...]:
    row = miss.row
    return (
        row.id,
        row.company,
        row.question_type,
        row.question,
        row.gold,
        row.text,
        miss.stage.value,
        miss.detail,
        miss.relation,
        "yes" if miss.figure_was_read else "no",
    )


def _table(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(heading.replace('_', ' ') for heading in headings)} |",
        f"|{'---|' * len(headings)}",
        *(f"| {' | '.join(map(_cell, line))} |" for line in lines),
    ]


def _cell(text: str) -> str:
    """One line of a table; long texts are cut, since the rows hold them whole."""
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rstrip()} ..."
