"""How long each reader of questions, labels, headings and names takes with texts made to cost it dearly.

    python -m benchmarks.hostile.texts [--count 1000] [--longest 10000] [--only READER] [--show 10] [--woven SEED]

Each text (`tests/hostile_texts.py`) is given to each reader (`tests/test_hostile_texts.py`) over an index of the sample
filings. Prints the slowest of each reader in seconds of processor time, where it took more than half a second the least
of three times: what else the machine does is not counted. The exit code is 1 where one took more than half a second.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from fin_agent import Workspace, ingest
from fin_agent.errors import QuestionError
from tests.hostile_texts import hostile_texts, woven_texts
from tests.test_hostile_texts import Reader, readers

SAMPLES = Path(__file__).parents[2] / "examples" / "filings"
MOST_SECONDS = 0.5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--longest", type=int, default=10_000)
    parser.add_argument("--only", help="a reader")
    parser.add_argument("--woven", type=int, metavar="SEED", help="words of the readers, drawn by this seed")
    parser.add_argument("--show", type=int, default=1, help="texts of each reader")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ingest(SAMPLES, folder, workers=2)
        found = readers(Workspace.open(folder))
        woven = given.woven is not None
        texts = list(
            woven_texts(given.count, given.woven, given.longest) if woven else hostile_texts(given.count, given.longest)
        )
        over = 0
        for name, read in found.items():
            if given.only not in (None, name):
                continue
            taken = []
            for text in texts:
                seconds = _seconds(read, text)
                if seconds > MOST_SECONDS:
                    seconds = min(seconds, _seconds(read, text), _seconds(read, text))
                taken.append((seconds, text))
            taken.sort(reverse=True)
            slow = sum(seconds > MOST_SECONDS for seconds, _ in taken)
            over += slow
            print(f"{name}: {len(taken):,} texts, {slow} over {MOST_SECONDS} s", flush=True)
            for seconds, text in taken[: given.show]:
                print(f"  {seconds:.2f} s  {len(text):6,} characters: {text[:40]!r} ... {text[-12:]!r}", flush=True)
    return int(over > 0)


def _seconds(read: Reader, text: str) -> float:
    begun = time.process_time()
    with suppress(QuestionError):
        read(text)
    return time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main())
