"""Printed page numbers, told from figures at the edge of a page by the pages beside it."""

from __future__ import annotations

import pytest

from fin_agent.vocabulary.page import Page, printed_number


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        (["Text of a page\n46", "More text\n47", "Still more\n48"], "47"),
        (["F-11\nText", "F-12\nText", "F-13\nText"], "F-12"),
        (["Text\n46 | Acme Corp.", "Text\n47 | Acme Corp.", "Text"], "47"),
        (["Text\nAcme Corp. 2022 Form 10-K 46", "Text\nAcme Corp. 2022 Form 10-K 47", ""], "47"),
        (["Total 120", "Total 815", "Total 64"], None),
        (["2021", "2022", "2023"], None),
        (["", "47", ""], None),
    ],
)
def test_the_number_at_the_edge_of_a_page(edges: list[str], said: str | None) -> None:
    pages = [Page(number, text) for number, text in enumerate(edges)]
    assert printed_number(pages[1], pages) == said
