"""Inline XBRL files as stated truth: the visible numeric tags with unit, accuracy and the words of their table."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

from lxml import etree

from fin_agent.errors import ReadError
from fin_agent.evaluation.tagged_truth import TrueTag, visible_tags
from fin_agent.filings.reader import doc_id_of


@dataclass(frozen=True, slots=True)
class StatedTag:
    """A visible number with what its tag says."""

    concept: str
    """Without its prefix: `Assets`."""
    taxonomy: str
    """Its prefix: `us-gaap`, or the filer's own."""
    value: Decimal
    start: date | None
    end: date
    members: tuple[tuple[str, str], ...]
    unit: str
    """`USD`, `USD per share`, `shares`; other units as the file names them."""
    step: Decimal
    """The value of the last digit that it is accurate to: a million in statements in millions; 0 where exact."""
    table: int | None
    """Which table of the file it stands in; None in running text."""
    row: str
    """The first words of its row as printed, without footnote marks; empty outside tables."""
    row_number: int
    """Position of the row in the file."""

    def agrees(self, other: StatedTag) -> bool:
        """Whether both can be the same figure, one of them rounded more."""
        return may_be_one(self.value, self.step, other.value, other.step)


@dataclass(frozen=True, slots=True, eq=False)
class TaggedFiling:
    """A report with the period that its cover states."""

    doc_id: str
    form: str
    fiscal_year: int
    """By the filer's own naming."""
    quarter: int | None
    """None for a report of a full year."""
    end: date
    """Last day of the period reported."""
    tags: tuple[StatedTag, ...]
    words: Mapping[int, tuple[str, ...]]
    """The texts of the cells of each table that hold no tag, footnote marks dropped."""


def read_tagged(path: Path) -> TaggedFiling | None:
    """The inline XBRL file at `path` (also gzipped); None without tags, or where no form, year and period are tagged.

    Raises ReadError where it is no well-formed file.
    """
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if _IX.strip("{}").encode() not in content:
        return None
    try:
        root = etree.fromstring(content, etree.XMLParser(huge_tree=True, resolve_entities=False))
        truths = visible_tags(path)
    except etree.XMLSyntaxError as error:
        raise ReadError(
            f"it is no well-formed inline XBRL ({error})",
            subject=path.name,
            remedy="Take the file as it was filed, or leave it out of the folder",
        ) from error
    cover = {
        str(element.get("name")).removeprefix("dei:"): element
        for element in root.iter(f"{_IX}nonNumeric")
        if str(element.get("name")) in _COVER
    }
    period = _reported(root, cover)
    if period is None:
        return None
    form, fiscal_year, quarter, end = period
    tables = _Tables(root)
    return TaggedFiling(
        doc_id_of(path), form, fiscal_year, quarter, end, tuple(_stated(root, truths, tables)), tables.words
    )


def may_be_one(value: Decimal, step: Decimal, other: Decimal, other_step: Decimal) -> bool:
    """Whether two values are equal, or one, accurate to a larger step, is the other rounded."""
    rounded = max(step, other_step) / 2 if step != other_step else Decimal(0)
    return abs(value - other) <= rounded


def tagged_files(folder: Path) -> tuple[Path, ...]:
    """The HTML files of `folder`, also gzipped, by name."""
    return tuple(sorted(path for path in folder.iterdir() if _HTML.search(path.name)))


_IX = "{http://www.xbrl.org/2013/inlineXBRL}"
_XBRLI = "{http://www.xbrl.org/2003/instance}"
_HTML = re.compile(r"\.x?html?(\.gz)?$", re.IGNORECASE)
_FORM, _YEAR, _PERIOD = "DocumentType", "DocumentFiscalYearFocus", "DocumentFiscalPeriodFocus"
_COVER = frozenset(f"dei:{name}" for name in (_FORM, _YEAR, _PERIOD))
_UNITS = {"USD/shares": "USD per share"}
_ON_THEIR_OWN = frozenset({"br", "div", "p", "td", "th", "tr"})
_MARKS = str.maketrans("", "", "\u00ae\u2122\u2120")
"""Registered and trade marks: people leave them out."""
_FOOTNOTE = re.compile(r"\s*(?:\(\w{1,2}\)|[*†‡])+\s*$")


def _reported(root: etree._Element, cover: Mapping[str, etree._Element]) -> tuple[str, int, int | None, date] | None:
    """Form, fiscal year, quarter and last day, as the cover tags them."""
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
    """The tables of a file: which one a tag stands in, how its row begins, and their words."""

    def __init__(self, root: etree._Element) -> None:
        found = [element for element in root.iter() if _name(element) == "table"]
        self._numbers = {table: number for number, table in enumerate(found)}
        rows = (element for element in root.iter() if _name(element) == "tr")
        self._rows = {row: number for number, row in enumerate(rows)}
        self.words = {number: tuple(dict.fromkeys(_words_of(table))) for table, number in self._numbers.items()}

    def place(self, element: etree._Element) -> tuple[int | None, str, int]:
        """Table, first words of the row, and number of the row, of the tag `element`."""
        row = next((above for above in element.iterancestors() if _name(above) == "tr"), None)
        table = next((above for above in element.iterancestors() if _name(above) == "table"), None)
        if row is None or table is None:
            return None, "", -1
        return self._numbers[table], next(_words_of(row), ""), self._rows[row]


def _words_of(element: etree._Element) -> Iterator[str]:
    for cell in element.iter():
        if _name(cell) in ("td", "th") and not any(True for _ in cell.iter(f"{_IX}nonFraction")):
            text = _FOOTNOTE.sub("", _text(cell)).rstrip(":").strip()
            if any(letter.isalpha() for letter in text):
                yield text


def _stated(root: etree._Element, truths: list[TrueTag], tables: _Tables) -> Iterator[StatedTag]:
    elements = root.xpath("//ix:nonFraction | //ix:fraction", namespaces={"ix": _IX.strip("{}")})
    units = {str(unit.get("id")): _unit(unit) for unit in root.iter(f"{_XBRLI}unit")}
    for truth in truths:
        if truth.value is None or truth.end is None:
            continue
        element = elements[truth.number]
        taxonomy, _, concept = truth.concept.rpartition(":")
        table, row, row_number = tables.place(element)
        yield StatedTag(
            concept,
            taxonomy,
            truth.value,
            truth.start,
            truth.end,
            truth.members,
            units.get(str(element.get("unitRef")), ""),
            _step(str(element.get("decimals") or "")),
            table,
            row,
            row_number,
        )


def _unit(unit: etree._Element) -> str:
    measures = [(measure.text or "").strip().rpartition(":")[2] for measure in unit.iter(f"{_XBRLI}measure")]
    joined = "/".join(measures)
    return _UNITS.get(joined, joined)


def _step(decimals: str) -> Decimal:
    try:
        return Decimal(1).scaleb(-int(decimals))
    except ValueError:
        return Decimal(0)


def _text(element: etree._Element) -> str:
    return " ".join("".join(_pieces(element)).replace("\u00a0", " ").translate(_MARKS).split())


def _pieces(element: etree._Element) -> Iterator[str]:
    apart = _name(element) in _ON_THEIR_OWN
    yield " " if apart else ""
    yield element.text or ""
    for child in element:
        yield from _pieces(child)
        yield child.tail or ""
    yield " " if apart else ""


def _name(element: etree._Element) -> str:
    return etree.QName(element).localname.lower() if isinstance(element.tag, str) else ""
