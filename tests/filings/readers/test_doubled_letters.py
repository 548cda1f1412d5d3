"""The second of two overlapping letters is read, as a viewer shows it, and its word stays whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent.filings.readers.protocol import pdf_reader

pypdfium2 = pytest.importorskip("pypdfium2", reason="the reader on pypdfium2 is not tested: `pip install '.[pdfium]'`")

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ADVANCE = 500
F_ADVANCE = 260
F_WIDTH = 300
"""As the font has it; the file places the next letter nearer."""


def lettered(text: str) -> bytes:
    """`text` as a browser prints it: each letter by itself, and an `f` that reaches out to both sides."""
    set_letters, x = [], 50.0
    for letter in text:
        if letter != " ":
            set_letters.append(f"BT /F 10 Tf {x:.2f} 700 Td ({letter}) Tj ET")
        x += (F_ADVANCE if letter == "f" else ADVANCE) / 100
    return "\n".join(set_letters).encode()


def glyph(letter: str) -> bytes:
    """Its advance, how far it reaches, and its black box."""
    advance, left, right = (F_WIDTH, -160, 440) if letter == "f" else (ADVANCE, 20, 480)
    return b"%d 0 %d 0 %d 700 d1 %d 0 %d 700 re f" % (advance, left, right, left, right - left)


def write(path: Path, text: str) -> Path:
    widths = " ".join(str(F_WIDTH if letter == "f" else ADVANCE) for letter in LETTERS)
    names = " ".join(f"/{letter}" for letter in LETTERS)
    procedures = " ".join(f"/{letter} {6 + place} 0 R" for place, letter in enumerate(LETTERS))
    font = (
        f"<</Type/Font/Subtype/Type3/FontBBox[-200 0 500 700]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 97/LastChar 122"
        f"/Widths[{widths}]/Encoding<</Type/Encoding/Differences[97 {names}]>>/CharProcs<<{procedures}>>"
        "/Resources<<>>>>"
    )
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        stream(lettered(text)),
        font.encode(),
        *(stream(glyph(letter)) for letter in LETTERS),
    ]
    body = b"".join(b"%d 0 obj\n%b\nendobj\n" % numbered for numbered in enumerate(objects, 1))
    path.write_bytes(
        b"%PDF-1.7\n" + body + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n0\n%%%%EOF\n" % (len(objects) + 1)
    )
    return path


def stream(content: bytes) -> bytes:
    return b"<</Length %d>>stream\n%b\nendstream" % (len(content), content)


@pytest.mark.parametrize(
    "text",
    [
        "the chief officer of the office took it off the staff list",
        "if effects of differing offers suffice it is efficient",
        "of or if it is of no use we left off there",
    ],
)
def test_words_with_double_letters_are_whole(tmp_path: Path, text: str) -> None:
    page = pdf_reader("pdfium").read_pdf(write(tmp_path / "acme.pdf", text))[0]
    assert [word.text for word in page.words] == text.split()
    assert " ".join(page.text.split()) == text


def test_the_library_still_leaves_them_out(tmp_path: Path) -> None:
    """Where this fails the repair is no longer needed."""
    with pypdfium2.PdfDocument(write(tmp_path / "acme.pdf", "the chief officer took it off")) as document:
        text = document[0].get_textpage().get_text_range()
    assert "officer" not in text
