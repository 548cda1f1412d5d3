"""Pages are drawn with frames where the figures stand, and not at all from a file that changed."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from fin_agent.errors import ReadError
from fin_agent.filings.html.document import read_html
from fin_agent.filings.page_rendering import (
    Frame,
    FrameColor,
    FramedPage,
    draw_pages,
    render_html_page,
)
from fin_agent.filings.reader import content_hash
from fin_agent.vocabulary.place import Box

HTML = """<html><body><p>Acme Corp. — “Results” ☐</p><table><tr><td>Net sales</td><td>5,123</td></tr>
<tr><td>Cost of sales</td><td>(3,000)</td></tr></table><p>{more}</p></body></html>"""


def drawn(path: Path, *pages: FramedPage, dpi: int = 72) -> list[pymupdf.Pixmap]:
    return [pymupdf.Pixmap(picture) for picture in draw_pages(path, content_hash(path), pages, dpi)]


def near(pixel: tuple[int, ...], ink: FrameColor) -> bool:
    return all(abs(part / 255 - wanted) < 0.2 for part, wanted in zip(pixel, ink.value, strict=True))


@pytest.fixture
def page_of_html(tmp_path: Path) -> Path:
    path = tmp_path / "acme.html"
    path.write_text(HTML.format(more="All of it. " * 300), encoding="utf-8")
    return path


class TestPdf:
    def test_frames_stand_around_their_boxes(self, sample_filings: Path) -> None:
        path = sample_filings / "harborlight_2023_10k.pdf"
        box = Box(100, 200, 300, 250)
        plain, with_frame = drawn(path, FramedPage(8), FramedPage(8, (Frame(box, FrameColor.TABLE),)), dpi=144)
        assert (plain.width, plain.height) == (with_frame.width, with_frame.height) == (1224, 1584)
        for x, y in ((197, 450), (602, 450), (400, 397), (400, 502)):
            assert near(with_frame.pixel(x, y), FrameColor.TABLE), (x, y)
            assert not near(plain.pixel(x, y), FrameColor.TABLE)

    def test_no_such_page(self, sample_filings: Path) -> None:
        with pytest.raises(ReadError, match="no page 900"):
            drawn(sample_filings / "harborlight_2023_10k.pdf", FramedPage(899))


class TestHtml:
    def test_words_are_drawn_where_they_were_read(self, page_of_html: Path) -> None:
        content = read_html(page_of_html).pages[0]
        (pixels,) = drawn(page_of_html, FramedPage(0), dpi=144)
        word = next(word for word in content.words if word.text == "5,123")
        inside = [
            pixels.pixel(x, y)[0]
            for x in range(int(word.x0 * 2), int(word.x1 * 2))
            for y in range(int(word.y0 * 2), int(word.y1 * 2))
        ]
        beside = [
            pixels.pixel(x, y)[0]
            for x in range(int(word.x1 * 2) + 4, int(word.x1 * 2) + 60)
            for y in range(int(word.y0 * 2), int(word.y1 * 2))
        ]
        assert min(inside) < 100 and min(beside) > 250

    def test_frames_and_pages(self, page_of_html: Path) -> None:
        content = read_html(page_of_html).pages[0]
        word = next(word for word in content.words if word.text == "5,123")
        frame = Frame(Box(*word[:4]), FrameColor.FACT)
        (pixels,) = drawn(page_of_html, FramedPage(0, (frame,)))
        assert near(pixels.pixel(int(word.x0 + word.x1) // 2, round(word.y0) - 1), FrameColor.FACT)
        with pytest.raises(ReadError, match="no page 100"):
            drawn(page_of_html, FramedPage(99))

    def test_a_page_grows_to_what_is_framed_on_it(self, page_of_html: Path) -> None:
        (pixels,) = drawn(page_of_html, FramedPage(0, (Frame(Box(40, 40, 900, 60), FrameColor.TABLE),)))
        assert pixels.width > 900


class TestFile:
    def test_gone(self, tmp_path: Path) -> None:
        with pytest.raises(ReadError, match=r"gone.*ingest"):
            draw_pages(tmp_path / "none.pdf", "0" * 64, [FramedPage(0)], 72)

    def test_changed(self, page_of_html: Path) -> None:
        with pytest.raises(ReadError, match=r"changed.*ingest"):
            draw_pages(page_of_html, "0" * 64, [FramedPage(0)], 72)


def test_without_the_library_that_draws(page_of_html: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fin_agent.filings.page_rendering.find_spec", lambda name: None)
    with pytest.raises(ReadError, match=r"HTML pages are drawn with PyMuPDF.*pip install"):
        render_html_page(read_html(page_of_html).pages[0], 72)
