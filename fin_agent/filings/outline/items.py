"""Which Item of its form each page belongs to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from fin_agent.filings.outline.item_lines import item_lines_on, titled_lines_on
from fin_agent.filings.outline.item_order import in_order
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import ItemStart, PageContent

COVER = "cover"
"""Pages before the first Item: the cover and the table of contents."""


def items_of(pages: Sequence[PageContent], form: Form, statements: Collection[int] = ()) -> list[str | None]:
    """The Item each page belongs to (`1A`, `7`, `5.07`; `cover` before the first), or None for other documents.

    A page on which several Items begin belongs to the one with the most text on it. "Items 1 and 2" are Item 1. Items
    of Part II of a 10-Q are written `II-1`, since Part I numbers its own from 1. Pages of the primary statements
    (`statements`) and the notes after them belong to the Item that the form has for them, wherever they stand: behind
    the exhibits, as filings with F-pages have them, or inside Management's Discussion.
    """
    if form not in _FORMS:
        return [None] * len(pages)
    starts = item_starts(pages, form)
    belongs: list[str | None] = []
    current: str | None = COVER
    position = 0
    for index, page in enumerate(pages):
        spans = [(0, current)]
        while position < len(starts) and starts[position].page == index:
            spans.append((starts[position].offset, starts[position].item))
            position += 1
        ends = [start for start, _ in spans[1:]] + [len(page.text)]
        longest = max(range(len(spans)), key=lambda at: (ends[at] - spans[at][0], at))
        belongs.append(spans[longest][1])
        current = spans[-1][1]
    _claim_statements(belongs, form, statements)
    return belongs


def item_starts(pages: Sequence[PageContent], form: Form) -> list[ItemStart]:
    """Headings of Items in order of place; contents pages, indexes and sentences that cite an Item are none.

    Headings out of the form's order are dropped. An Item whose heading only points elsewhere ("see pages 20 to 45"),
    or that has none, begins where its title stands at the top of a page of its own.
    """
    if form not in _FORMS:
        return []
    lines = [line for index, page in enumerate(pages) for line in item_lines_on(page.text, index, form)]
    if form is Form.EIGHT_K:
        return [ItemStart(line.number, line.page, line.offset) for line in lines]
    starts = [ItemStart(item, line.page, line.offset) for item, line in in_order(lines, form)]
    lengths = _lengths(starts, pages)
    wanted = frozenset(item for item in _LONG[form] if lengths.get(item, 0) < _FEWEST_CHARACTERS)
    if wanted:
        titled = [line for index, page in enumerate(pages) for line in titled_lines_on(page.text, index, form, wanted)]
        known = starts[0].page if starts else len(pages)
        titled = [line for line in titled if line.part is None or line.page < known]
        starts += [ItemStart(line.number, line.page, line.offset) for line in titled]
        starts.sort(key=lambda start: (start.page, start.offset))
    return starts


_FORMS = (Form.TEN_K, Form.TEN_Q, Form.EIGHT_K, Form.ANNUAL_REPORT)
_LONG = {
    Form.TEN_K: ("1", "1A", "7", "7A"),
    Form.ANNUAL_REPORT: ("1", "1A", "7", "7A"),
    Form.TEN_Q: ("2",),
}
"""Items that no filing with figures can tell in a few lines, and whose titles stand nowhere else."""
_FEWEST_CHARACTERS = 3000
_FINANCIAL = {Form.TEN_K: "8", Form.ANNUAL_REPORT: "8", Form.TEN_Q: "1"}


def _lengths(starts: Sequence[ItemStart], pages: Sequence[PageContent]) -> dict[str, int]:
    """Characters of text from the headings of each Item to the next Item's."""
    lengths: dict[str, int] = {}
    for start, after in pairwise([*starts, ItemStart("", len(pages), 0)]):
        if start.page == after.page:
            length = after.offset - start.offset
        else:
            length = len(pages[start.page].text) - start.offset + after.offset
            length += sum(len(page.text) for page in pages[start.page + 1 : after.page])
        lengths[start.item] = lengths.get(start.item, 0) + length
    return lengths


def _claim_statements(belongs: list[str | None], form: Form, statements: Collection[int]) -> None:
    """Gives the statements and what follows them in the same Item to the Item that the form has for them."""
    financial = _FINANCIAL.get(form)
    first = min((page for page in statements if 0 <= page < len(belongs)), default=None)
    if financial is None or first is None:
        return
    inside = belongs[first]
    for page in range(first, len(belongs)):
        if belongs[page] != inside:
            break
        belongs[page] = financial
