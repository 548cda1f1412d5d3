"""Time to read questions by the grammar, beside a full-text search for the same words in the same run.

    python benchmarks/question_reading.py INDEX [QUESTIONS.jsonl]

Each question is read for the first time; sixty others before them load the grammar and what the filings print.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fin_agent.query.parsing import NoReadingError
from fin_agent.query.question_to_intent import known_names
from fin_agent.query.reading import read_question
from fin_agent.workspace import Workspace

_OWN = Path(__file__).with_name("nearest_questions.jsonl")
_BEFORE = 60


def main(index: str, questions: str = str(_OWN)) -> None:
    """Print the median and the 95th percentile of both in milliseconds, and the ratio of the medians."""
    workspace = Workspace.open(Path(index))
    names = known_names(workspace)
    asked = [json.loads(line)["question"] for line in Path(questions).read_text(encoding="utf-8").splitlines()]

    def read(question: str) -> None:
        with suppress(NoReadingError):
            read_question(question, names)

    def search(question: str) -> None:
        workspace.index.search_pages(question.split(), limit=5)

    for question in asked[:_BEFORE]:
        read(question)
    taken = {each.__name__: _timed(each, asked[_BEFORE:]) for each in (read, search)}
    for name, times in taken.items():
        print(f"{name}: median {statistics.median(times):.1f} ms, p95 {sorted(times)[len(times) * 95 // 100]:.1f} ms")
    print(f"ratio {statistics.median(taken['read']) / statistics.median(taken['search']):.2f}, {len(asked)} questions")


def _timed(run: Callable[[str], None], questions: list[str]) -> list[float]:
    times = []
    for question in questions:
        begun = time.perf_counter()
        run(question)
        times.append(1000 * (time.perf_counter() - begun))
    return times


if __name__ == "__main__":
    main(*sys.argv[1:])
