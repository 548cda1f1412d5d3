from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from lxml import etree

from fin_agent.errors import ReadError
from fin_agent.filings.html import document
from fin_agent.filings.html.document import parse_html

XHTML = '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>Revenue</p></body></html>'


def written(tmp_path: Path, content: bytes | str, name: str = "filing.htm") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def root_of(path: Path) -> etree._Element:
    (root,) = parse_html(path)
    return root


def refused(path: Path) -> ReadError:
    with pytest.raises(ReadError) as raised:
        parse_html(path)
    assert raised.value.remedy
    assert path.name in str(raised.value)
    return raised.value


def test_well_formed_xhtml_keeps_its_namespaces(tmp_path: Path) -> None:
    assert root_of(written(tmp_path, XHTML)).tag == "{http://www.w3.org/1999/xhtml}html"


def test_a_gzipped_file_is_the_file_itself(tmp_path: Path) -> None:
    packed = written(tmp_path, gzip.compress(XHTML.encode()), "filing.htm.gz")
    assert "".join(root_of(packed).itertext()) == "Revenue"
    # Named as packed and not packed, or the other way round: the content decides.
    assert "".join(root_of(written(tmp_path, XHTML, "plain.htm.gz")).itertext()) == "Revenue"
    assert "".join(root_of(written(tmp_path, gzip.compress(XHTML.encode()), "packed.htm")).itertext()) == "Revenue"


@pytest.mark.parametrize(
    "content",
    [
        "<HTML><BODY><P>Net sales &nbsp; rose<P>Costs fell<TABLE><TR><TD>1<TD>2</TABLE></BODY></HTML>",
        "<html><body><p>Caf\u00e9 &amp; unescaped & ampersand</body></html>",
        "<p>a fragment without a root</p>",
    ],
)
def test_html_as_browsers_read_it(tmp_path: Path, content: str) -> None:
    assert root_of(written(tmp_path, content)) is not None


def test_the_main_document_of_a_full_submission(tmp_path: Path) -> None:
    submission = (
        "<SEC-DOCUMENT><DOCUMENT><TYPE>10-K<TEXT><html><body><p>the report</p></body></html></TEXT></DOCUMENT>"
        "<DOCUMENT><TYPE>EX-21<TEXT><html><body><p>an exhibit</p></body></html></TEXT></DOCUMENT>"
    )
    text = "".join(root_of(written(tmp_path, submission)).itertext())
    assert "the report" in text
    assert "an exhibit" not in text


def test_a_release_in_an_exhibit_is_read_with_the_report(tmp_path: Path) -> None:
    submission = "".join(
        f"<DOCUMENT>\n<TYPE>{kind}\n<SEQUENCE>1\n<TEXT>\n{text}\n</TEXT>\n</DOCUMENT>\n"
        for kind, text in (
            ("8-K", "<html><body><p>the report</p></body></html>"),
            ("EX-10.1", "<html><body><p>a contract</p></body></html>"),
            ("EX-99.1", "<html><body><p>the release</p></body></html>"),
            ("GRAPHIC", "begin 644 logo.jpg M_]C_X 02D9)1@"),
            ("EX-99.2", "begin 644 slides.pdf M_]C_X"),
        )
    )
    roots = parse_html(written(tmp_path, submission))
    assert ["".join(root.itertext()).strip() for root in roots] == ["the report", "the release"]


def test_utf_16(tmp_path: Path) -> None:
    content = XHTML.replace("utf-8", "utf-16").replace("Revenue", "Société")
    assert "".join(root_of(written(tmp_path, content.encode("utf-16"))).itertext()) == "Société"


def test_elements_thousands_deep(tmp_path: Path) -> None:
    deep = "<div>" * 5_000 + "text" + "</div>" * 5_000
    assert "nested thousands deep" in refused(written(tmp_path, f"<html><body>{deep}</body></html>")).what
    assert "text" in "".join(
        root_of(written(tmp_path, deep.replace("<div>" * 4_000, "").replace("</div>" * 4_000, ""))).itertext()
    )


