"""Reading PDFs: every page with its words and places, or an error that names the file and the next step."""

from __future__ import annotations

import random
from pathlib import Path

import pymupdf
import pytest

from fin_agent.errors import ReadError
from fin_agent.filings.readers import mupdf
from fin_agent.filings.readers.mupdf import read_pdf

TEXT = "Total net revenue was $ 1,234 in fiscal 2023."


def document(*texts: str) -> pymupdf.Document:
    made = pymupdf.open()
    for text in texts:
        page = made.new_page(width=600, height=800)
        if text:
            page.insert_text((50, 100), text)
    return made


def refusal(path: Path) -> ReadError:
    with pytest.raises(ReadError) as raised:
        read_pdf(path)
    assert raised.value.subject == path.name
    assert raised.value.remedy
    assert str(path.parent) not in str(raised.value)
    return raised.value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "acme.pdf"


def test_pages_in_order_with_words_and_places(path: Path) -> None:
    document(TEXT, TEXT.replace("2023", "2022")).save(path)
    pages = read_pdf(path)
    assert [page.number for page in pages] == [0, 1]
    assert (pages[0].width, pages[0].height) == (600, 800)
    assert pages[0].text.strip() == TEXT and "2022" in pages[1].text
    assert [word.text for word in pages[0].words] == TEXT.split()
    first, last = pages[0].words[0], pages[0].words[-1]
    assert first.x0 == pytest.approx(50, abs=1) and first.y0 < 100 < first.y1  # origin at the top left
    assert last.x0 > first.x1 and last.y0 == first.y0


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_words_of_a_turned_page_stand_where_they_are_seen(path: Path, turned: int) -> None:
    """A landscape table is often an upright page that is turned: its words are read along their line."""
    made = pymupdf.open()
    page = made.new_page(width=600, height=800)
    page.set_rotation(turned)
    page.insert_text(pymupdf.Point(100, 300) * page.derotation_matrix, TEXT, rotate=turned)
    made.save(path)
    page_read = read_pdf(path)[0]
    assert (page_read.width, page_read.height) == ((800, 600) if turned in (90, 270) else (600, 800))
    words = page_read.words
    assert words[0].x0 == pytest.approx(100, abs=1) and words[0].y0 < 300 < words[0].y1 + 1
    assert [word.x0 for word in words] == sorted(word.x0 for word in words)
    assert all(word.x0 < word.x1 and word.y0 < word.y1 for word in words)


def test_missing_and_empty(path: Path) -> None:
    with pytest.raises(ReadError, match="no such file"):
        read_pdf(path)
    path.write_bytes(b"")
    assert "empty (0 bytes)" in refusal(path).what


def test_encrypted(path: Path) -> None:
    for method in (pymupdf.PDF_ENCRYPT_AES_256, pymupdf.PDF_ENCRYPT_RC4_128):
        document(TEXT).save(path, encryption=method, user_pw="user", owner_pw="owner")
        error = refusal(path)
        assert "password" in error.what and "qpdf --decrypt" in error.remedy


def test_protected_against_changes_only_is_read(path: Path) -> None:
    """Most filings printed from EDGAR are so: anybody may open them."""
    document(TEXT).save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner", permissions=0)
    assert TEXT in read_pdf(path)[0].text


def test_scanned(path: Path) -> None:
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 80, 80))
    picture.clear_with(128)
    made = document("", "", "p. 3")
    for page in made:
        page.insert_image(page.rect, pixmap=picture)
    made.save(path)
    error = refusal(path)
    assert "3 pages hold almost no text" in error.what and "scanned" in error.what and "ocrmypdf" in error.remedy


def test_no_pages(path: Path) -> None:
    path.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
        b"trailer<</Root 1 0 R>>\n%%EOF"
    )
    assert "no pages" in refusal(path).what


@pytest.mark.parametrize("kids", [b"[3 0 R 9 0 R]/Count 5", b"[3 0 R]/Count 999999999", b"[2 0 R 3 0 R]/Count 2"])
def test_page_tree_that_lies(path: Path, kids: bytes) -> None:
    path.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids" + kids + b">>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    )
    assert "broken" in refusal(path).what


@pytest.mark.parametrize("part", [0.0001, 0.02, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999])
def test_cut_off_anywhere_is_refused_not_read_in_part(sample_filings: Path, path: Path, part: float) -> None:
    whole = (sample_filings / "harborlight_2023_10k.pdf").read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    what = refusal(path).what
    assert any(words in what for words in ("cut off", "broken", "is none")), what


def test_cut_off_before_a_later_change_is_refused(path: Path) -> None:
    """An updated file has an end mark in its middle: the last one counts."""
    document(*[TEXT] * 5).save(path)
    with pymupdf.open(path) as made:
        for line in range(60):
            made[0].insert_text((50, 120 + 10 * line), f"Restated in line {line}, with other figures than before.")
        made.saveIncr()
    whole = path.read_bytes()
    first_end = whole.index(b"%%EOF")
    assert first_end + 4000 < whole.rindex(b"%%EOF")
    path.write_bytes(whole[: first_end + 4000])
    assert "cut off" in refusal(path).what


def test_harmless_faults_are_read_over(path: Path, sample_filings: Path) -> None:
    whole = (sample_filings / "harborlight_2024_8k.pdf").read_bytes()
    before = len(read_pdf(sample_filings / "harborlight_2024_8k.pdf"))
    preceded, followed = b"HTTP/1.1 200 OK\r\n\r\n" + whole, whole + b"\n" * 5000
    for content in (preceded, followed, whole.replace(b"startxref", b"startxxxx")):
        path.write_bytes(content)
        assert len(read_pdf(path)) == before


@pytest.mark.parametrize(
    "content",
    [
        b"<html><body>" + b"<p>Total net revenue was 1,234.</p>" * 50 + b"</body></html>",
        b"Total net revenue was 1,234.\n" * 100,
        b"PK\x03\x04" + bytes(500),
        b"\x89PNG\r\n\x1a\n" + bytes(500),
        bytes(5000),
    ],
)
def test_another_kind_of_file_under_the_name_of_a_pdf(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert "named as a PDF but is none" in refusal(path).what


def test_scrambled_bytes_never_bring_it_down(sample_filings: Path, path: Path) -> None:
    whole = (sample_filings / "tellurond_2024_8k.pdf").read_bytes()
    refused = 0
    for seed in range(25):
        chance = random.Random(seed)
        content = bytearray(whole)
        for _ in range(200):
            content[chance.randrange(20, len(content))] = chance.randrange(256)
        path.write_bytes(bytes(content))
        try:
            read_pdf(path)
        except ReadError as error:
            assert error.subject == "acme.pdf" and error.remedy
            refused += 1
    assert refused


def test_far_too_long(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document(TEXT, TEXT, TEXT).save(path)
    monkeypatch.setattr(mupdf, "MAX_PAGES", 2)
    error = refusal(path)
    assert "3 pages; at most 2" in error.what and "Split" in error.remedy
