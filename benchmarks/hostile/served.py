"""Bring hostile files into an index that is being served, look at each by every way, and see that nobody else is hurt.

    python -m benchmarks.hostile.served [--pdf 100] [--html 100] [--seed 1]

`fin-agent ingest` reads malformed PDFs and HTML files (`benchmarks.hostile.mutate`), pages that are drawn for minutes
(`benchmarks.hostile.bombs`) and the sound sample filings among them, while `fin-agent serve` answers from the same
index. Then page 1 of every filing is shown: by `fin-agent show --image`, by `GET /filings` and `GET /pages`, and by
`show_page` over MCP. `/health` is asked all the while. Prints what came of each; the exit code is 1 where a sample
filing is not as it is when it is read alone, a way in ends in an unexpected error, or `/health` took longer than a
second.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import httpx
import mcp
from typer.testing import CliRunner

from benchmarks.hostile.bombs import PRINTED, pdf, write_bombs
from benchmarks.hostile.mutate import EXAMPLES, htmls, pdfs
from fin_agent import SqliteIndex, ingest
from fin_agent.cli import app

MOST_SECONDS = 1.0
COMMAND = (sys.executable, "-c", "from fin_agent.cli import main; main()")
EXPECTED = {200, 404, 409, 410, 422, 500, 502, 503, 504}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pdf", type=int, default=100)
    parser.add_argument("--html", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        samples = [*sorted((EXAMPLES / "filings").glob("*.pdf")), *sorted((EXAMPLES / "filings_html").glob("*.htm*"))]
        ingest(samples, folder / "alone", workers=2)
        (folder / "first.pdf").write_bytes(pdf(PRINTED))
        ingest([folder / "first.pdf"], folder / "index", workers=0)
        files = folder / "files"
        bombs = write_bombs(files)
        for mutated in (*pdfs(given.pdf, given.seed), *htmls(given.html, given.seed)):
            (files / mutated.name).write_bytes(mutated.content)
        for sample in samples:
            shutil.copy(sample, files)
        print(
            f"{given.pdf} PDFs, {given.html} HTML files, {len(bombs)} bombs, {len(samples)} sample filings", flush=True
        )
        with served(folder / "index", "serve", 8491) as api, polled(f"{api}/health") as health:
            faults = ingested(folder, files)
            with SqliteIndex(folder / "index") as index:
                doc_ids = sorted(entry.doc_id for entry in index.entries())
            faults += lost(folder, samples)
            faults += told("`fin-agent show`", shown(folder / "index", doc_ids))
            faults += told("HTTP", fetched(api, doc_ids))
            with served(folder / "index", "mcp", 8492) as server:
                faults += told("MCP", asyncio.run(called(f"{server}/mcp", doc_ids)))
        slowest, failed = max(health), health.count(float("inf"))
        median = sorted(health)[len(health) // 2]
        print(f"/health: {len(health):,} calls, median {median:.3f} s, slowest {slowest:.2f} s, {failed} not answered")
    return int(faults > 0 or slowest > MOST_SECONDS)


def ingested(folder: Path, files: Path) -> int:
    """Read all files by the command; its last line, and 1 where it ended as no ingest may."""
    begun = time.monotonic()
    command = [*COMMAND, "ingest", str(files), "--workers", "2", "--index", str(folder / "index")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = (done.stdout.strip() or done.stderr.strip()).splitlines()
    print(
        f"ingest: exit code {done.returncode}, {time.monotonic() - begun:.0f} s: {said[-1] if said else ''}", flush=True
    )
    return int(done.returncode not in (0, 3) or "Traceback" in done.stderr)


def lost(folder: Path, samples: Sequence[Path]) -> int:
    """How many sample filings are not as they are where they were read alone."""
    with SqliteIndex(folder / "alone") as alone, SqliteIndex(folder / "index") as index:
        names = [entry.doc_id for entry in alone.entries()]
        parts = [part for part in alone.checksums(names[0]) if part != "filings"]  # that one tells where the file is
        differ = [
            name
            for name in names
            if [alone.checksums(name)[each] for each in parts] != [index.checksums(name).get(each) for each in parts]
        ]
    print(
        f"neighbours: {len(samples)} sample filings, {len(differ)} lost or changed {' '.join(differ)}".rstrip(),
        flush=True,
    )
    return len(differ)


def told(way: str, came: Sequence[tuple[str, str, float]]) -> int:
    """Print what came of a way in; how many ended as none may."""
    counts = Counter(outcome for _, outcome, _ in came)
    slowest = max(came, key=lambda each: each[2])
    print(f"{way}: {len(came)} filings, slowest {slowest[2]:.1f} s ({slowest[0]})", flush=True)
    for outcome, count in counts.most_common():
        print(f"  {count:4}  {outcome}", flush=True)
    return sum(outcome.startswith("UNEXPECTED") for _, outcome, _ in came)


def shown(index: Path, doc_ids: Sequence[str]) -> list[tuple[str, str, float]]:
    """(filing, outcome, seconds) of `fin-agent show`, two at once."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_shown, [index] * len(doc_ids), doc_ids))


