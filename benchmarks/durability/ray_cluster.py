"""Filings read by a Ray cluster of this machine, with a reader and a writer killed on the way: is each there once?

    pip install ".[ray]"
    python benchmarks/durability/ray_cluster.py $FINANCEBENCH/pdfs --processors 1 2 [--kill]

For each number of processors a cluster with that many readers is started, reads all files into a new index, and is
ended. With `--kill`, one process that reads and the one that writes are killed (SIGKILL) once a quarter and once half
of the filings are done. Told are seconds, who was killed, and what the index holds: it has to be every filing once, and
whole (`fin-agent index verify`). A second run has to find nothing to do.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import ray

from fin_agent.filings.reader import doc_id_of
from fin_agent.index.ingest import IngestedFile, files_below
from fin_agent.index.ingest_ray import ingest_on_ray
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.index.verifying import verify


def kill_one(kind: str) -> str | None:
    """Kills a process of this run's cluster that is at work as `kind`, and tells which."""
    for entry in Path("/proc").iterdir():
        try:
            name = (entry / "cmdline").read_text(encoding="utf-8")
            mine = f"RAY_OF_THIS_RUN={os.getpid()}" in (entry / "environ").read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            continue
        if mine and name.startswith(kind):
            os.kill(int(entry.name), signal.SIGKILL)
            return f"{kind} ({entry.name})"
    return None


def run(files: list[Path], processors: int, kill: bool) -> bool:
    """Whether every filing is in the index once, whole, and is left alone by a second run."""
    ray.init(num_cpus=processors, include_dashboard=False, log_to_driver=False, logging_level="error")
    with tempfile.TemporaryDirectory() as folder:
        due = {len(files) // 4: "ray::_read", len(files) // 2: "ray::_Writer"} if kill else {}
        killed: list[str] = []
        done = 0

        def on_file(file: IngestedFile) -> None:
            nonlocal done
            done += 1
            for at in [at for at in due if done >= at]:
                if (process := kill_one(due[at])) is not None:
                    killed.append(f"{process} after {done}")
                    del due[at]

        begun = time.perf_counter()
        report = ingest_on_ray(files, folder, "ray://", on_file=on_file)
        seconds = time.perf_counter() - begun
        again = ingest_on_ray(files, folder, "ray://")
        ray.shutdown()
        with SqliteIndex(Path(folder)) as index:
            held = Counter(entry.doc_id for entry in index.entries())
            pages = sum(entry.page_count for entry in index.entries())
        verified = verify(Path(folder))
    outcomes = Counter(file.outcome.value for file in report.files)
    second = Counter(file.outcome.value for file in again.files)
    once = held == Counter(doc_id_of(path) for path in files)
    print(f"{processors} processors: {seconds:.1f} s, {dict(outcomes)}; a second run: {dict(second)}")
    print(f"  killed: {', '.join(killed) or 'none'}; the index holds {len(held)} filings, {pages} pages;", end=" ")
    print(f"each once: {once}; verify: {len(verified.faults)} faults", flush=True)
    return once and not verified.faults and not due and second == Counter({"unchanged": len(files)})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path)
    parser.add_argument("--processors", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--kill", action="store_true")
    given = parser.parse_args()
    os.environ["RAY_OF_THIS_RUN"] = str(os.getpid())
    files = files_below([given.files])
    outcomes = [run(files, processors, given.kill) for processors in given.processors]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
