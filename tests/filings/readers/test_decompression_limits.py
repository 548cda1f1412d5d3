"""Files that are small on disk and vast to read are refused before a PDF library opens them, naming what is vast."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from fin_agent.errors import ReadError
from fin_agent.filings.readers import protocol
from fin_agent.filings.readers.protocol import PdfReader, pdf_reader, require_unpackable

TEXT = b"BT /F 10 Tf 50 700 Td (Total net revenue was 1,234 in fiscal 2023 and more.) Tj ET\n"
FONTS = b"/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"


@pytest.fixture(params=["mupdf", "pdfium"])
def reader(request: pytest.FixtureRequest) -> PdfReader:
    if request.param == "pdfium":
        pytest.importorskip("pypdfium2", reason="the reader on pypdfium2 is not tested: `pip install '.[pdfium]'`")
    return pdf_reader(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "acme.pdf"


def packed(content: bytes, keys: bytes = b"", times: int = 1) -> bytes:
    """A stream object of `content`, `times` over."""
    packer = zlib.compressobj(6)
    body = b"".join([packer.compress(content) for _ in range(times)]) + packer.flush()
    return b"<<%b/Filter/FlateDecode/Length %d>>stream\n%b\nendstream" % (keys, len(body), body)


def form(content: bytes, drawn: int | None = None) -> bytes:
    """A form, and the number of the object that it draws under the name X."""
    target = b"" if drawn is None else b"/XObject<</X %d 0 R>>" % drawn
    return packed(content, b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<<" + FONTS + target + b">>")


def write(
    path: Path, content: bytes, more: Sequence[bytes] = (), pages: int = 1, box: bytes = b"[0 0 600 800]"
) -> Path:
    """A PDF of `pages` pages that share the object `content` (4); `more` objects count from 5, X is the first."""
    kids = b"".join(b"%d 0 R " % (3 if page == 0 else 4 + len(more) + page) for page in range(pages))
    resources = FONTS + (b"/XObject<</X 5 0 R>>" if more else b"")
    page = b"<</Type/Page/Parent 2 0 R/MediaBox%b/Contents 4 0 R/Resources<<%b>>>>" % (box, resources)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, pages),
        page,
        content,
        *more,
        *[page] * (pages - 1),
    ]
    written = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(objects) + 1, len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table)
    written += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    path.write_bytes(written)
    return path


def refusal(reader: PdfReader, path: Path) -> str:
    with pytest.raises(ReadError) as raised:
        reader.read_pdf(path)
    assert raised.value.subject == path.name and raised.value.remedy
    return raised.value.what


def test_ordinary_forms_are_read(reader: PdfReader, path: Path) -> None:
    more = [form(TEXT + b"/X Do", 6), form(TEXT)]
    page = reader.read_pdf(write(path, packed(TEXT + b"/X Do"), more))[0]
    assert page.text.count("Total net revenue") >= 1


@pytest.mark.parametrize(
    "content",
    [
        packed(bytes(2**20), times=20),
        packed(b"BT /F 10 Tf 50 700 Td (A) Tj ET\n" * 2**15, times=20),
        packed(b"(%b) Tj " % (b"A" * 10**6), times=20),
        packed(zlib.compress(bytes(2**25), 9)).replace(b"/FlateDecode", b"[/FlateDecode/FlateDecode]"),
    ],
    ids=["zeros", "operators", "characters", "packed twice"],
)
def test_content_that_unpacks_without_end(reader: PdfReader, path: Path, content: bytes) -> None:
    write(path, content)
    assert path.stat().st_size < 200_000
    assert refusal(reader, path) == "one of its streams unpacks to more than 16 MB; no page of a filing does"


@pytest.mark.parametrize("name", [b"/#46lateDecode", b"/Flate#44ecode", b"/#46#6c#61teDecode"])
def test_names_are_compared_decoded(path: Path, name: bytes) -> None:
    hidden = packed(bytes(2**20), times=20).replace(b"/FlateDecode", name)
    with pytest.raises(ReadError, match="unpacks to more than 16 MB"):
        require_unpackable(write(path, hidden))


def test_pictures_are_not_unpacked(path: Path) -> None:
    require_unpackable(write(path, packed(TEXT), [packed(bytes(2**20), b"/Subtype/Image", times=20)]))


def test_a_broken_stream_is_left_to_the_reader(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(protocol, "MAX_UNPACKED", 100)
    require_unpackable(write(path, packed(TEXT * 9).replace(b"stream\nx", b"stream\n\xff")))


def test_ten_thousand_pages_are_refused_unread(reader: PdfReader, path: Path) -> None:
    write(path, packed(TEXT), pages=10_001)
    assert refusal(reader, path) == "the PDF has 10,001 pages; at most 10,000 are read"


def test_a_page_of_far_too_many_words(reader: PdfReader, path: Path) -> None:
    words = b"".join(
        b"1 0 0 1 %d %d Tm (%d) Tj\n" % (x * 5, y * 3, 10 + y % 90) for x in range(210) for y in range(240)
    )
    write(path, packed(b"BT /F 2 Tf\n" + words + b"ET"), box=b"[0 0 1100 800]")
    what = refusal(reader, path)
    assert what.startswith("page 1 has 50,") and what.endswith(" words; at most 50,000 are read")


def test_a_file_of_far_too_many_characters(reader: PdfReader, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MAX_CHARACTERS", 500)
    write(path, packed(TEXT * 2 + TEXT.replace(b"700", b"600")), pages=20)
    what = refusal(reader, path)
    assert what.startswith("the PDF has more than 500 characters by page ")


@pytest.mark.parametrize("box", [b"[0 0 1000000 1000000]", b"[-1e30 -1e30 1e30 1e30]", b"[0 0 0 0]"])
def test_pages_of_absurd_sizes(reader: PdfReader, path: Path, box: bytes) -> None:
    write(path, packed(TEXT), box=box)
    assert "Total net revenue" in reader.read_pdf(path)[0].text
    if b"000" in box:
        with pytest.raises(ReadError, match="pixels at 72 dpi"):
            reader.render(path, 0, 72)
