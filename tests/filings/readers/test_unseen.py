"""Text of a PDF that no reader of it sees is not read; white print on a dark ground and the words of a scan are."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from fin_agent.filings.readers.protocol import pdf_reader

SEEN = "Net sales were 3,533 in fiscal 2023, and what stands here is seen by all who read."
PLANTED = "Zephyrine sales fell"


def page_with(folder: Path, ground: tuple[float, float, float] | None = None, seen: str = SEEN, **how: object) -> str:
    """The text that is read of a page on which PLANTED is printed as `how` says, as are its words."""
    with pymupdf.open() as document:
        page = document.new_page()
        if ground is not None:
            page.draw_rect(pymupdf.Rect(40, 180, 400, 220), fill=ground, color=ground)
        page.insert_text((50, 100), seen)
        page.insert_text((50, 200), PLANTED, **how)
        document.save(folder / "page.pdf")
    (read,) = pdf_reader("mupdf").read_pdf(folder / "page.pdf")
    assert (PLANTED in read.text) is ("Zephyrine" in [word.text for word in read.words])
    assert seen in read.text
    return read.text


@pytest.mark.parametrize("how", [{"render_mode": 3}, {"fontsize": 1.0}, {"color": (1, 1, 1)}], ids=str)
def test_what_nobody_sees_is_not_read(tmp_path: Path, how: dict[str, object]) -> None:
    assert page_with(tmp_path, **how) == f"{SEEN}\n"


def test_white_on_a_dark_ground_is_read(tmp_path: Path) -> None:
    assert PLANTED in page_with(tmp_path, (0, 0, 0.4), color=(1, 1, 1))


def test_small_print_is_read(tmp_path: Path) -> None:
    assert PLANTED in page_with(tmp_path, fontsize=4)


def test_what_recognition_found_in_a_scan_is_read(tmp_path: Path) -> None:
    assert PLANTED in page_with(tmp_path, seen="Page 7", render_mode=3)
