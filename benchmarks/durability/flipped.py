"""Change bytes of an index: is it noticed, is a wrong figure ever answered, and does repair bring all back?

    python -m benchmarks.durability.flipped [--rounds 40] [--bytes 20] [--aimed 0] [--seed 0] [--only FIRST-LAST]

Each round draws by seed and number, so that one can be run again alone. It copies the index of the sample filings,
changes bytes anywhere in its file (in the first `--aimed` rounds one bit of what the answers stand on: labels, amounts,
periods, names), asks four questions, verifies, repairs, and reads what was lost again from its files. An answer may be
the right one, a refusal or an error. Prints what was found; the exit code is 1 where a figure is wrong, a change is
noticed by nobody, an error is not of this package, or something is not back.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from fin_agent import AnswerContext, FinAgentError, SqliteIndex, Workspace, answer_question, ingest, prepare
from fin_agent.index.ingest import Manifest
from fin_agent.index.repairing import repair
from fin_agent.index.sqlite import FILE_NAME
from fin_agent.index.verifying import verify

SAMPLES = Path(__file__).parents[2] / "examples" / "filings"
QUESTIONS = (
    "What were Quillmark's merchandise inventories at the end of fiscal 2023?",
    "What was Harborlight's net income in FY2023?",
    "What was Tellurond's revenue in FY2022?",
    "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--bytes", type=int, default=20)
    parser.add_argument("--aimed", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="FIRST-LAST", help="these rounds alone, by their numbers from 0")
    arguments = parser.parse_args()
    first, _, last = (arguments.only or f"0-{arguments.aimed + arguments.rounds - 1}").partition("-")
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        whole, copy = Path(temporary) / "whole", Path(temporary) / "copy"
        with SqliteIndex.create(whole) as index:
            ingest([SAMPLES], index, prepare)
        expected, sealed = asked(whole), checksums(whole)
        for turn in range(int(first), int(last or first) + 1):
            try:
                played(turn, whole, copy, expected, sealed, arguments, found)
            except Exception as error:
                wrong(found, turn, "error of another kind", repr(error))
    print(f"rounds {first} to {last or first}; the first {arguments.aimed} aimed, others of {arguments.bytes} bytes:")
    print(dict(sorted(found.items())))
    return any(name.startswith("WRONG") for name in found)


def played(
    turn: int,
    whole: Path,
    copy: Path,
    expected: list[str],
    sealed: dict[str, dict[str, str]],
    arguments: argparse.Namespace,
    found: Counter[str],
) -> None:
    """One round: change, ask, verify, repair, read again; counted in `found`."""
    chance = random.Random(f"{arguments.seed} {turn}")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(whole, copy)
    aimed = turn < arguments.aimed
    changed = aim(copy / FILE_NAME, chance) if aimed else change(copy / FILE_NAME, arguments.bytes, chance)
    for answer, right in zip(asked(copy), expected, strict=True):
        if answer != right and answer not in ("error", "refused"):
            wrong(found, turn, f"figure: {answer!r} instead of {right!r}")
        else:
            found["right" if answer == right else answer] += 1
    faults = verified(copy)
    found["noticed" if faults else "nothing that is read was changed"] += 1
    if not faults and checksums(copy) != sealed:
        wrong(found, turn, "a change was not noticed")
    repaired = repair(copy)
    with SqliteIndex(copy) as index:
        lost = [file.path for file in Manifest(index).unread()]
        ingest([SAMPLES] if repaired.has_unnamed_losses else lost, index, prepare, workers=0)
    found["filings read again"] += len(lost)
    for what, now, before in (
        ("checksums", checksums(copy), sealed),
        ("faults", verified(copy), False),
        ("answers", asked(copy), expected),
    ):
        if now != before:
            wrong(found, turn, f"{what} did not come back", f"{now} instead of {before}; {repaired}")
    assert changed


def wrong(found: Counter[str], turn: int, what: str, details: str = "") -> None:
    """Count and tell what must not be."""
    found[f"WRONG {what}"] += 1
    print(f"round {turn}: WRONG {what} {details}", flush=True)


def change(file: Path, count: int, chance: random.Random) -> int:
    """Put random bytes at random places; how many are others now."""
    content = bytearray(file.read_bytes())
    before = bytes(content)
    for at in chance.sample(range(len(content)), count):
        content[at] = chance.randrange(256)
    file.write_bytes(content)
    return sum(one != other for one, other in zip(before, content, strict=True))


TELLING = (
    *(rb"Merchandise inventories", rb"Net income", rb"Total revenue", rb"Net revenue", rb"Revenue", rb"Inventories"),
    *(rb"net_income", rb"inventor(?:y|ies)", rb"revenue", rb"cost_of_revenue", rb"total_assets"),
    *(rb"20(?:19|2\d)-\d\d-\d\d", rb"(?:harborlight|quillmark|tellurond)_20\d\d\w*", rb"Harborlight", rb"Quillmark"),
    *(rb"(?<![\d.])\d{3,4}(?![\d.])", rb"FY20\d\d", rb"\[\d+\.\d+,\d+\.\d+", rb"balance sheet", rb"income"),
)
"""What answers are made of, as it stands in the file."""


def aim(file: Path, chance: random.Random) -> int:
    """Flip one bit in something that an answer may stand on."""
    content = bytearray(file.read_bytes())
    places = [found.span() for telling in chance.sample(TELLING, 3) for found in re.finditer(telling, content)]
    start, end = chance.choice(places)
    content[chance.randrange(start, end)] ^= 1 << chance.randrange(7)
    file.write_bytes(content)
    return 1


def asked(folder: Path) -> list[str]:
    """Each answer's value, `refused` or `error`."""
    said = []
    for question in QUESTIONS:
        try:
            with SqliteIndex(folder) as index:
                answer = answer_question(question, AnswerContext.by_rules(Workspace(index)))
            said.append("refused" if answer.refused else answer.answer.text)
        except FinAgentError:
            said.append("error")
    return said


def verified(folder: Path) -> bool:
    """Whether faults are found."""
    try:
        return bool(verify(folder).faults)
    except FinAgentError:
        return True


def checksums(folder: Path) -> dict[str, dict[str, str]]:
    """Of all parts of all filings; empty where the index cannot be read."""
    try:
        with SqliteIndex(folder) as index:
            return {entry.doc_id: index.checksums(entry.doc_id) for entry in index.entries()}
    except FinAgentError:
        return {}


if __name__ == "__main__":
    sys.exit(main())