def test_the_xbrl_envelope_is_taken_off(tmp_path: Path) -> None:
    wrapped = f"<DOCUMENT><TYPE>10-K<TEXT>\n<XBRL>\n{XHTML}\n</XBRL>\n</TEXT></DOCUMENT>"
    assert root_of(written(tmp_path, wrapped)).tag.endswith("}html")


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "iso-8859-1"])
def test_text_is_decoded_by_what_it_is(tmp_path: Path, encoding: str) -> None:
    content = f"<html><head><meta charset='{encoding}'></head><body><p>Société & Cie</body></html>".encode(encoding)
    assert "Société" in "".join(root_of(written(tmp_path, content)).itertext())


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "nowhere.htm").what


@pytest.mark.parametrize("content", [b"", b"   \n"])
def test_an_empty_file(tmp_path: Path, content: bytes) -> None:
    assert "empty" in refused(written(tmp_path, content)).what


def test_a_file_that_holds_something_else(tmp_path: Path) -> None:
    wrong = refused(written(tmp_path, b"%PDF-1.7 what a name says is not what it is \0", "report.htm.gz"))
    assert "named as HTML" in wrong.what and "rename it to `report.pdf`" in wrong.remedy
    assert "Download" in refused(written(tmp_path, b"GIF89a \0 a picture")).remedy


@pytest.mark.parametrize("damaged", ["<p>1,2\x0034</p>", "<p>\x0034</p>", "<p>Revenue" + "\0" * 512 + "</p>"])
def test_zero_bytes_where_something_is_lost(tmp_path: Path, damaged: str) -> None:
    assert "damaged" in refused(written(tmp_path, f"<html><body>{damaged}</body></html>")).what


@pytest.mark.parametrize(
    "cut",
    [
        "<html><body><table><tr><td>Total assets</td><td>1,2",
        "<html><body><table><tr><td>Total assets</td></tr>",
        "<html><body><p>Total assets were</p><div styl",
        '<html xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><body><p>Total assets were</p>',
    ],
)
def test_a_file_that_was_cut_off(tmp_path: Path, cut: str) -> None:
    assert "cut off" in refused(written(tmp_path, cut)).what


def test_a_whole_file_without_its_end_can_be_given_one(tmp_path: Path) -> None:
    whole = "<html><body><table><tr><td>Total assets</td><td>1,234</td></tr></table><p>the end</p>"
    assert "add `</html>`" in refused(written(tmp_path, whole)).remedy
    assert root_of(written(tmp_path, f"{whole}</html>")) is not None
    assert "add" not in refused(written(tmp_path, f"{whole}<p")).remedy  # that one is not whole


def test_a_packed_file_that_was_cut_off_or_damaged(tmp_path: Path) -> None:
    packed = gzip.compress((XHTML * 50).encode())
    assert "cut off" in refused(written(tmp_path, packed[:-20], "a.htm.gz")).what
    assert "damaged" in refused(written(tmp_path, packed[:30] + b"\xff" * 40 + packed[70:], "b.htm.gz")).what


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 4 * 1024 * 1024)
    bomb = gzip.compress(b"<html>" + b" " * (64 * 1024 * 1024))
    assert len(bomb) < 100_000
    assert "larger than" in refused(written(tmp_path, bomb, "bomb.htm.gz")).what


def test_more_elements_than_any_filing_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_ELEMENTS", 1_000)
    rows = "<tr><td>1</td><td>2</td></tr>" * 500
    assert "1,503 elements" in refused(written(tmp_path, f"<html><body><table>{rows}</table></body></html>")).what


def test_entities_a_file_defines_are_not_expanded(tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    content = f'<!DOCTYPE html [<!ENTITY l0 "ha">{laughs}<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    content += "<html xmlns='http://www.w3.org/1999/xhtml'><body><p>&l11;&x;</p></body></html>"
    text = "".join(part for part in root_of(written(tmp_path, content)).itertext() if isinstance(part, str))
    assert len(text) < 1_000
    assert "root:" not in text
