"""Ask from many threads and processes at once while an ingest runs: no error, the answers of a quiet index, how fast.

    python benchmarks/durability/concurrent_asks.py [--threads 8] [--processes 4] [--rounds 6] [--ingest FOLDER]

The index holds the sample filings (PDF). While questions are asked, another process brings in those in HTML
(or what --ingest names) and takes them out again, over and over. An answer counts as consistent where value, text,
refusal and citations are those of the index without these filings, or with all of them. Prints answers a second and
latency, quiet and during ingests, for threads that share one workspace and for processes with one each.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from multiprocessing.synchronize import Event
from pathlib import Path

from fin_agent import AnswerContext, SqliteIndex, Workspace, answer_question, ingest, prepare
from fin_agent.index.verifying import verify

SAMPLES = Path(__file__).parents[2] / "examples"
QUESTIONS = (
    "What was Harborlight's net sales in FY2023?",
    "What were Quillmark's merchandise inventories at the end of fiscal 2023?",
    "What was Tellurond's gross margin in FY2022?",
    "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?",
    "What did Quillmark spend on research and development in fiscal 2023?",
    "What was Harborlight's operating income in FY2022?",
    "How much did Tellurond's revenue grow from FY2022 to FY2023?",
    "What were the total assets of Quillmark at the end of fiscal 2022?",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question asked once."""

    question: str
    seconds: float
    answer: str
    """What counts of it, as JSON; begins with `error` where there was one."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=6, help="how often each of the eight questions is asked")
    parser.add_argument("--ingest", type=Path, default=SAMPLES / "filings_html")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with SqliteIndex.create(folder) as index:
            ingest([SAMPLES / "filings"], index, prepare)
        expected = expected_answers(folder, arguments.ingest, QUESTIONS)
        for name, ask, at_once in (
            ("threads", ask_in_threads, arguments.threads),
            ("processes", ask_in_processes, arguments.processes),
        ):
            for state in ("quiet", "ingest"):
                ingests = Ingests(folder, arguments.ingest)
                with ingests.running() if state == "ingest" else nullcontext():
                    asked, took = ask(folder, QUESTIONS * arguments.rounds, at_once)
                others = inconsistent(asked, expected)
                wrong += len(others)
                print(
                    f"{at_once} {name:9} {state:6} {summary(asked, took)}; {len(others)} errors or other answers",
                    end="",
                )
                print(f"; {ingests.done()} ingests meanwhile" if state == "ingest" else "", flush=True)
                for each in others[:5]:
                    print(f"WRONG: {each.question}: {each.answer[:300]}")
        faults = verify(folder).faults
        print(f"verify afterwards: {len(faults)} faults")
    return bool(wrong or faults)


def summary(asked: Sequence[Asked], took: float) -> str:
    """Rate and latency."""
    seconds = sorted(each.seconds for each in asked)
    late = seconds[min(len(seconds) - 1, int(len(seconds) * 0.95))]
    return (
        f"{len(asked) / took:5.1f} answers/s, median {statistics.median(seconds):.2f} s,"
        f" 95% {late:.2f} s, longest {seconds[-1]:.2f} s"
    )


def inconsistent(asked: Sequence[Asked], expected: dict[str, set[str]]) -> list[Asked]:
    """Errors, and answers of no state of the index."""
    return [each for each in asked if each.answer not in expected[each.question]]


def expected_answers(folder: Path, further: Path, questions: Sequence[str]) -> dict[str, set[str]]:
    """Answers of the index as it is, and with the filings of `further`; it is left as it was."""
    found: dict[str, set[str]] = {question: set() for question in questions}
    for brought_in in (False, True):
        if brought_in:
            with SqliteIndex(folder) as index:
                ingest([further], index, prepare)
        workspace = Workspace.open(folder)
        for question in questions:
            found[question].add(asked_of(workspace, question).answer)
    _take_out(folder, further)
    return found


def ask_in_threads(folder: Path, questions: Sequence[str], at_once: int) -> tuple[list[Asked], float]:
    """All threads share one workspace. With the seconds that all took."""
    workspace = Workspace.open(folder)
    asked_of(workspace, questions[0])
    with ThreadPoolExecutor(at_once) as pool:
        started = time.perf_counter()
        asked = list(pool.map(lambda question: asked_of(workspace, question), questions))
        return asked, time.perf_counter() - started


def ask_in_processes(folder: Path, questions: Sequence[str], at_once: int) -> tuple[list[Asked], float]:
    """Each process opens the index once. With the seconds that all took, once the processes were there."""
    with ProcessPoolExecutor(at_once, mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_asked_here, [folder] * at_once * 2, questions[:1] * at_once * 2))
        started = time.perf_counter()
        asked = list(pool.map(_asked_here, [folder] * len(questions), questions))
        return asked, time.perf_counter() - started


def _asked_here(folder: Path, question: str) -> Asked:
    return asked_of(_workspace(folder), question)


@cache
def _workspace(folder: Path) -> Workspace:
    return Workspace.open(folder)


def asked_of(workspace: Workspace, question: str) -> Asked:
    """Ask by rules, and time it."""
    started = time.perf_counter()
    try:
        answer = answer_question(question, AnswerContext.by_rules(workspace))
        told = answer.model_dump(mode="json", include={"answer", "refused", "missing", "citations"})
        said = json.dumps(told, sort_keys=True)
    except Exception as error:  # of whatever kind: none may happen
        said = f"error: {type(error).__name__}: {error}"
    return Asked(question, time.perf_counter() - started, said)


class Ingests:
    """Filings brought in and taken out again by another process."""

    def __init__(self, folder: Path, further: Path) -> None:
        self._folder, self._further = folder, further
        self._context = multiprocessing.get_context("spawn")
        self._stop = self._context.Event()
        self._count = self._context.Value("i", 0)

    def done(self) -> int:
        """How many ingests ended."""
        return int(self._count.value)

    @contextmanager
    def running(self) -> Iterator[None]:
        """While inside; the index is left as it was."""
        arguments = (self._folder, self._further, self._stop, self._count)
        process = self._context.Process(target=_ingest_over_and_over, args=arguments)
        process.start()
        while not self.done() and process.is_alive():
            time.sleep(0.05)
        try:
            yield
        finally:
            self._stop.set()
            process.join()
        if process.exitcode:
            raise SystemExit("the ingest failed")


def _ingest_over_and_over(folder: Path, further: Path, stop: Event, count: object) -> None:
    while not stop.is_set():
        with SqliteIndex(folder) as index:
            report = ingest([further], index, prepare, workers=0)
            assert not report.failures, report.failures
        count.value += 1  # type: ignore[attr-defined]
        _take_out(folder, further)


def _take_out(folder: Path, further: Path) -> None:
    with SqliteIndex(folder) as index:
        for record in index.filings():
            if Path(record.source).is_relative_to(further.resolve()):
                index.remove(record.doc_id)


if __name__ == "__main__":
    sys.exit(main())
