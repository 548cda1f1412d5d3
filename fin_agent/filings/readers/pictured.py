"""Pages that are pictures: scanned or pasted in, so that no reader sees what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fin_agent.vocabulary.filing import ReadWarning
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box


def picture_warnings(pages: Iterable[PageContent]) -> Iterator[ReadWarning]:
    """One for each page that shows a picture and hardly a word; the like of a logo is no such picture."""
    return (ReadWarning(_NOTHING_READ, page.number) for page in pages if page.pictured > _LEAST_SHARE)


def says_little(text: str) -> bool:
    """Whether a page has so few letters (a number, a date stamped on it) that a picture may be all it shows."""
    return sum(map(str.isalpha, text)) < _FEWEST_LETTERS


def share_covered(page: Box, pictures: Iterable[Box]) -> float:
    """Share of the page that pictures cover, from 0 to 1: a scan may be made of many strips that overlap."""
    across = [page.x0 + (page.x1 - page.x0) * (place + 0.5) / _PLACES for place in range(_PLACES)]
    down = [page.y0 + (page.y1 - page.y0) * (place + 0.5) / _PLACES for place in range(_PLACES)]
    covered: set[tuple[int, int]] = set()
    for box in pictures:
        columns = [place for place, x in enumerate(across) if box.x0 <= x <= box.x1]
        rows = [place for place, y in enumerate(down) if box.y0 <= y <= box.y1]
        covered.update((column, row) for column in columns for row in rows)
    return len(covered) / _PLACES**2


_NOTHING_READ = (
    "nothing but a picture: what it says is not read. Run text recognition over the file (for example"
    " `ocrmypdf --skip-text in.pdf out.pdf`) and ingest the result"
)
_LEAST_SHARE = 0.25
"""Of the page; logos stay well below, charts reach above a third."""
_FEWEST_LETTERS = 20
_PLACES = 32
"""Places of the page that are looked at, across and down."""
