"""Read malformed filings as `fin-agent ingest` does, and say what became of each.

    python -m benchmarks.hostile.read FOLDER [--reader mupdf|pdfium] [--from 0] [--to 500] [--out OUTCOMES.jsonl]

FOLDER is what `benchmarks.hostile.mutate` wrote; `--from` and `--to` take a part of it. Reading runs in worker
processes under the limits of ingest. Prints how many were read and refused, for which reasons, the longest time a file
took, and in how many files that were read, figures of the statements are others than in the sound file, and how many of
those the checks of statements tell. `--out` gets a line of JSON for each file; a run that was stopped goes on from
there. Exit code 1 where a file is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache, partial
from pathlib import Path

from benchmarks.hostile.mutate import EXAMPLES
from fin_agent import SqliteIndex, ingest, prepare
from fin_agent.filings.facts.accounting_identities import Outcome as Held
from fin_agent.filings.facts.accounting_identities import check_facts
from fin_agent.filings.reader import PDF_READER_VARIABLE
from fin_agent.index.ingest import IngestedFile, Outcome, PreparedFiling
from fin_agent.vocabulary.fact import Fact


@dataclass(frozen=True, slots=True)
class Came:
    """What became of a file."""

    name: str
    kind: str
    outcome: str
    reason: str
    remedy: str
    seconds: float | None
    """Time of reading; None where the process that read it was ended."""
    figures: int
    """Figures of the statements in the sound file."""
    lost: int
    """Of these, those that were not read."""
    changed: int
    """Of these, those read with another value at the same row and period."""
    caught: bool
    """Whether a check of the statements fails that holds in the sound file, or can no longer be made."""
    warned: bool
    """Whether the reader warns of something that it does not warn of in the sound file."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", choices=("mupdf", "pdfium"), default="mupdf")
    parser.add_argument("--from", type=int, default=0, dest="start")
    parser.add_argument("--to", type=int, default=None, dest="end")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    os.environ[PDF_READER_VARIABLE] = given.reader
    files = sorted(path for path in given.folder.iterdir() if path.is_file())[given.start : given.end]
    before = _read_before(given.out, {path.name for path in files})
    started = time.perf_counter()
    came = [*before, *read_all([path for path in files if path.name not in {each.name for each in before}], given.out)]
    print("\n".join(report(came, time.perf_counter() - started)))
    sys.exit(len(came) != len(files))


def read_all(files: Sequence[Path], out: Path | None = None, *, workers: int = 2) -> list[Came]:
    """Bring the files into an index of their own, and see what each came to; `out` gets a line as each is done."""
    came: list[Came] = []
    with tempfile.TemporaryDirectory() as made, SqliteIndex.create(Path(made) / "index") as index:
        times = Path(made) / "times"
        times.touch()

        def told(file: IngestedFile) -> None:
            took = dict(line.split("\t") for line in times.read_text(encoding="utf-8").splitlines())
            came.append(_came(file, index, took.get(file.path.name)))
            if out is not None:
                with out.open("a", encoding="utf-8") as lines:
                    lines.write(f"{json.dumps(asdict(came[-1]))}\n")

        ingest(files, index, partial(timed_prepare, times=times), workers=workers, on_file=told)
    return came


def _read_before(out: Path | None, names: Set[str]) -> list[Came]:
    """What an earlier run, stopped or not, found of these files."""
    if out is None or not out.exists():
        return []
    lines = out.read_text(encoding="utf-8").splitlines()
    found = {each.name: each for each in (Came(**json.loads(line)) for line in lines)}
    return [each for name, each in found.items() if name in names]


def timed_prepare(path: Path, *, times: Path) -> PreparedFiling:
    """`prepare`, and a line with its seconds in `times`."""
    started = time.perf_counter()
    try:
        return prepare(path)
    finally:
        with times.open("a", encoding="utf-8") as lines:
            lines.write(f"{path.name}\t{time.perf_counter() - started:.3f}\n")


