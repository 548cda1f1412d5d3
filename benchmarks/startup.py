"""How long it takes to begin: imports, and the first answer of a cold process over a warm index.

    fin-agent ingest examples/filings --index INDEX
    python benchmarks/startup.py INDEX [--times 9]

Each is run in processes of its own, in turn, so that all of them see the same machine. Beside bare Python and bare
LangGraph, since what they take is not ours. The least of all runs is what others on the machine disturb least.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

QUESTION = "What were Quillmark's merchandise inventories at the end of fiscal 2023?"
IMPORTS = {
    "bare Python": "pass",
    "import fin_agent": "import fin_agent",
    "import langgraph.graph": "import langgraph.graph",
    "import fin_agent.graphs.answer": "import fin_agent.graphs.answer",
    "import fin_agent.cli": "import fin_agent.cli",
}


@dataclass(slots=True)
class Runs:
    """Seconds of the clock, and of processors, of each run."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def time(self, command: list[str]) -> None:
        before, begun = _used(), time.perf_counter()
        _ran(command)
        self.wall.append(time.perf_counter() - begun)
        self.processor.append(_used() - before)


def _ran(command: list[str]) -> None:
    """With compiled modules kept, as they are where nobody forbids it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


def _used() -> float:
    """Seconds that processes which have ended spent on processors."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("--times", type=int, default=9)
    given = parser.parse_args()
    commands = {name: [sys.executable, "-c", code] for name, code in IMPORTS.items()}
    begun = [sys.executable, "-c", "from fin_agent.cli import main; main()"]  # what the script `fin-agent` holds
    commands["fin-agent --version"] = [*begun, "--version"]
    commands["fin-agent ask, a lookup"] = [*begun, "ask", QUESTION, "--index", str(given.index), "--no-record"]
    runs = {name: Runs() for name in commands}
    for command in commands.values():
        _ran(command)  # compiled, and in the cache of the disk
    for _ in range(given.times):
        for name, command in commands.items():
            runs[name].time(command)
    graph = min(runs["import langgraph.graph"].processor)
    print("| | seconds, least | median | processor, least | against LangGraph |\n|---|---|---|---|---|")
    for name, each in runs.items():
        least = min(each.processor)
        shown = f"{min(each.wall):.2f} | {statistics.median(each.wall):.2f} | {least:.2f} | {least / graph:.2f}"
        print(f"| {name} | {shown} |")


if __name__ == "__main__":
    main()
