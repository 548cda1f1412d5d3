"""Read the tags of an inline XBRL file: contexts, units, names, printed text, and duplicates."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice

from lxml import etree

from fin_agent.filings.xbrl.transformations import (
    NOT_A_NUMBER,
    UNKNOWN_FORMAT,
    NumericValue,
    attribute,
    is_nil,
    is_number_format,
    local_name,
    printed_name,
    read_number,
    read_value,
    transform_text,
    transformation_name,
)
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.filing import ReadWarning


@dataclass(frozen=True, slots=True)
class Context:
    """The content of an `xbrli:context`; contexts with equal content are equal, whatever their ids."""

    entity: str
    """The identifier as printed: the CIK with its leading zeros."""
    end: date | None
    """Last day of the period, or day of the instant; None for `forever` and where no valid day is stated."""
    start: date | None = None
    """First day of a duration; None for an instant."""
    members: tuple[tuple[str, str], ...] = ()
    """(axis, member) pairs, sorted. The value of a typed member is the text in the file: `2024-09-29`."""


def read_context(element: etree._Element) -> Context:
    """Return the content of an `xbrli:context`. Missing or invalid parts are not errors."""
    entity = ""
    start = end = None
    members: list[tuple[str, str]] = []
    for part in element.iter():
        name = local_name(part)
        if name == "identifier":
            entity = _content(part)
        elif name == "startdate":
            start = read_day(_content(part))
        elif name in ("enddate", "instant"):
            end = read_day(_content(part), closing=True)
        elif name in ("explicitmember", "typedmember"):
            members.append(((attribute(part, "dimension") or "").strip(), _content(part)))
        elif name in ("segment", "scenario"):
            members += [
                (printed_name(child), _content(child))
                for child in part
                if isinstance(child.tag, str) and local_name(child) not in ("explicitmember", "typedmember")
            ]
    return Context(entity, end, start, tuple(sorted(members)))


def read_day(printed: str, closing: bool = False) -> date | None:
    """Return the day of `2024-09-28` or `2024-09-28T00:00:00`; None for other text.

    A `closing` moment at midnight ends the day before (XBRL 2.1, 4.7.2); one at 24:00 ends its own day.
    """
    if (match := _DAY.match(printed)) is None:
        return None
    try:
        day = date.fromisoformat(match["day"])
    except ValueError:
        return None
    try:
        if closing and match["time"] and _MIDNIGHT.match(match["time"]):
            return day - timedelta(days=1)
        if not closing and match["time"] and match["time"].startswith("24:00"):
            return day + timedelta(days=1)
    except OverflowError:
        return None
    return day


_DAY = re.compile(r"^\s*(?P<day>\d{4}-\d\d-\d\d)(?:T(?P<time>\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(?:Z|[+-]\d\d:\d\d)?\s*$")
_MIDNIGHT = re.compile(r"00:00(?::00(?:\.0+)?)?$")


def _content(element: etree._Element) -> str:
    if not len(element):
        return (element.text or "").strip()
    return " ".join("".join(element.itertext()).split())


def read_unit(element: etree._Element) -> str:
    """Return the unit in an `xbrli:unit`: `USD`, `shares`, `USD/shares`, `pure`, `acme:barrel`; empty if it has none.

    Prefixes of the common registries are removed; a filer's own prefix is kept, because only the filer defines it.
    Measures that are multiplied are joined by `*`.
    """
    above: list[str] = []
    below: list[str] = []
    side = above
    for part in element.iter():
        name = local_name(part)
        if name == "unitnumerator":
            side = above
        elif name == "unitdenominator":
            side = below
        elif name == "measure" and (printed := (part.text or "").strip()):
            side.append(_measure(part, printed))
    if not above:
        return ""
    return "*".join(sorted(above)) + ("/" + "*".join(sorted(below)) if below else "")


_PREFIXES = frozenset({"iso4217", "xbrli", "utr"})
_NAMESPACES = frozenset(
    {"http://www.xbrl.org/2003/iso4217", "http://www.xbrl.org/2003/instance", "http://www.xbrl.org/2009/utr"}
)


def _measure(element: etree._Element, printed: str) -> str:
    prefix, _, name = printed.rpartition(":")
    if not prefix or prefix in _PREFIXES or element.nsmap.get(prefix) in _NAMESPACES:
        return name
    return printed


DUPLICATE = "duplicate"
CONFLICT = "conflict"


def duplicate_flags(tags: Sequence[Tag], contexts: Sequence[Context | None]) -> dict[int, str]:
    """Return the positions of tags that repeat another, with `duplicate` or `conflict` for each.

    Two tags state the same fact if concept, unit and the content of their contexts are equal. They agree if their
    values are equal at the accuracy of the less accurate one (`consistent duplicates`). Of tags that agree, all but the
    first are duplicates; otherwise all are in conflict. Of texts, only equal ones are flagged, because a policy may be
    described in several places. Tags without a known context or a valid value are left out.
    """
    stated: dict[tuple[str, Context, str], list[int]] = {}
    for position, (tag, context) in enumerate(zip(tags, contexts, strict=True)):
        if context is not None and tag.concept and (tag.nil or tag.value is not None or not tag.numeric):
            stated.setdefault((tag.concept, context, tag.unit), []).append(position)
    flags: dict[int, str] = {}
    for positions in stated.values():
        if len(positions) == 1:
            continue
        copies = [tags[position] for position in positions]
        if not all(tag.numeric for tag in copies):
            flags.update(_repeated_texts(positions, copies))
        elif _agree(copies):
            flags.update(dict.fromkeys(positions[1:], DUPLICATE))
        else:
            flags.update(dict.fromkeys(positions, CONFLICT))
    return flags


def _repeated_texts(positions: Sequence[int], copies: Sequence[Tag]) -> dict[int, str]:
    seen: set[tuple[bool, str]] = set()
    flags: dict[int, str] = {}
    for position, tag in zip(positions, copies, strict=True):
        if (tag.nil, tag.text) in seen:
            flags[position] = DUPLICATE
        seen.add((tag.nil, tag.text))
    return flags


def _agree(copies: Sequence[Tag]) -> bool:
    if any(tag.nil for tag in copies):
        return all(tag.nil for tag in copies)
    surest = min(copies, key=lambda tag: -_EXACT if tag.decimals is None else -tag.decimals)
    return all(
        tag.value is not None and surest.value is not None and abs(tag.value - surest.value) <= _tolerance(tag)
        for tag in copies
    )


def _tolerance(tag: Tag) -> Decimal:
    """Return half of the last significant digit."""
    return Decimal(0) if tag.decimals is None else Decimal(5).scaleb(-tag.decimals - 1)


_EXACT = 10_000


MAX_TEXT = 20_000
"""Most characters of text stored per tag; the rest is replaced by an ellipsis. Whole notes may be tagged as one text,
which the pages already contain."""


class PrintedText:
    """The text of the elements of one document; each part of the tree is traversed once, however tags are nested.

    Words of adjacent cells, paragraphs and lines are separated by spaces; runs of spaces are collapsed.
    """

    def __init__(self, continuations: Iterable[etree._Element]) -> None:
        """`continuations` are the document's `ix:continuation` elements; if several have one id, the first counts."""
        self.missing: dict[str, None] = {}
        """Ids of continuations that tags name and the document does not hold."""
        self.endless: dict[str, None] = {}
        """Ids at which a chain of continuations comes back to itself, or is longer than 1,000 parts."""
        self._continuations: dict[str, etree._Element] = {}
        for element in continuations:
            self._continuations.setdefault((element.get("id") or "").strip(), element)
        self._pieces: list[str] = []
        self._spans: dict[etree._Element, tuple[int, int]] = {}
        self._gaps: list[tuple[int, int]] = []

    def of(self, element: etree._Element) -> str:
        """Return the text of a tag and its continuations, at most `MAX_TEXT` characters."""
        if not len(element) and attribute(element, "continuedAt") is None:
            return _shortened(" ".join((element.text or "").split()))
        parts = [self._own(element)]
        length = len(parts[0])
        seen: set[str] = set()
        while (following := attribute(element, "continuedAt")) is not None and length <= MAX_TEXT:
            following = following.strip()
            if following in seen or len(seen) > _MAX_PARTS:
                self.endless.setdefault(following)
                break
            seen.add(following)
            if following not in self._continuations:
                self.missing.setdefault(following)
                break
            element = self._continuations[following]
            parts.append(self._own(element))
            length += len(parts[-1])
        return _shortened(" ".join(part for part in parts if part))

    def _own(self, element: etree._Element) -> str:
        if element not in self._spans:
            self._walk(element)
        first, last = self._spans[element]
        inside = self._gaps[bisect_right(self._gaps, (first, last)) : bisect_left(self._gaps, (last, last))]
        kept: list[str] = []
        length = 0
        for start, end in _between(first, last, inside):
            kept.append("".join(self._pieces[start:end]))
            length += len(kept[-1])
            if length > _ENOUGH:
                break
        return " ".join("".join(kept).split())

    def _walk(self, container: etree._Element) -> None:
        """Record the text of `container`, and where each tag, exclusion and hidden element begins and ends in it."""
        pieces = self._pieces
        starts: dict[etree._Element, int] = {}
        for event, element in etree.iterwalk(container, events=("start", "end", "comment", "pi")):
            tag = element.tag
            name = local_name(element)
            apart = not name and isinstance(tag, str) and tag.rpartition("}")[2] not in _INLINE
            if event == "start":
                if name in _OF_INTEREST or element is container or _is_hidden(element.get("style")):
                    starts[element] = len(pieces)
                    pieces.append("")
                if apart:
                    pieces.append(" ")
                if element.text and tag not in _SILENT:
                    pieces.append(element.text)
                continue
            if element in starts:
                span = (starts[element], len(pieces))
                if name in _TEXTS or element is container:
                    self._spans[element] = span
                if name == "exclude" or (element is not container and _is_hidden(element.get("style"))):
                    insort(self._gaps, span)
            if element is container:
                break
            if apart:
                pieces.append(" ")
            if element.tail:
                pieces.append(element.tail)


