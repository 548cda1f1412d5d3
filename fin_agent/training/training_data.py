"""What encoders and rerankers learn from: filings' pages and tables, and questions about them, in one packed file.

The file is all that training needs: it is made where the index is, and taken to where the accelerator is.
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
"""Of a page, with its white space collapsed (Kobeissi & Langlais, Section 3.3)."""
TABLE_CHARACTERS = 1_500


@dataclass(frozen=True, slots=True)
class FilingText:
    """The texts of a filing, cut."""

    doc_id: str
    company: str
    """Its key in the index: what is held out together."""
    pages: tuple[str, ...]
    """One a page, empty where it has no text."""
    tables: tuple[tuple[int, str], ...]
    """(page, text)."""


@dataclass(frozen=True, slots=True)
class QuestionWithPages:
    """A question with the pages that hold its answer."""

    id: str
    source: str
    """`lookups`, `tags`, or the name of a file of questions."""
    question: str
    pages: tuple[PageKey, ...]
    also: tuple[PageKey, ...] = ()
    """Others, each of which holds the answer alone: neither right nor wrong to learn from."""


@dataclass(frozen=True, slots=True)
class Term:
    """A name of the lexicon, and a sentence that prints one of its labels, or does not."""

    term: str
    sentence: str
    present: bool
    company: str


@dataclass(frozen=True, slots=True)
class Material:
    """All of it."""

    filings: tuple[FilingText, ...]
    asked: tuple[QuestionWithPages, ...]
    terms: tuple[Term, ...] = ()

    def company_of(self, asked: QuestionWithPages) -> str:
        """The company that a question is about: that of its first page's filing."""
        return self.by_id[asked.pages[0].doc_id].company

    @property
    def by_id(self) -> dict[str, FilingText]:
        """Filings by doc_id."""
        return {filing.doc_id: filing for filing in self.filings}

    def lines(self) -> Iterator[str]:
        """A line of JSON for each filing, question and term."""
        for kind, members in (("filing", self.filings), ("asked", self.asked), ("term", self.terms)):
            for member in members:
                yield json.dumps({kind: asdict(member)}, ensure_ascii=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the lines, in hex: what `training.json` names the data by."""
        digest = hashlib.sha256()
        for line in self.lines():
            digest.update(line.encode())
        return digest.hexdigest()

    def write(self, path: Path) -> None:
        """Write a packed file (`.jsonl.xz`). Replaces it."""
        with lzma.open(path, "wt", encoding="utf-8", preset=6) as file:
            file.writelines(f"{line}\n" for line in self.lines())


_LINE = TypeAdapter(dict[Literal["filing", "asked", "term"], FilingText | QuestionWithPages | Term])


def read_material(path: Path) -> Material:
    """What `write` wrote. Raises QuestionError where the file is none."""
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
