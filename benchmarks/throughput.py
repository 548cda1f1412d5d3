"""Questions a minute by one, two and four processes over one index file, over HTTP and in a batch.

    python benchmarks/throughput.py .fin-agent/demo-index [--rounds 3] [--questions 96] [--only serve] [--quiet 0.1]
    python benchmarks/throughput.py .fin-agent/demo-index --ingest examples/filings_html

A server has answered before its time is taken. A batch is taken with the start of its processes, and so gets five times
as many questions: it is for many.

Told are each round's figures, how busy the machine was with other things before and after, and the median of the
ratios to one process. `--quiet` waits for a machine that is less busy, and passes over runs after which it is more. On
one that never is, `chrt --rr 1` before the command gives it the processors first. `--ingest` reads these files into
the index again and again while questions are answered, and fails where an answer is an error.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

QUESTIONS = (
    "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?",
    "What was Harborlight's net income in FY2023?",
    "What is the FY2024 operating margin of Quillmark?",
    "What risks does Harborlight name about its suppliers?",
)
COMMAND = (sys.executable, "-c", "from fin_agent.cli import main; main()")


def served(index: str, workers: int, questions: list[str]) -> float:
    """Seconds for all questions, eight callers at once, of a server that has answered before."""
    command = [*COMMAND, "serve", "--port", "0", "--workers", str(workers), "--at-once", "8", "--index", index]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        at = server.stderr.readline().split("serving at ")[1].split(",")[0]

        def ask(question: str) -> bool:
            body = json.dumps({"question": question}).encode()
            call = urllib.request.Request(f"{at}/ask", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(call, timeout=300) as reply:
                return "answer" in json.load(reply)

        with ThreadPoolExecutor(8) as callers:
            assert all(callers.map(ask, questions[:4] * 4 * workers))
            begun = time.perf_counter()
            assert all(callers.map(ask, questions))
            return time.perf_counter() - begun
    finally:
        server.terminate()
        server.wait(30)


def in_a_batch(index: str, jobs: int, questions: list[str]) -> float:
    """Seconds of `fin-agent batch`, the start of its processes included."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "questions.jsonl"
        asked.write_text("".join(json.dumps({"question": each}) + "\n" for each in questions), encoding="utf-8")
        options = ["--out", f"{folder}/answers.jsonl", "--jobs", str(jobs), "--index", index, "--no-record", "--json"]
        done = subprocess.run([*COMMAND, "batch", str(asked), *options], capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        assert not told["failed"], told
        return float(told["seconds"])


def ingesting(index: str, files: str, until: threading.Event) -> None:
    """Takes the filings out and reads them in again until the event is set."""
    names = [path.name.split(".")[0] for path in Path(files).iterdir() if path.suffix in (".htm", ".html", ".pdf")]
    while not until.is_set():
        subprocess.run([*COMMAND, "ingest", files, "--workers", "0", "--index", index], capture_output=True, check=True)
        for name in names:
            subprocess.run([*COMMAND, "remove", name, "--index", index], capture_output=True, check=False)


def busy(seconds: float = 3) -> float:
    """The share of the processors that is used just now, by the system's own account; 0 where it keeps none."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0.0

    def ticks() -> tuple[int, int]:
        each = [int(field) for field in stat.read_text(encoding="ascii").split("\n")[0].split()[1:9]]
        return sum(each), each[3] + each[4]

    before, idle_before = ticks()
    time.sleep(seconds)
    after, idle = ticks()
    return 1 - (idle - idle_before) / max(1, after - before)


def timed(
    run: Callable[[str, int, list[str]], float], index: str, processes: int, asked: list[str], quiet: float
) -> float:
    """Seconds of a run before and after which the machine was quiet."""
    while True:
        if (before := busy()) > quiet:
            continue
        seconds = run(index, processes, asked)
        after = busy()
        rate = f"{len(asked) / seconds:.1f} questions a second"
        print(f"  {processes}: {rate}, the machine {before:.0%} busy before, {after:.0%} after", flush=True)
        if after <= quiet:
            return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=96)
    parser.add_argument("--ingest")
    parser.add_argument("--only", choices=("serve", "batch"), default="")
    parser.add_argument("--quiet", type=float, default=1.0, help="the share of the machine that may be busy, as 0.1")
    given = parser.parse_args()
    os.environ["FIN_AGENT_RECORD"] = "0"
    questions = [QUESTIONS[at % len(QUESTIONS)] for at in range(given.questions)]
    ended = threading.Event()
    if given.ingest:
        threading.Thread(target=ingesting, args=(given.index, given.ingest, ended), daemon=True).start()
    for name, run, times in (("serve --workers", served, 1), ("batch --jobs", in_a_batch, 5)):
        if not name.startswith(given.only):
            continue
        asked = questions * times
        ratios: dict[int, list[float]] = {2: [], 4: []}
        for _ in range(given.rounds):
            print(name, flush=True)
            seconds = {workers: timed(run, given.index, workers, asked, given.quiet) for workers in (1, 2, 4)}
            for workers, each in ratios.items():
                each.append(seconds[1] / seconds[workers])
        for workers, each in ratios.items():
            print(f"{name}: {workers} are {statistics.median(each):.2f} of one", flush=True)
    ended.set()


if __name__ == "__main__":
    main()