_ENOUGH = 4 * MAX_TEXT
"""Limit of raw text, which contains runs of spaces."""
_AT_ONCE = 2_000
_MAX_PARTS = 1_000
_TEXTS = frozenset({"nonnumeric", "continuation", "nonfraction"})
_OF_INTEREST = _TEXTS | {"exclude"}
_XHTML = "http://www.w3.org/1999/xhtml"
_INLINE = {
    "a",
    "abbr",
    "b",
    "big",
    "cite",
    "code",
    "em",
    "font",
    "i",
    "ins",
    "mark",
    "q",
    "s",
    "small",
    "span",
    "strong",
} | {"sub", "sup", "tt", "u"}
_SILENT = frozenset({"script", "style", f"{{{_XHTML}}}script", f"{{{_XHTML}}}style"})
_HIDDEN = re.compile(r"display\s*:\s*none", re.I)


def _is_hidden(style: str | None) -> bool:
    return style is not None and "none" in style and _HIDDEN.search(style) is not None


def _between(first: int, last: int, gaps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the range `first` to `last` without `gaps`, which are sorted and may be nested, in short spans."""
    left: list[tuple[int, int]] = []
    for start, end in gaps:
        if start > first:
            left.append((first, start))
        first = max(first, end)
    left.append((first, last))
    return [(at, min(at + _AT_ONCE, end)) for start, end in left for at in range(start, end, _AT_ONCE)]


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1].rstrip() + "…"


UNKNOWN_CONTEXT = "unknown context"
UNKNOWN_UNIT = "unknown unit"


@dataclass(frozen=True, slots=True)
class TaggedDocument:
    """The tags of one document."""

    tags: tuple[Tag, ...] = ()
    """In document order, including nested and hidden ones; without pages or boxes yet."""
    elements: tuple[etree._Element, ...] = ()
    """The element of each tag, in the same order as `tags`."""
    warnings: tuple[ReadWarning, ...] = ()
    """Defects of the tags, at most one warning per kind."""


def read_tags(root: etree._Element) -> TaggedDocument:
    """Return every `ix:nonFraction` and `ix:nonNumeric` below `root`; there may be none.

    `root` may come from an XML or an HTML parser. Defects of a tag are not errors; they are in its flags and summarized
    in the warnings. Text is truncated to `MAX_TEXT` characters.

    >>> root = etree.fromstring('''<p xmlns:ix="http://www.xbrl.org/2013/inlineXBRL">
    ...     (<ix:nonFraction name="us-gaap:Assets" sign="-" scale="6">1,234.5</ix:nonFraction>)</p>''')
    >>> read_tags(root).tags[0].value
    Decimal('-1234500000')
    """
    document = _Document(root)
    contexts = [document.context_of(element) for element in document.elements]
    tags = [document.tag(element, context) for element, context in zip(document.elements, contexts, strict=True)]
    for position, flag in duplicate_flags(tags, contexts).items():
        tags[position] = replace(tags[position], flags=(*tags[position].flags, flag))
    return TaggedDocument(tuple(tags), tuple(document.elements), tuple(_warnings(tags, document)))


class _Document:
    """The parts of a document that tags refer to, collected in one pass."""

    def __init__(self, root: etree._Element) -> None:
        self.elements: list[etree._Element] = []
        self.contexts: dict[str, Context] = {}
        self.units: dict[str, str] = {}
        self.defined_twice: dict[str, None] = {}
        """Ids of contexts and units that are defined again as something else; the first definition counts."""
        continuations: list[etree._Element] = []
        for element in root.iter():
            name = local_name(element)
            if not name:
                continue
            if name in _TAGS:
                self.elements.append(element)
            elif name == "context":
                context = read_context(element)
                if self.contexts.setdefault(_id(element), context) != context:
                    self.defined_twice.setdefault(_id(element))
            elif name == "unit":
                unit = read_unit(element)
                if self.units.setdefault(_id(element), unit) != unit:
                    self.defined_twice.setdefault(_id(element))
            elif name == "continuation":
                continuations.append(element)
        self.printed = PrintedText(continuations)

    def context_of(self, element: etree._Element) -> Context | None:
        return self.contexts.get((attribute(element, "contextRef") or "").strip())

    def tag(self, element: etree._Element, context: Context | None) -> Tag:
        numeric = local_name(element) != "nonnumeric"
        nil = is_nil(element)
        flags = [] if context is not None else [UNKNOWN_CONTEXT]
        unit = ""
        if numeric:
            unit = self.units.get((attribute(element, "unitRef") or "").strip(), "")
            if not unit:
                flags.append(UNKNOWN_UNIT)
        text = self.printed.of(element)
        stated = NumericValue(None)
        if numeric and not nil:
            stated = read_value(element, text)
            flags += [stated.flag] if stated.flag else []
        elif not nil and (printed_format := attribute(element, "format")):
            transformed = _text_stated(text, transformation_name(printed_format))
            if transformed is None:
                flags.append(UNKNOWN_FORMAT)
            else:
                text = transformed
        return Tag(
            concept=(element.get("name") or "").strip(),
            value=stated.amount,
            text=text,
            context=(attribute(element, "contextRef") or "").strip(),
            end=context.end if context else None,
            start=context.start if context else None,
            members=context.members if context else (),
            unit=unit,
            decimals=stated.decimals,
            nil=nil,
            numeric=numeric,
            flags=tuple(flags),
        )


_TAGS = frozenset({"nonfraction", "nonnumeric"})
_EXAMPLES = 3


def _id(element: etree._Element) -> str:
    return (element.get("id") or "").strip()


def _text_stated(text: str, transformation: str) -> str | None:
    if is_number_format(transformation) and (number := read_number(text, transformation)) is not None:
        return str(number)
    return transform_text(text, transformation)


def _warnings(tags: Iterable[Tag], document: _Document) -> Iterable[ReadWarning]:
    places: dict[str, dict[str, None]] = {flag: {} for flag in _ODDITIES}
    counts: Counter[str] = Counter()
    for tag in tags:
        for flag in (*tag.flags, *(() if tag.concept else (_NO_CONCEPT,))):
            if flag in places:
                counts[flag] += 1
                places[flag].setdefault(tag.context if flag == UNKNOWN_CONTEXT else tag.concept)
    for flag, (oddity, meaning) in _ODDITIES.items():
        if counts[flag]:
            number = "1 tag" if counts[flag] == 1 else f"{counts[flag]} tags"
            yield ReadWarning(f"{oddity} {number} ({_some(places[flag])}): {meaning}")
    if document.defined_twice:
        yield ReadWarning(
            f"contexts or units are defined twice under one id ({_some(document.defined_twice)}): the first counts"
        )
    for ids, oddity in (
        (document.printed.missing, "texts go on in parts that the file does not hold"),
        (document.printed.endless, "texts go on in a circle, or in more than 1,000 parts"),
    ):
        if ids:
            yield ReadWarning(f"{oddity} ({_some(ids)}): what was found of them is kept")


_NO_CONCEPT = "no concept"
_ODDITIES = {
    UNKNOWN_CONTEXT: ("contexts that the file does not define, named by", "their periods are not known"),
    UNKNOWN_UNIT: ("units that the file does not define, named by", "what they count is not known"),
    UNKNOWN_FORMAT: ("formats that could not be applied, in", "texts are kept as printed, numbers have no value"),
    NOT_A_NUMBER: ("prints that are no numbers, in", "no values are taken from them"),
    CONFLICT: ("facts stated with values that differ, by", "compare the pages that print them"),
    _NO_CONCEPT: ("names of concepts missing, in", "what they mean is not known"),
}
"""The beginning of a warning about tags with a flag, and its consequence for the reader."""


def _some(names: Iterable[str]) -> str:
    listed = [name or "none" for name in names]
    return ", ".join(islice(listed, _EXAMPLES)) + (", ..." if len(listed) > _EXAMPLES else "")
