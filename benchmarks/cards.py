"""Time the making of cards against the reading of the same filings, and say what the cards hold.

    python benchmarks/cards.py FOLDER [--limit N]

FOLDER holds PDFs or HTML filings. One process, processor time. Prints for each file the seconds of reading and of
cards (made and written as JSON) and their ratio; then the ratio over all, the average size of a card's JSON, and for
each field the share of cards that fill it.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fin_agent import prepare
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.cards.rule_based_abstraction import make_cards
from fin_agent.filings.reader import is_readable
from fin_agent.vocabulary.filing import Filing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, help="only every so many-th file, N in all")
    arguments = parser.parse_args()
    files = sorted(path for path in arguments.folder.rglob("*") if is_readable(path))
    if arguments.limit:
        files = files[:: max(1, len(files) // arguments.limit)][: arguments.limit]
    reading = making = 0.0
    size = cards = 0
    filled: Counter[str] = Counter()
    read(files[0])  # what is loaded and compiled once is not the files' cost
    make_cards(read(files[0]))
    for file in files:
        started = time.process_time()
        filing = read(file)
        was_read = time.process_time()
        made = make_cards(filing)
        stored = [card.model_dump_json(exclude_defaults=True) for card in made]
        done = time.process_time()
        print(f"{file.name:44} read {was_read - started:6.2f} s   cards {done - was_read:6.3f} s   "
              f"{(done - was_read) / (was_read - started):6.1%}")  # fmt: skip
        reading, making = reading + was_read - started, making + done - was_read
        size, cards = size + sum(map(len, stored)), cards + len(made)
        for card in made:
            filled.update(filled_fields(card))
    print(
        f"{len(files)} filings, {cards:,} cards: reading {reading:.1f} s, cards {making:.1f} s, {making / reading:.1%}"
    )
    print(f"average JSON of a card: {size / cards:.0f} bytes")
    for field in sorted(filled, key=lambda field: (-filled[field], field)):
        print(f"{field:28} {filled[field] / cards:7.1%}")


def read(file: Path) -> Filing:
    """As ingest reads it."""
    return prepare(file).filing


def filled_fields(card: Card) -> Iterator[str]:
    """Names of fields that hold something; of the role and the kind of evidence, which."""
    yield f"role: {card.role.value}"
    yield f"evidence: {card.evidence_type.value}"
    for name, value in card:
        if isinstance(value, tuple | str) and name not in ("role", "evidence_type") and value:
            yield name
        elif hasattr(value, "model_dump"):
            yield from (f"{name}.{inner}" for inner in value.model_dump(exclude_defaults=True))


if __name__ == "__main__":
    main()
