"""Data for training encoders and rerankers, in one compressed file: pages and tables of filings, and questions.

The file is all that training needs: create it where the index is, and copy it to the machine with the accelerator.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from fin_agent.errors import QuestionError
from fin_agent.index.protocol import PageKey

PAGE_CHARACTERS = 2_000
"""Characters of a page, after white space is collapsed (Kobeissi & Langlais, Section 3.3)."""
TABLE_CHARACTERS = 1_500


@dataclass(frozen=True, slots=True)
class FilingText:
    """The texts of a filing, truncated."""

    doc_id: str
    company: str
    """The company key in the index. Filings of one company are held out together."""
    pages: tuple[str, ...]
    """The text of each page; empty if the page has none."""
    tables: tuple[tuple[int, str], ...]
    """(page, text)."""


@dataclass(frozen=True, slots=True)
class QuestionWithPages:
    """A question with the pages that contain its answer."""

    id: str
    source: str
    """`lookups`, `tags`, or the name of a file of questions."""
    question: str
    pages: tuple[PageKey, ...]
    also: tuple[PageKey, ...] = ()
    """Equivalent pages, each of which contains the answer: neither positive nor negative examples."""


@dataclass(frozen=True, slots=True)
class Term:
    """A name of the lexicon with a sentence, and whether that sentence prints one of its labels."""

    term: str
    sentence: str
    present: bool
    company: str


@dataclass(frozen=True, slots=True)
class Material:
    """All data of a training."""

    filings: tuple[FilingText, ...]
    asked: tuple[QuestionWithPages, ...]
    terms: tuple[Term, ...] = ()

    def company_of(self, asked: QuestionWithPages) -> str:
        """Return the company that a question is about: that of the filing of its first page."""
        return self.by_id[asked.pages[0].doc_id].company

    @property
    def by_id(self) -> dict[str, FilingText]:
        """Filings by doc_id."""
        return {filing.doc_id: filing for filing in self.filings}

    def lines(self) -> Iterator[str]:
        """Yield a line of JSON for each filing, question and term."""
        for kind, members in (("filing", self.filings), ("asked", self.asked), ("term", self.terms)):
            for member in members:
                yield json.dumps({kind: asdict(member)}, ensure_ascii=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the lines, in hex. `training.json` identifies the data by it."""
        digest = hashlib.sha256()
        for line in self.lines():
            digest.update(line.encode())
        return digest.hexdigest()

    def write(self, path: Path) -> None:
        """Write the compressed file (`.jsonl.xz`), replacing an existing one."""
        with lzma.open(path, "wt", encoding="utf-8", preset=6) as file:
            file.writelines(f"{line}\n" for line in self.lines())


_LINE = TypeAdapter(dict[Literal["filing", "asked", "term"], FilingText | QuestionWithPages | Term])


def read_material(path: Path) -> Material:
    """Read a file that `Material.write` wrote.

    Raises:
        QuestionError: The file cannot be read, or is not such a file.
    """
    held: dict[str, list[Any]] = {"filing": [], "asked": [], "term": []}
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                for kind, of in _LINE.validate_json(line).items():
                    held[kind].append(of)
    except (OSError, EOFError, ValueError, lzma.LZMAError) as failure:
        raise QuestionError(
            f"the file contains no training examples ({failure})",
            subject=str(path),
            remedy="Create it with `fin-agent train examples --out FILE.jsonl.xz`",
        ) from failure
    return Material(*map(tuple, held.values()))
