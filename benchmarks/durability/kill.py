"""Kill writers of an index at random instants, fill its disk, let two write at once: is it whole, and is it finished?

    python benchmarks/durability/kill.py [--kills 200] [--seed 0] [--only ingest,replace,...] [--samples N]

Each kill is SIGKILL, at an instant drawn evenly over the time that the work takes undisturbed. After it the index must
pass `verify`; every filing that was told as done must be in it, every other one be as before or as after, byte for byte
by its checksums; and the same work, done again, must come to its end with the same result as undisturbed. Prints what
was found of each kind of work; the exit code is 1 where anything is wrong. POSIX only: work is done in forked
processes, so that the filings are read once (`command` alone starts `fin-agent ingest` with workers as a user does).

`disk` needs leave to mount a small tmpfs; without it, files are limited by RLIMIT_FSIZE instead, and that is said.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from fin_agent.errors import FinAgentError
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.filings.reader import content_hash
from fin_agent.index.copying import copy_filings
from fin_agent.index.ingest import IngestedFile, Manifest, Outcome, PreparedFiling, ingest
from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.verifying import verify

SAMPLES = Path(__file__).parents[2] / "examples"
State = dict[str, tuple[str, ...]]
"""doc_id -> content hash, checksums of its parts, and its vectors."""
Work = Callable[[Path, Callable[[str], None]], None]
"""Does something to the index in a folder, telling each thing that is done."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="over all kinds of work")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="ingest,replace,delete,copy,two,disk,command")
    parser.add_argument("--samples", type=int, default=18, help="sample filings used")
    arguments = parser.parse_args()
    kinds = arguments.only.split(",")
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(Path(folder), random.Random(arguments.seed), arguments.samples)
        for at, kind in enumerate(kinds):
            share = arguments.kills // len(kinds) + (at < arguments.kills % len(kinds))
            print(campaign.run(kind, share).line(), flush=True)
    for problem in campaign.problems:
        print(f"WRONG: {problem}")
    return bool(campaign.problems)


@dataclass(slots=True)
class Tally:
    """What a kind of work came to."""

    kind: str
    kills: int = 0
    midway: int = 0
    """Killed (or out of room) after it began and before it was done."""
    states: set[int] = field(default_factory=set)
    """How many filings were found in the index afterwards."""
    seconds: float = 0.0
    note: str = ""

    def line(self) -> str:
        """For people."""
        states = f"{min(self.states)} to {max(self.states)} filings found" if self.states else ""
        said = f"{self.kind:8} {self.kills:4} kills, {self.midway:4} midway; {states}; {self.seconds:.0f} s"
        return f"{said}; {self.note}" if self.note else said


