"""Pages as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.tools.errors import ToolInputError
from fin_agent.tools.page_ranges import as_written, pages_in


@pytest.mark.parametrize(
    ("written", "pages"),
    [
        ("12", [11]),
        ("3-5", [2, 3, 4]),
        ("3 – 5, 8", [2, 3, 4, 7]),
        ("8; 3 to 4", [7, 2, 3]),
        ("p. 9", [8]),
        ("pages 9-10", [8, 9]),
        ("2, 2, 1-3", [1, 0, 2]),
    ],
)
def test_numbers_and_ranges(written: str, pages: list[int]) -> None:
    assert pages_in(written) == pages


@pytest.mark.parametrize("written", ["", " , ", "0", "5-3", "nine", "1-", "-3", "1e3", "9" * 7, "1-99999", "3 5"])
def test_what_is_no_range_is_refused(written: str) -> None:
    with pytest.raises(ToolInputError) as refused:
        pages_in(written)
    assert "from 1" in str(refused.value)


def test_pages_behind_the_last_are_left_out_and_none_at_all_is_refused() -> None:
    assert pages_in("16-20", 17) == [15, 16]
    with pytest.raises(ToolInputError, match="the filing has 17 pages"):
        pages_in("18-20", 17)


@given(st.sets(st.integers(0, 500), min_size=1))
def test_what_is_written_is_read(pages: set[int]) -> None:
    assert pages_in(as_written(sorted(pages))) == sorted(pages)
