"""Time the ingest of a folder of PDFs against bare text extraction of the same files with as many processes.

    python benchmarks/ingest.py FOLDER [--workers N]

Prints seconds by the clock and of the processor, which other work on the machine hardly changes, the ratio of both,
peak memory, and the time of a second run that has nothing to do.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pymupdf

from fin_agent import SqliteIndex, ingest, prepare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    files = sorted(arguments.folder.rglob("*.pdf"))

    started = time.perf_counter()
    with ProcessPoolExecutor(arguments.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        pages = sum(pool.map(bare_text, files, chunksize=1))
    bare = time.perf_counter() - started
    bare_processor = processor_seconds()
    print(f"bare get_text   {bare:7.1f} s, {bare_processor:7.1f} s of processor   {len(files)} files, {pages:,} pages")

    with tempfile.TemporaryDirectory() as folder, SqliteIndex.create(Path(folder)) as index:
        started = time.perf_counter()
        report = ingest(files, index, prepare, workers=arguments.workers)
        whole = time.perf_counter() - started
        processor = processor_seconds() - bare_processor
        print(
            f"ingest          {whole:7.1f} s, {processor:7.1f} s of processor   {len(report.failures)} failed; "
            f"{whole / bare:.1f} and {processor / bare_processor:.1f} times bare text; "
            f"index of {sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6:,.0f} MB"
        )

        started = time.perf_counter()
        ingest(files, index, prepare, workers=arguments.workers)
        print(f"ingest again    {time.perf_counter() - started:7.1f} s")

        first = files[0]
        index.remove(first.stem)
        started = time.perf_counter()
        ingest([first], index, prepare, workers=arguments.workers)
        print(f"one filing more {time.perf_counter() - started:7.1f} s   {first.name}")

    for whose, kind in (("this process", resource.RUSAGE_SELF), ("largest worker", resource.RUSAGE_CHILDREN)):
        print(f"peak memory of {whose}: {resource.getrusage(kind).ru_maxrss / 1024:.0f} MB")


def processor_seconds() -> float:
    """Of this process and those that it has ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def bare_text(file: Path) -> int:
    """Plain text of every page of `file`; returns the number of pages."""
    with pymupdf.open(file) as document:
        for page in document:
            page.get_text()
        return int(document.page_count)


if __name__ == "__main__":
    main()