def _shown(index: Path, doc_id: str) -> tuple[str, str, float]:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as out:
        result = CliRunner().invoke(
            app, ["show", doc_id, "--page", "1", "--image", f"{out}/page.png", "--index", str(index)]
        )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return doc_id, f"UNEXPECTED {result.exception!r}", time.monotonic() - begun
    why = (result.stderr.strip().splitlines() or [""])[0].split(": ", 1)[-1][:60] if result.exit_code else "drawn"
    return doc_id, f"exit code {result.exit_code}: {why}", time.monotonic() - begun


def fetched(api: str, doc_ids: Sequence[str]) -> list[tuple[str, str, float]]:
    """The same over HTTP: the filing and the picture of its first page, four at once."""

    def fetch(doc_id: str) -> tuple[str, str, float]:
        begun = time.monotonic()
        statuses = []
        for path in (f"/filings/{doc_id}", f"/pages/{doc_id}/1.png"):
            for _ in range(30):
                try:
                    answer = httpx.get(api + path, timeout=120)
                except httpx.HTTPError as error:
                    return doc_id, f"UNEXPECTED {type(error).__name__}", time.monotonic() - begun
                if answer.status_code != 503:  # as many are drawn as may be: come again, as it says
                    break
                time.sleep(1)
            statuses.append(str(answer.status_code))
            if answer.status_code not in EXPECTED or (answer.status_code == 500 and "what" not in answer.json()):
                statuses.insert(0, "UNEXPECTED")
        return doc_id, " ".join(statuses), time.monotonic() - begun

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(fetch, doc_ids))


async def called(address: str, doc_ids: Sequence[str]) -> list[tuple[str, str, float]]:
    """The same over MCP: the picture of each first page, three at once."""
    places, came = asyncio.Semaphore(3), []

    async def call(client: mcp.Client, doc_id: str) -> None:
        async with places:
            begun = time.monotonic()
            try:
                found = await client.call_tool("show_page", {"doc_id": doc_id, "page": 1})
                said = str(getattr(found.content[0], "text", ""))
                outcome = f"refused: {said.split(': ', 1)[-1][:50]}" if found.is_error else "drawn"
            except Exception as error:
                outcome = f"UNEXPECTED {error!r}"
            came.append((doc_id, outcome, time.monotonic() - begun))

    async with mcp.Client(address) as client:
        await asyncio.gather(*(call(client, doc_id) for doc_id in doc_ids))
    return came


@contextmanager
def served(index: Path, command: str, port: int) -> Iterator[str]:
    """A server's address, while it runs."""
    over = ["--http"] if command == "mcp" else []
    arguments = [*COMMAND, command, *over, "--port", str(port), "--index", str(index)]
    environment = {**os.environ, "FIN_AGENT_CONFIG": os.devnull}
    server = subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                httpx.get(f"{address}/health", timeout=5)
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(30)


@contextmanager
def polled(address: str) -> Iterator[list[float]]:
    """Seconds of each call, one after another, for as long as the block lasts; infinity where none came."""
    seconds: list[float] = []
    over = threading.Event()

    def poll() -> None:
        with httpx.Client(timeout=60) as client:
            while not over.wait(0.1):
                begun = time.monotonic()
                try:
                    answered = client.get(address).status_code == 200
                except httpx.HTTPError:
                    answered = False
                seconds.append(time.monotonic() - begun if answered else float("inf"))

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield seconds
    finally:
        over.set()
        thread.join()


if __name__ == "__main__":
    sys.exit(main())
