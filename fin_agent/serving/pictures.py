"""Pictures of pages, of bounded size, with boxes and figures framed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.errors import ReadError
from fin_agent.filings.facts.chosen import chosen_facts, names_near
from fin_agent.filings.picture import Frame, FramedPage, Ink, draw_pages, refuse_changed, size_of
from fin_agent.filings.readers.protocol import pdf_reader
from fin_agent.index.protocol import FilingRecord, PageKey
from fin_agent.presentation.filings import period_of_fact, value_words
from fin_agent.presentation.plain import one_line
from fin_agent.serving.problems import NotThereError
from fin_agent.tools.errors import ToolInputError, named
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace

USUAL_DPI = 110
LONGEST_SIDE = 1_600
"""Of a picture, in pixels: what readers of pictures, people and models, make use of."""
MOST_BYTES = 2_000_000
_MOST_TRIES = 5
_FARTHEST = 2_000.0
"""Of a box from the page's corner, in points; sheets of HTML are drawn as large as what is framed on them."""
_LONGEST_LABEL = 60
# MuPDF keeps state that threads share: one page is drawn at a time.
_DRAWING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Picture:
    """A page drawn."""

    png: bytes
    framed: tuple[str, ...] = ()
    """What is framed on it, in words."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, in pixels."""
        return size_of(self.png)


def page_picture(record: FilingRecord, page: int, frames: Sequence[Frame] = (), dpi: int = USUAL_DPI) -> Picture:
    """A page (0-based) with frames, at `dpi` dots an inch, or fewer where the picture would be too large.

    Raises ReadError where the file has gone or is another by now; ToolInputError where a frame is not on the page.
    """
    path = Path(record.source)
    try:
        with _DRAWING:
            refuse_changed(path, record.content_hash)
            if path.suffix.lower() == ".pdf":
                size = pdf_reader().page_size(path, page)
                for frame in frames:
                    _refuse_off_page(page, size, frame.box)
                dpi = max(1, min(dpi, int(LONGEST_SIDE * 72 / max(size))))
            png = _bounded(path, record.content_hash, FramedPage(page, tuple(frames)), dpi)
    except ReadError as error:
        # Where files lie at the server is nobody's business.
        raise ReadError(
            error.what.replace(str(path), path.name),
            subject=record.doc_id,
            remedy="Whoever runs the server ingests the filing again; its text and figures can be read meanwhile",
        ) from error
    return Picture(png, tuple(frame.note for frame in frames if frame.note))


def figure_frames(
    workspace: Workspace, record: FilingRecord, page: int, name: str, fiscal_year: int | None = None
) -> list[Frame]:
    """A frame around the figure of a page (0-based) that `name` means: a metric, a concept or words of its label.

    Raises NotThereError naming what is near.
    """
    facts = [each.fact for each in workspace.index.facts([record.doc_id], pages=[PageKey(record.doc_id, page)])]
    found = chosen_facts(facts, name, fiscal_year, record.identity)
    if not found and (metric := _metric_meant(name, workspace)) is not None:
        found = chosen_facts(facts, metric, fiscal_year, record.identity)
    if not found:
        near = names_near(facts, name)
        year = f" of fiscal {fiscal_year}" if fiscal_year else ""
        raise NotThereError(
            f"page {page + 1} has no figure called {named(name)}{year}",
            subject=record.doc_id,
            remedy=f"Did you mean {' or '.join(map(named, near))}?" if near else "Ask for the page without a figure",
        )
    return [Frame(found[0].box, Ink.FACT, _noted(found[0]))]


def box_frames(boxes: Sequence[Box]) -> list[Frame]:
    """A frame around each box. Raises ToolInputError where one is none."""
    for box in boxes:
        if not all(-_FARTHEST <= side <= _FARTHEST for side in box) or box.x0 >= box.x1 or box.y0 >= box.y1:
            raise ToolInputError(
                f"{','.join(f'{side:g}' for side in box)} is no box on a page",
                remedy="Give left, top, right, bottom in points from the page's top left, as `box` says elsewhere",
            )
    return [Frame(box, Ink.FACT) for box in boxes]


def _refuse_off_page(page: int, size: tuple[float, float], box: Box) -> None:
    width, height = size
    if box.x0 >= width or box.y0 >= height or box.x1 <= 0 or box.y1 <= 0:
        raise ToolInputError(f"the box is not on page {page + 1}", remedy="Give one in points from the page's top left")


def _bounded(path: Path, expected_hash: str, wanted: FramedPage, dpi: int) -> bytes:
    for _ in range(_MOST_TRIES):
        (png,) = draw_pages(path, expected_hash, [wanted], dpi)
        longest = max(size_of(png))
        if (longest <= LONGEST_SIDE and len(png) <= MOST_BYTES) or dpi <= 1:
            break
        dpi = max(1, int(dpi * min(LONGEST_SIDE / longest, 0.9 if longest <= LONGEST_SIDE else 1.0)))
    return png


def _noted(fact: Fact) -> str:
    return f"{one_line(fact.label, _LONGEST_LABEL)}, {period_of_fact(fact)}: {value_words(fact)}"


def _metric_meant(name: str, workspace: Workspace) -> str | None:
    """The metric that the whole of `name` is another name for (`capex`)."""
    metrics = [each.id for each in workspace.lexicon.mentions(name) if each.kind == "metric" and each.phrase == name]
    return metrics[0] if metrics else None
