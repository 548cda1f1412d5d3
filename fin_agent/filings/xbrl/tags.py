"""What the tags of an inline XBRL document state: facts with their concept, value, unit, period and members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from lxml import etree

from fin_agent.filings.xbrl.contexts import Context, read_context
from fin_agent.filings.xbrl.duplicates import CONFLICT, duplicate_flags
from fin_agent.filings.xbrl.naming import attribute, is_nil, local_name
from fin_agent.filings.xbrl.number_formats import is_number_format, read_number
from fin_agent.filings.xbrl.printed_text import PrintedText
from fin_agent.filings.xbrl.transformations import transform_text, transformation_name
from fin_agent.filings.xbrl.units import read_unit
from fin_agent.filings.xbrl.values import (
    NOT_A_NUMBER,
    UNKNOWN_FORMAT,
    NumericValue,
    parts_of_fraction,
    read_fraction,
    read_value,
)
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.filing import ReadWarning

UNKNOWN_CONTEXT = "unknown context"
UNKNOWN_UNIT = "unknown unit"


@dataclass(frozen=True, slots=True)
class TaggedDocument:
    """The tags of one document."""

    tags: tuple[Tag, ...] = ()
    """In document order, nested and hidden ones too; none has a page or box yet."""
    elements: tuple[etree._Element, ...] = ()
    """The element of each tag, parallel to `tags`."""
    warnings: tuple[ReadWarning, ...] = ()
    """What is odd about the tags, at most one for each kind of oddity."""


def read_tags(root: etree._Element) -> TaggedDocument:
    """Every `ix:nonFraction`, `ix:fraction` and `ix:nonNumeric` below `root`; a document without any has no tags.

    `root` may have been read as XML or as browsers read HTML. Nothing in a document is an error: what is wrong with a
    tag is in its flags, and summed up in the warnings. Text is cut at `MAX_TEXT` characters.

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
    """The parts of a document that tags refer to, collected in one pass over it."""

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
            stated = self._value(element, text)
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

    def _value(self, element: etree._Element, text: str) -> NumericValue:
        if local_name(element) == "nonfraction":
            return read_value(element, text)
        parts = parts_of_fraction(element)
        return read_fraction({name: (part, self.printed.of(part)) for name, part in parts.items()})


_TAGS = frozenset({"nonfraction", "fraction", "nonnumeric"})
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
"""How a warning about tags with a flag begins, and what it means for the reader."""


def _some(names: Iterable[str]) -> str:
    listed = [name or "none" for name in names]
    return ", ".join(islice(listed, _EXAMPLES)) + (", ..." if len(listed) > _EXAMPLES else "")
