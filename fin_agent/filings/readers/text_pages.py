"""Pages of which only the text is known, as other libraries extract it."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.errors import ReadError
from fin_agent.filings.readers.document import MAX_PAGES
from fin_agent.vocabulary.page import PageContent

PAGE_WIDTH, PAGE_HEIGHT = 612.0, 792.0


def text_pages(texts: Sequence[str]) -> list[PageContent]:
    """A page of each text. Raises ReadError where there is no text at all, or far too much.

    The pages have no words with places, so that no table and no figure is read from them: which column a number stands
    in cannot be told from text alone. Even where a library keeps columns apart with blanks, headers and unit lines are
    misplaced so often that of six real filings one figure in six came out wrong.
    """
    if not any(text.strip() for text in texts):
        raise ReadError("no page has text", remedy="Scanned pages need text recognition before they are loaded")
    if len(texts) > MAX_PAGES:
        raise ReadError(f"{len(texts):,} pages are no filing", remedy=f"A filing has at most {MAX_PAGES:,} pages")
    return [PageContent(number, PAGE_WIDTH, PAGE_HEIGHT, text, ()) for number, text in enumerate(texts)]
