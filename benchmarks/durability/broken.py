"""Ingest a folder of PDFs a tenth of which is broken: are the counts right, and does every failure say what to do?

    python benchmarks/durability/broken.py FOLDER [--share 0.1] [--seed 0] [--workers 2]

The files are copied first; those that are drawn are cut in half, emptied, overwritten, put under a password, or
replaced by a web page. Then they are mended, and `fin-agent ingest --retry-failed` has to bring in exactly these.
Prints what was found; the exit code is 1 where a count is wrong, a line of the list says nothing to do, or the index is
not whole.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf

Break = Callable[[Path], None]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        copies, index = Path(temporary) / "filings", Path(temporary) / "index"
        copies.mkdir()
        files = [Path(shutil.copy(file, copies)) for file in sorted(arguments.folder.rglob("*.pdf"))]
        chance = random.Random(arguments.seed)
        broken = chance.sample(files, round(len(files) * arguments.share))
        originals = {file: file.read_bytes() for file in broken}
        for at, file in enumerate(broken):
            BREAKS[at % len(BREAKS)](file)
        workers = ["--workers", str(arguments.workers)]
        first = command("ingest", str(copies), *workers, "--index", str(index))
        listed = command("index", "failures", "--index", str(index))["files"]
        for file, content in originals.items():
            file.write_bytes(content)
        retried = command("ingest", "--retry-failed", *workers, "--index", str(index))
        verified = command("index", "verify", "--index", str(index))
    print(f"{len(files)} files, {len(broken)} broken: {told(first)}")
    for reason, number in Counter(without_figures(file["reason"]) for file in listed).most_common():
        print(f"  {number:3} {reason}")
    print(f"mended, read again: {told(retried)}")
    print(
        f"verify: {verified['filings']} filings, {len([each for each in verified['findings'] if each['fault']])} faults"
    )
    right = (
        (first["added"], first["failed"]) == (len(files) - len(broken), len(broken))
        and {file["path"] for file in listed} == {str(file.resolve()) for file in broken}
        and all(file["reason"] and file["remedy"] for file in listed)
        and (retried["added"], retried["failed"], retried["filings"]) == (len(broken), 0, len(files))
        and verified["whole"]
    )
    print("right" if right else "WRONG")
    return not right


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _emptied(file: Path) -> None:
    file.write_bytes(b"")


def _overwritten(file: Path) -> None:
    file.write_bytes(b"%PDF-1.7\n" + random.Random(1).randbytes(20_000))


def _locked(file: Path) -> None:
    with pymupdf.open(stream=file.read_bytes(), filetype="pdf") as document:
        document.save(file, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="secret", owner_pw="owner")


def _web_page(file: Path) -> None:
    file.write_bytes(b"<html><body>Please sign in to download this filing.</body></html>")


BREAKS: tuple[Break, ...] = (_cut, _emptied, _overwritten, _locked, _web_page)


def command(*arguments: str) -> dict[str, Any]:
    """The document that `fin-agent ... --json` prints, with the seconds it took."""
    started = time.perf_counter()
    run = [sys.executable, "-c", "from fin_agent.cli import main; main()", *arguments, "--json"]
    done = subprocess.run(run, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return {**found, "took": time.perf_counter() - started, "code": done.returncode}


def told(document: dict[str, Any]) -> str:
    """Counts of an ingest."""
    counts = ", ".join(f"{document[name]} {name}" for name in ("added", "unchanged", "failed"))
    return (
        f"{counts}; {document['filings']} filings in the index; exit code {document['code']}; {document['took']:.0f} s"
    )


def without_figures(reason: str) -> str:
    """A reason, the same for files of different size."""
    return "".join("#" if letter.isdigit() else letter for letter in reason)[:110]


if __name__ == "__main__":
    sys.exit(main())