class Campaign:
    """Kills, over one set of filings in two versions each."""

    def __init__(self, folder: Path, chance: random.Random, samples: int) -> None:
        self._folder = folder
        self._chance = chance
        self.problems: list[str] = []
        found = sorted(SAMPLES.glob("filings/*.pdf"), key=lambda file: file.stat().st_size)
        found += sorted(SAMPLES.glob("filings_html/*.htm*"))
        self._old = [self._put("old", file, b"") for file in found[:samples]]
        self._new = [self._put("new", file, b"\n%%changed\n") for file in found[:samples]]
        first = [prepare(path) for path in self._old]
        # The changed file holds what the next one held: every row of it is another.
        for path, prepared in zip(self._old, first, strict=True):
            _PREPARED[content_hash(path)] = _as(prepared, path)
        for path, prepared in zip(self._new, first[1:] + first[:1], strict=True):
            _PREPARED[content_hash(path)] = _as(prepared, path)
        self._before = self._made(self._old, "before")
        with SqliteIndex(self._before) as index:
            for entry in index.entries():
                index.add_vectors("made up", VectorUnit.SUMMARY, FilingVectors(entry.doc_id, (0,), 8, bytes(16)))
        self._after = self._made(self._new, "after")

    def _put(self, folder: str, file: Path, more: bytes) -> Path:
        path = self._folder / folder / file.name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file.read_bytes() + more)
        return path

    def _made(self, files: list[Path], name: str) -> Path:
        folder = self._folder / name
        with SqliteIndex.create(folder) as index:
            ingest(files, index, remembered, workers=0)
        return folder

    def run(self, kind: str, kills: int) -> Tally:
        """So many kills of one kind of work."""
        tally = Tally(kind)
        started = time.perf_counter()
        getattr(self, f"_{kind}")(tally, kills)
        tally.seconds = time.perf_counter() - started
        return tally

    def _ingest(self, tally: Tally, kills: int) -> None:
        def work(index: Path, tell: Callable[[str], None]) -> None:
            bring_in(self._old, index, tell)

        empty = self._folder / "empty"
        empty.mkdir(exist_ok=True)
        self._killed(tally, kills, empty, work, self._without_vectors(self._before))

    def _replace(self, tally: Tally, kills: int) -> None:
        def work(index: Path, tell: Callable[[str], None]) -> None:
            _remove_files(self._old)  # else another file owns the name
            bring_in(self._new, index, tell)

        copies = [(path, path.read_bytes()) for path in self._old]
        self._killed(tally, kills, self._before, work, state_of(self._after))
        for path, content in copies:
            path.write_bytes(content)

    def _delete(self, tally: Tally, kills: int) -> None:
        gone = sorted(state_of(self._before))[::2]

        def work(index: Path, tell: Callable[[str], None]) -> None:
            with SqliteIndex(index) as opened:
                for doc_id in gone:
                    opened.remove(doc_id)
                    tell(doc_id)

        left = {doc_id: held for doc_id, held in state_of(self._before).items() if doc_id not in gone}
        self._killed(tally, kills, self._before, work, left)

    def _copy(self, tally: Tally, kills: int) -> None:
        empty = self._folder / "empty"
        empty.mkdir(exist_ok=True)
        self._killed(tally, kills, empty, self._copied, state_of(self._before))

    def _two(self, tally: Tally, kills: int) -> None:
        """One of two that ingest the same files at once is killed: the other brings all of them in."""
        for _ in range(kills):
            index = self._fresh(self._folder / "empty")
            SqliteIndex.create(index).close()
            other = start(lambda index=index: bring_in(self._old, index, _told_nobody, wait=60))
            self._kill(tally, start(lambda index=index: bring_in(self._old, index, _told_nobody, wait=60)), 0.3)
            _, status = os.waitpid(other.process, 0)
            self._expect(status == 0, f"two: the one that was left ended with {status}")
            self._compare(tally, index, self._without_vectors(self._before), "two")

    def _disk(self, tally: Tally, kills: int) -> None:
        """The disk is full after so many bytes: an error says so, all is whole, and with room the same goes on."""
        mounted = self._folder / "small disk"
        mounted.mkdir(exist_ok=True)
        limit_only = bool(_mount(mounted, 1 << 20).returncode)
        if not limit_only:
            _unmount(mounted)
        tally.note = "RLIMIT_FSIZE (a disk could not be mounted)" if limit_only else "tmpfs of a drawn size"
        whole = _size(self._before)
        works: list[tuple[str, Path | None, Work, State]] = [
            ("ingest", None, lambda index, tell: bring_in(self._old, index, tell), self._without_vectors(self._before)),
            ("copy", None, self._copied, state_of(self._before)),
        ]
        for at in range(kills):
            name, begin, work, expected = works[at % len(works)]
            room = self._chance.randrange(64 << 10, 3 * whole)
            if begin is not None:
                room = self._chance.randrange(whole + (64 << 10), 4 * whole)
            with _small_disk(mounted, None if limit_only else room) as grown:
                index = mounted / "index"
                shutil.rmtree(index, ignore_errors=True)
                shutil.copytree(begin, index) if begin else index.mkdir()
                child = start(self._within(room if limit_only else None, work, index))
                said = child.read_all()
                _, status = os.waitpid(child.process, 0)
                tally.kills += 1
                tally.midway += status != 0
                words = ("disk is full", "room", "could not be", "No space", "no index can be made", "locked (")
                self._expect(
                    status == 0 or any(word in said for word in words), f"disk: {name} ended {status}: {said[-200:]}"
                )
                grown()
                before = state_of(begin) if begin else {}
                self._look(tally, index, before, expected, f"disk {name}", ())
                _remove_lock_only(index)
                work(index, _told_nobody)
                self._compare(tally, index, expected, f"disk {name}")

    @staticmethod
    def _within(limit: int | None, work: Work, index: Path) -> Callable[[], None]:
        def limited() -> None:
            if limit is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            work(index, _told_nobody)

        return limited

    def _copied(self, index: Path, tell: Callable[[str], None]) -> None:
        with SqliteIndex(self._before) as source, SqliteIndex.create(index) as target:
            copy_filings(source, target, on_filing=lambda filing: tell(filing.doc_id))

    def _command(self, tally: Tally, kills: int) -> None:
        """`fin-agent ingest` itself, with two workers; only the main process is killed, its workers have to notice."""
        run = [sys.executable, "-c", "from fin_agent.cli import main; main()", "ingest", str(self._folder / "old")]
        for _ in range(kills):
            index = self._fresh(self._folder / "empty")
            command = [*run, "--index", str(index), "--workers", "2"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(self._chance.uniform(0.8, 9.0))
            tally.kills += 1
            tally.midway += process.poll() is None
            process.kill()
            _, told = process.communicate()
            done = [line.split("] ")[1].split(":")[0] for line in told.splitlines() if ": added" in line]
            expected = self._without_vectors(self._before)
            self._look(tally, index, {}, expected, "command", done)
            again = subprocess.run(command, capture_output=True, text=True, timeout=300)
            self._expect(
                again.returncode == 0, f"command: a second run ended {again.returncode}: {again.stderr[-300:]}"
            )
            self._compare(tally, index, expected, "command")

    def _killed(
        self,
        tally: Tally,
        kills: int,
        begin: Path,
        work: Work,
        expected: State,
    ) -> None:
        index = self._fresh(begin)
        clock = time.perf_counter()
        child = start(lambda: work(index, _told_nobody))
        os.waitpid(child.process, 0)
        took = time.perf_counter() - clock
        before = state_of(begin) if (begin / FILE_NAME).exists() else {}
        for _ in range(kills):
            index = self._fresh(begin)
            child = start(lambda index=index: work(index, child_tells))
            told = self._kill(tally, child, took)
            self._look(tally, index, before, expected, tally.kind, told)
            work(index, _told_nobody)
            self._compare(tally, index, expected, tally.kind)

    def _kill(self, tally: Tally, child: Child, took: float) -> list[str]:
        """Kill a child within the time that its work takes; returns what it told as done."""
        time.sleep(self._chance.uniform(0, took * 1.05))
        os.kill(child.process, signal.SIGKILL)
        _, status = os.waitpid(child.process, 0)
        tally.kills += 1
        tally.midway += os.WIFSIGNALED(status)
        return child.read_all().split("\n")[:-1]

    def _look(
        self,
        tally: Tally,
        index: Path,
        before: State,
        after: State,
        kind: str,
        told: list[str] | tuple[str, ...],
    ) -> State:
        """Whole, every filing as before or after, and what was told is done."""
        if not (index / FILE_NAME).exists():
            self._expect(not before and not told, f"{kind}: the index is gone")
            tally.states.add(0)
            return {}
        found = self._verified(index, kind)
        tally.states.add(len(found))
        for doc_id in sorted({*found, *before, *after}):
            held = found.get(doc_id)
            allowed = [before.get(doc_id), after.get(doc_id)]
            if kind.endswith("copy"):  # its vectors come right after a filing
                allowed.append(_without_vectors(after.get(doc_id, ())))
            self._expect(held in allowed, f"{kind}: {doc_id} is neither as before nor as after")
            self._expect(doc_id not in told or held == allowed[1], f"{kind}: {doc_id} was told as done and is not")
        return found

    def _compare(self, tally: Tally, index: Path, expected: State, kind: str) -> None:
        """As undisturbed."""
        found = self._verified(index, kind)
        self._expect(found == expected, f"{kind}: done again, {len(found)} filings are not as undisturbed")
        with SqliteIndex(index) as opened:
            unread = Manifest(opened).unread()
        self._expect(not unread, f"{kind}: done again, {len(unread)} files are left unread")
        self._expect(not list(index.glob("*.damaged*")), f"{kind}: a damaged copy was left")

    def _verified(self, index: Path, kind: str) -> State:
        for fault in verify(index).faults:
            self.problems.append(f"{kind}: {fault.subject}: {fault.found}")
        return state_of(index)

    def _expect(self, held: bool, problem: str) -> None:
        if not held:
            self.problems.append(problem)

    def _fresh(self, begin: Path) -> Path:
        begin.mkdir(exist_ok=True)
        index = self._folder / "index"
        shutil.rmtree(index, ignore_errors=True)
        shutil.copytree(begin, index)
        return index

    @staticmethod
    def _without_vectors(index: Path) -> State:
        return {doc_id: _without_vectors(held) for doc_id, held in state_of(index).items()}


def _without_vectors(held: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in held if "made up" not in each)


@dataclass(frozen=True, slots=True)
class Child:
    """A forked process and the end of a pipe to which it tells what is done."""

    process: int
    told: int

    def read_all(self) -> str:
        """What it told until it ended."""
        with os.fdopen(self.told, encoding="utf-8", errors="replace") as opened:
            return opened.read()


_tells = -1


def start(work: Callable[[], None]) -> Child:
    """Do `work` in a process of its own; an error is told as a sentence and ends it with 1."""
    global _tells
    told, _tells = os.pipe()
    process = os.fork()
    if process:
        os.close(_tells)
        return Child(process, told)
    code = 1
    try:
        work()
        code = 0
    except (FinAgentError, OSError) as error:
        child_tells(str(error))
    finally:
        os._exit(code)


def child_tells(done: str) -> None:
    """Tell the parent."""
    os.write(_tells, f"{done}\n".encode())


_PREPARED: dict[str, PreparedFiling] = {}


def remembered(path: Path) -> PreparedFiling:
    """The filing as it was read once."""
    return _PREPARED[content_hash(path)]


def bring_in(files: list[Path], index: Path, tell: Callable[[str], None], wait: float = 0.0) -> None:
    """Ingest, telling what is in."""

    def on_file(file: IngestedFile) -> None:
        if file.outcome is Outcome.FAILED:
            raise AssertionError(file.reason)
        tell(file.doc_id)

    with SqliteIndex.create(index) as opened:
        ingest(files, opened, remembered, workers=0, on_file=on_file, wait=wait)


def state_of(folder: Path) -> State:
    """What an index holds, by its checksums, which `verify` has held against the rows."""
    of_vectors = "SELECT model || checksum FROM vectors WHERE filing_id = ? ORDER BY id"
    of_parts = (
        "SELECT value FROM filing_details, json_each(checksums) WHERE filing_id = ? ORDER BY key = 'filings', key"
    )
    with SqliteIndex(folder) as index, index.snapshot() as connection:
        found = {}
        for number, doc_id, hashed in connection.execute("SELECT id, doc_id, content_hash FROM filings").fetchall():
            vectors = [row[0] for row in connection.execute(of_vectors, (number,))]
            found[doc_id] = (hashed, *vectors, *(row[0] for row in connection.execute(of_parts, (number,))))
        return found


def _as(prepared: PreparedFiling, path: Path) -> PreparedFiling:
    name = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    filing = replace(prepared.filing, doc_id=name, source=str(path.resolve()), content_hash=content_hash(path))
    return replace(prepared, filing=filing)


def _told_nobody(done: str) -> None:
    return


def _ignored(result: object) -> None:
    return


def _remove_files(files: list[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)


def _remove_lock_only(index: Path) -> None:
    (index / "ingest.lock").unlink(missing_ok=True)


def _size(index: Path) -> int:
    return sum(file.stat().st_size for file in index.iterdir())


def _mount(folder: Path, size: int, remount: bool = False) -> subprocess.CompletedProcess[bytes]:
    options = f"{'remount,' * remount}size={size}"
    return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)


def _unmount(folder: Path) -> None:
    subprocess.run(["umount", str(folder)], capture_output=True, check=True)


@contextmanager
def _small_disk(folder: Path, size: int | None) -> Iterator[Callable[[], None]]:
    """A disk of `size` bytes at `folder` (none is mounted where it is None); gives what makes it large."""
    if size is None:
        yield lambda: None
        return
    _mount(folder, size)
    try:
        yield lambda: _ignored(_mount(folder, 1 << 30, remount=True))
    finally:
        _unmount(folder)


if __name__ == "__main__":
    sys.exit(main())
