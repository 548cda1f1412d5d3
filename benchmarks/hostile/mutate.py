"""Write malformed filings, made of the sample filings: the same files for the same seed.

    python -m benchmarks.hostile.mutate FOLDER [--pdf 2000] [--html 1000] [--seed 1]

A name says what was done to what: `0007.bomb.quillmark_2023_10k.pdf`. Kinds of damage take turns, so that each is there
as often as any other. See `pdf_mutations.py` and `html_mutations.py` for what there is.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.hostile.byte_mutations import Mutation
from benchmarks.hostile.html_mutations import HTMLS
from benchmarks.hostile.pdf_mutations import PDFS

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True, slots=True)
class Mutated:
    """A malformed file and what it was made of."""

    name: str
    content: bytes
    kind: str
    """What was done: a name in `PDFS` or `HTMLS`."""
    original: Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pdf", type=int, default=2_000)
    parser.add_argument("--html", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for mutated in (*pdfs(given.pdf, given.seed), *htmls(given.html, given.seed)):
        (given.folder / mutated.name).write_bytes(mutated.content)


def pdfs(count: int, seed: int, of: str = "*.pdf") -> Iterator[Mutated]:
    """`count` malformed PDFs, made of the samples with such names."""
    return _mutated(sorted((EXAMPLES / "filings").glob(of)), PDFS, count, seed)


def htmls(count: int, seed: int, of: str = "*.htm*") -> Iterator[Mutated]:
    """`count` malformed HTML files, some of them packed with gzip, made of the samples with such names."""
    return _mutated(sorted((EXAMPLES / "filings_html").glob(of)), HTMLS, count, seed)


def _mutated(originals: Sequence[Path], kinds: Mapping[str, Mutation], count: int, seed: int) -> Iterator[Mutated]:
    names = sorted(kinds)
    for position in range(count):
        random = Random(f"{seed} {position}")
        original = random.choice(originals)
        sound = original.read_bytes()
        packed = original.suffix == ".gz"
        kind = names[position % len(names)]
        if packed:
            sound = gzip.decompress(sound)
        content = kinds[kind](sound, random)
        if packed and random.random() < 0.5:
            content = gzip.compress(content, mtime=0)
        yield Mutated(f"{position:04d}.{kind}.{original.name}", content, kind, original)


if __name__ == "__main__":
    main()
