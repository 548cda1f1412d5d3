"""Inline XBRL files as the truth, read by XPath and independently of the reader, so that one checks the other."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path

from lxml import etree

from fin_agent.errors import ReadError
from fin_agent.filings.reader import doc_id_of


@dataclass(frozen=True, slots=True)
class TrueTag:
    """A visible `ix:nonFraction`."""

    number: int
    """Index among all numeric tags of the file, hidden ones included."""
    concept: str
    """With its prefix: `us-gaap:Assets`."""
    value: Decimal
    """Exact; 0 where nil."""
    nil: bool
    """Whether no number is stated."""
    start: date | None
    end: date
    members: tuple[tuple[str, str], ...]
    unit: str
    """`USD`, `USD per share`, `shares`; other units as the file names them."""
    step: Decimal
    """The value of the last accurate digit: a million in statements in millions; 0 if exact."""
    table: int | None
    """Index of its table in the file; None in running text."""
    row: str
    """The first words of its row as printed, without footnote marks; empty outside tables."""
    row_number: int
    """Index of the row in the file."""

    @property
    def name(self) -> str:
        """The concept without its prefix."""
        return self.concept.rpartition(":")[2]


@dataclass(frozen=True, slots=True, eq=False)
class TaggedFiling:
    """A report with the period on its cover."""

    doc_id: str
    form: str
    fiscal_year: int
    """As the filer names it."""
    quarter: int | None
    """None for a report of a full year."""
    end: date
    """Last day of the reported period."""
    tags: tuple[TrueTag, ...]
    """Tags that state a number."""
    words: Mapping[int, tuple[str, ...]]
    """Table -> the texts of its cells without tags, without footnote marks."""


def visible_tags(path: Path) -> list[TrueTag]:
    """Return every visible `ix:nonFraction` of an inline XBRL file (also gzipped), in order. Raises ReadError."""
    root = inline_xbrl(path)
    return list(_visible(root, _Tables(root)))


def read_tagged(path: Path) -> TaggedFiling | None:
    """Read an inline XBRL file (also gzipped); None if it has no tags, or tags no form, year and period.

    Raises ReadError.
    """
    if _IX.encode() not in _content(path):
        return None
    root = inline_xbrl(path)
    cover = {
        str(element.get("name")).removeprefix("dei:"): element
        for element in root.iter(f"{{{_IX}}}nonNumeric")
        if str(element.get("name")) in _COVER
    }
    period = _reported(root, cover)
    if period is None:
        return None
    tables = _Tables(root)
    tags = tuple(tag for tag in _visible(root, tables) if not tag.nil)
    return TaggedFiling(doc_id_of(path), *period, tags, tables.words)


def values_agree(value: Decimal, step: Decimal, other: Decimal, other_step: Decimal) -> bool:
    """Return whether two values are equal, or one, accurate to a larger step, is the other one rounded."""
    rounded = max(step, other_step) / 2 if step != other_step else Decimal(0)
    return abs(value - other) <= rounded


def tagged_files(folder: Path) -> tuple[Path, ...]:
    """Return the HTML files of `folder`, also gzipped, by name."""
    return tuple(sorted(path for path in folder.iterdir() if _HTML.search(path.name)))


_IX = "http://www.xbrl.org/2013/inlineXBRL"
_XBRLI = "{http://www.xbrl.org/2003/instance}"
_MEMBERS = ("{http://xbrl.org/2006/xbrldi}explicitMember", "{http://xbrl.org/2006/xbrldi}typedMember")
_HIDDEN = "ancestor::ix:header | ancestor::*[contains(translate(@style, ' ', ''), 'display:none')]"
_ZEROS = ("zero", "dash", "nocontent", "empty")
_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"


def _content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def inline_xbrl(path: Path) -> etree._Element:
    """Parse an inline XBRL file, also gzipped. Raises ReadError if it is not well-formed."""
    try:
        return etree.fromstring(_content(path), etree.XMLParser(huge_tree=True, resolve_entities=False))
    except etree.XMLSyntaxError as error:
        raise ReadError(
            f"it is not well-formed inline XBRL ({error})",
            subject=path.name,
            remedy="Use the file as filed, or remove it from the folder",
        ) from error


def _visible(root: etree._Element, tables: _Tables) -> Iterator[TrueTag]:
    contexts = {str(element.get("id")): element for element in root.iter(f"{_XBRLI}context")}
    units = {str(unit.get("id")): _unit(unit) for unit in root.iter(f"{_XBRLI}unit")}
    for number, element in enumerate(numeric_tags(root)):
        context = contexts.get(str(element.get("contextRef")))
        start, end = (None, None) if context is None else _period(context)
        hidden = etree.QName(element).localname != "nonFraction" or element.xpath(_HIDDEN, namespaces={"ix": _IX})
        if hidden or context is None or end is None:
            continue
        value = _value(element)
        members = ((str(each.get("dimension")), "".join(each.itertext()).strip()) for each in context.iter(*_MEMBERS))
        yield TrueTag(
            number,
            str(element.get("name")),
            value or Decimal(0),
            value is None,
            start,
            end,
            tuple(sorted(members)),
            units.get(str(element.get("unitRef")), ""),
            _step(str(element.get("decimals") or "")),
            *tables.place(element),
        )


def numeric_tags(root: etree._Element) -> list[etree._Element]:
    """Return every numeric tag of a file in order, hidden ones included."""
    return list(root.xpath("//ix:nonFraction | //ix:fraction", namespaces={"ix": _IX}))


def _value(element: etree._Element) -> Decimal | None:
    if element.get(_NIL) == "true":
        return None
    shape = str(element.get("format") or "").rpartition(":")[2]
    if any(zero in shape for zero in _ZEROS):
        return Decimal(0)
    text = "".join(element.itertext()).replace("\u00a0", "").replace(",", "").replace(" ", "").strip()
    try:
        value = Decimal(_NUMBER_WORDS.get(text.lower(), text))
    except InvalidOperation:
        return None
    value = value.scaleb(int(element.get("scale") or 0))
    return -value if element.get("sign") == "-" else value


_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_COUNTED.split())} | {"no": "0", "none": "0"}


def _period(context: etree._Element) -> tuple[date | None, date | None]:
    start, end, instant = (_day(context.find(f".//{_XBRLI}{name}")) for name in ("startDate", "endDate", "instant"))
    return (start, end) if instant is None else (None, instant)


def _day(element: etree._Element | None) -> date | None:
    if element is None or not element.text:
        return None
    text = element.text.strip()
    day = date.fromisoformat(text[:10])
    return day - timedelta(days=1) if "T00:00:00" in text else day


_HTML = re.compile(r"\.x?html?(\.gz)?$", re.IGNORECASE)
_FORM, _YEAR, _PERIOD = "DocumentType", "DocumentFiscalYearFocus", "DocumentFiscalPeriodFocus"
_COVER = frozenset(f"dei:{name}" for name in (_FORM, _YEAR, _PERIOD))
_MARKS = str.maketrans("", "", "\u00ae\u2122\u2120")
"""Registered and trade marks, which people leave out."""
_FOOTNOTE = re.compile(r"\s*(?:\(\w{1,2}\)|[*†‡])+\s*$")


def _reported(root: etree._Element, cover: Mapping[str, etree._Element]) -> tuple[str, int, int | None, date] | None:
    """Return form, fiscal year, quarter and last day, as the cover tags them."""
    if len(cover) < len(_COVER):
        return None
    form, year, focus = (_text(cover[name]) for name in (_FORM, _YEAR, _PERIOD))
    contexts = root.xpath("//*[local-name()='context'][@id=$id]", id=str(cover[_FORM].get("contextRef")))
    ends = [element.text for context in contexts for element in context.iter(f"{_XBRLI}endDate") if element.text]
    quarter = re.fullmatch(r"Q([1-3])", focus)
    if not ends or not year.isdigit() or not (quarter or focus == "FY"):
        return None
    return form, int(year), int(quarter[1]) if quarter else None, date.fromisoformat(ends[0].strip()[:10])


class _Tables:
    """The tables of a file: the table and row of a tag, and the words of each table."""

    def __init__(self, root: etree._Element) -> None:
        self._numbers = {table: number for number, table in enumerate(root.iter("{*}table"))}
        self._rows = {row: number for number, row in enumerate(root.iter("{*}tr"))}
        self.words = {number: tuple(dict.fromkeys(_words_of(table))) for table, number in self._numbers.items()}

    def place(self, element: etree._Element) -> tuple[int | None, str, int]:
        """Return table, first words of the row, and number of the row, of a tag."""
        row, table = (next(element.iterancestors(name), None) for name in ("{*}tr", "{*}table"))
        if row is None or table is None:
            return None, "", -1
        return self._numbers[table], next(_words_of(row), ""), self._rows[row]


def _words_of(element: etree._Element) -> Iterator[str]:
    for cell in element.iter("{*}td", "{*}th"):
        if next(cell.iter(f"{{{_IX}}}nonFraction"), None) is None:
            text = _FOOTNOTE.sub("", _text(cell)).rstrip(":").strip()
            if any(letter.isalpha() for letter in text):
                yield text


def _unit(unit: etree._Element) -> str:
    joined = "/".join((measure.text or "").strip().rpartition(":")[2] for measure in unit.iter(f"{_XBRLI}measure"))
    return "USD per share" if joined == "USD/shares" else joined


def _step(decimals: str) -> Decimal:
    try:
        return Decimal(1).scaleb(-int(decimals))
    except ValueError:
        return Decimal(0)


def _text(element: etree._Element) -> str:
    return " ".join(" ".join(element.itertext()).translate(_MARKS).split())
