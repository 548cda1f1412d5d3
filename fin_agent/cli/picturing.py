"""Pictures of pages, written to files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.filings.drawing import Frame, Ink
from fin_agent.filings.picture import FramedPage, draw_pages
from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.filings import period_of_fact, value_words
from fin_agent.presentation.plain import one_line
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Page
from fin_agent.vocabulary.table import Table
from fin_agent.written_file import write_whole

_LONGEST_LABEL = 60


@dataclass(frozen=True, slots=True)
class WrittenPicture:
    """A picture and what is framed on it."""

    file: Path
    page: int
    """0-based."""
    tables: tuple[Table, ...]
    fact: Fact | None

    @property
    def sentence(self) -> str:
        """For people."""
        many = f"{len(self.tables)} table{'' if len(self.tables) == 1 else 's'}"
        said = f"{self.file}: page {self.page + 1}, {many} framed in blue"
        return f"{said}; in red {noted(self.fact)}" if self.fact is not None else said


def write_pictures(
    record: FilingRecord, file: Path, pages: Sequence[Page], tables: Sequence[Table], fact: Fact | None, dpi: int
) -> list[WrittenPicture]:
    """Draw `pages` with their tables and the fact framed; several pages become FILE-1.png, FILE-2.png and so on.

    Raises WriteError, ReadError.
    """
    numbers = [page.number for page in pages]
    files = [file] if len(numbers) == 1 else [file.with_stem(f"{file.stem}-{at}") for at in range(1, len(numbers) + 1)]
    pictures = [
        WrittenPicture(
            target,
            number,
            tuple(table for table in tables if table.page == number),
            fact if fact is not None and fact.page == number else None,
        )
        for target, number in zip(files, numbers, strict=True)
    ]
    wanted = [FramedPage(picture.page, tuple(_frames(picture))) for picture in pictures]
    for picture, drawn in zip(pictures, draw_pages(Path(record.source), record.content_hash, wanted, dpi), strict=True):
        write_whole(picture.file, drawn)
    return pictures


def noted(fact: Fact) -> str:
    """`Total revenues, FY2022: 66,608,000,000 USD`."""
    return f"{one_line(fact.label, _LONGEST_LABEL)}, {period_of_fact(fact)}: {value_words(fact)}"


def _frames(picture: WrittenPicture) -> list[Frame]:
    frames = [Frame(table.box, Ink.TABLE) for table in picture.tables]
    if picture.fact is not None:
        frames.append(Frame(picture.fact.box, Ink.FACT, noted(picture.fact)))
    return frames