def report(came: Sequence[Came], seconds: float) -> list[str]:
    """Counts, reasons with their remedies, the slowest files, and figures that differ."""
    read = [each for each in came if each.outcome == Outcome.ADDED]
    unread = [each for each in came if each.outcome == Outcome.FAILED]
    changed = [each for each in read if each.changed]
    lost = [each for each in read if each.lost and not each.changed]
    whole = len(read) - len(changed) - len(lost)
    reasons = Counter((_general(each.reason), _general(each.remedy)) for each in unread)
    ended = sum(each.seconds is None for each in came)
    slowest = sorted((each for each in came if each.seconds), key=lambda each: -(each.seconds or 0))[:3]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return [
        f"{len(came)} files in {seconds:.0f} s: {len(read)} read, {len(unread)} refused with reason and remedy,"
        f" {len(came) - len(read) - len(unread)} the same as another; {ended} ended their process;"
        f" main process {peak} MB",
        *(f"  {count:5}  {reason}. {remedy}" for (reason, remedy), count in reasons.most_common()),
        f"slowest: {', '.join(f'{each.name} {each.seconds:.1f} s' for each in slowest)}",
        f"read with all figures of the statements: {whole}; with fewer: {len(lost)}, of which {_told(lost)};"
        f" with other values: {len(changed)} ({sum(each.changed for each in changed)} of"
        f" {sum(each.figures for each in read):,} figures), of which {_told(changed)}",
        f"  other values by kind: {dict(Counter(each.kind for each in changed).most_common())}",
    ]


def _told(files: Sequence[Came]) -> str:
    checked = sum(each.caught for each in files)
    either = sum(each.caught or each.warned for each in files)
    return f"a check of the statements tells {checked}, a check or a warning {either}"


def _came(file: IngestedFile, index: SqliteIndex, seconds: str | None) -> Came:
    _, kind, original = file.path.name.split(".", 2)
    sound = _sound(original)
    lost = changed = 0
    caught = warned = False
    if file.outcome is Outcome.ADDED:
        stored = [sourced.fact for sourced in index.facts([file.doc_id])]
        found = _figures(stored)
        lost = sum(key not in found for key in sound.figures)
        changed = sum(found[key] != value for key, value in sound.figures.items() if key in found)
        caught = not sound.holding <= _holding(stored)
        warned = not {warning.what for warning in index.filing(file.doc_id).warnings} <= sound.warnings
    return Came(
        file.path.name,
        kind,
        file.outcome.value,
        file.reason,
        file.remedy,
        None if seconds is None else float(seconds),
        len(sound.figures),
        lost,
        changed,
        caught,
        warned,
    )


Key = tuple[str, str, str]
"""Statement, row and period of a figure."""


@dataclass(frozen=True, slots=True)
class _Sound:
    figures: Mapping[Key, Decimal]
    holding: frozenset[tuple[str, str]]
    warnings: frozenset[str]


@cache
def _sound(name: str) -> _Sound:
    folder = "filings" if name.endswith(".pdf") else "filings_html"
    filing = prepare(EXAMPLES / folder / name).filing
    warnings = frozenset(warning.what for warning in filing.warnings)
    return _Sound(_figures(filing.facts), _holding(filing.facts), warnings)


def _figures(facts: Sequence[Fact]) -> dict[Key, Decimal]:
    """The first print of each figure of the primary statements."""
    figures: dict[Key, Decimal] = {}
    for fact in facts:
        if fact.statement is not None:
            period = f"{fact.period.fiscal_year} {fact.period.quarter} {fact.period.months}"
            row = " ".join((*fact.section, fact.label)).casefold()
            figures.setdefault((fact.statement.value, f"{row} {fact.scope}", period), fact.value)
    return figures


def _holding(facts: Sequence[Fact]) -> frozenset[tuple[str, str]]:
    """Checks of the statements that hold: their names and periods."""
    return frozenset((check.name, str(check.period)) for check in check_facts(facts) if check.outcome is Held.HOLDS)


def _general(words: str) -> str:
    """A reason without what is of one file only."""
    return re.sub(r"\d[\d,.]*", "N", re.sub(r"\(.*\)", "(...)", words))


if __name__ == "__main__":
    main()
