"""Read the tags of an inline XBRL file: contexts, units, names, printed text, and duplicates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Context as DecimalContext
from decimal import Decimal
from functools import lru_cache
from typing import Any

from lxml import etree

from fin_agent.lexicon.words import load_yaml, patterns, word_lists
from fin_agent.vocabulary.dates import month_number
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.filing import ReadWarning
from fin_agent.vocabulary.runs import grouped

_PATTERNS = patterns("html_patterns")


@dataclass(frozen=True, slots=True)
class Context:
    """The content of an `xbrli:context`; contexts with equal content are equal, whatever their ids."""

    end: date | None
    """Last day of the period, or day of the instant; None for `forever` and where no valid day is stated."""
    start: date | None = None
    """First day of a duration; None for an instant."""
    members: tuple[tuple[str, str], ...] = ()
    """(axis, member) pairs, sorted. The value of a typed member is the text in the file: `2024-09-29`."""


def read_context(element: etree._Element) -> Context:
    """Return the content of an `xbrli:context`. Missing or invalid parts are not errors."""
    start = end = None
    members: list[tuple[str, str]] = []
    for part in element.iter():
        match local_name(part):
            case "startdate":
                start = read_day(_content(part))
            case "enddate" | "instant":
                end = read_day(_content(part), closing=True)
            case "explicitmember" | "typedmember":
                members.append(((attribute(part, "dimension") or "").strip(), _content(part)))
            case "segment" | "scenario":  # what stands in it without an axis sets the context apart as well
                members += [
                    (f"{child.prefix or ''}:{str(child.tag).rpartition('}')[2]}".lstrip(":"), _content(child))
                    for child in part.iterchildren(etree.Element)
                    if local_name(child) not in ("explicitmember", "typedmember")
                ]
    return Context(end, start, tuple(sorted(members)))


def read_day(printed: str, closing: bool = False) -> date | None:
    """Return the day of `2024-09-28`, also with a time after it; None for other text.

    A `closing` moment at midnight ends the day before (XBRL 2.1, 4.7.2); at 24:00 a day begins after that named.
    """
    day, time = printed.strip()[:10], printed.strip()[10:]
    moved = -closing if time.startswith("T00:00") else int(time.startswith("T24:00") and not closing)
    try:
        return date.fromisoformat(day) + timedelta(days=moved)
    except (ValueError, OverflowError):
        return None


def _content(element: etree._Element) -> str:
    return " ".join("".join(element.itertext()).split())


def read_unit(element: etree._Element) -> str:
    """Return the unit in an `xbrli:unit`: `USD`, `shares`, `USD/shares`, `pure`, `acme:barrel`; empty if it has none.

    Only prefixes of the common registries are removed. Measures that are multiplied are joined by `*`.
    """
    above: list[str] = []
    below: list[str] = []
    side = above
    for part in element.iter():
        name = local_name(part)
        if name == "unitdenominator":
            side = below
        elif name == "measure" and (printed := _content(part)):
            prefix, _, measured = printed.rpartition(":")
            side.append(measured if prefix in _PREFIXES else printed)
    return "*".join(sorted(above)) + ("/" + "*".join(sorted(below)) if below else "")


_PREFIXES = frozenset({"", "iso4217", "xbrli", "utr"})


DUPLICATE = "duplicate"
CONFLICT = "conflict"


def duplicate_flags(tags: Sequence[Tag]) -> dict[int, str]:
    """Return the positions of tags that repeat another, with `duplicate` or `conflict` for each.

    Two tags state the same fact if concept, unit and the content of their contexts are equal. They agree if their
    values are equal at the accuracy of the less accurate one: all but the first are then duplicates. Of texts, only
    equal ones are flagged, because a policy may be described in several places.
    """
    stated = grouped(
        ((tag.concept, tag.end, tag.start, tag.members, tag.unit), position)
        for position, tag in enumerate(tags)
        if tag.concept and UNKNOWN_CONTEXT not in tag.flags and (tag.nil or tag.value is not None or not tag.numeric)
    )
    flags: dict[int, str] = {}
    for positions in stated.values():
        copies = [tags[position] for position in positions]
        if not all(tag.numeric for tag in copies):
            texts = [(tag.nil, tag.text) for tag in copies]
            first = dict(zip(reversed(texts), reversed(positions), strict=True))
            repeated = (position for position, text in zip(positions, texts, strict=True) if first[text] != position)
            flags.update(dict.fromkeys(repeated, DUPLICATE))
        elif _agree(copies):
            flags.update(dict.fromkeys(positions[1:], DUPLICATE))
        else:
            flags.update(dict.fromkeys(positions, CONFLICT))
    return flags


def _agree(copies: Sequence[Tag]) -> bool:
    if any(tag.nil for tag in copies):
        return all(tag.nil for tag in copies)
    surest = min(copies, key=lambda tag: -_EXACT if tag.decimals is None else -tag.decimals)
    return all(
        # Half of the last significant digit is tolerated.
        tag.value is not None
        and surest.value is not None
        and abs(tag.value - surest.value) <= (0 if tag.decimals is None else Decimal(5).scaleb(-tag.decimals - 1))
        for tag in copies
    )


_EXACT = 10_000


MAX_TEXT = 20_000
"""Most characters of text stored per tag; the rest is replaced by an ellipsis. Whole notes may be tagged as one text,
which the pages already contain."""


def _text_of(container: etree._Element) -> str:
    """Return the text of one element without what is hidden or excluded in it, separated by single spaces."""
    if not len(container):
        return " ".join((container.text or "").split())
    pieces: list[str] = []
    length = 0
    walk = etree.iterwalk(container, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        tag = element.tag
        apart = isinstance(tag, str) and tag.rpartition("}")[2] not in _INLINE and not local_name(element)
        if event == "start":
            if element is not container and (
                local_name(element) == "exclude" or _PATTERNS["hidden"].search(element.get("style") or "")
            ):
                walk.skip_subtree()
            elif tag not in _SILENT:
                pieces += (" " if apart else "", element.text or "")
                length += len(pieces[-1])
        elif element is not container:
            pieces += (" " if apart else "", element.tail or "")
            length += len(pieces[-1])
        if length > _ENOUGH:
            break
    return " ".join("".join(pieces).split())


_ENOUGH = 4 * MAX_TEXT
"""Limit of raw text, which contains runs of spaces."""
_XHTML = "{http://www.w3.org/1999/xhtml}"
_INLINE = word_lists("html_elements")["inline"]
_SILENT = frozenset({"script", "style", f"{_XHTML}script", f"{_XHTML}style"})


UNKNOWN_CONTEXT = "unknown context"
UNKNOWN_FORMAT = "unknown format"
NOT_A_NUMBER = "not a number"
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
    tags = list(map(document.tag, document.elements))
    for position, flag in duplicate_flags(tags).items():
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
        self.broken: dict[str, None] = {}
        """Ids of continuations that the document lacks, or that go in a circle: what was found is kept."""
        self._continuations: dict[str, etree._Element] = {}
        for element in root.iter():
            name = local_name(element)
            if name in _TAGS:
                self.elements.append(element)
            elif name in ("context", "unit"):
                defined: dict[str, Any] = self.contexts if name == "context" else self.units
                content = read_context(element) if name == "context" else read_unit(element)
                if defined.setdefault(_id(element), content) != content:
                    self.defined_twice[_id(element)] = None
            elif name == "continuation":
                self._continuations.setdefault(_id(element), element)

    def _text(self, element: etree._Element) -> str:
        """Return the text of a tag and its continuations, at most `MAX_TEXT` characters."""
        parts = [_text_of(element)]
        seen: set[str] = set()
        while (following := attribute(element, "continuedAt")) is not None and sum(map(len, parts)) <= MAX_TEXT:
            following = following.strip()
            if following in seen or following not in self._continuations:
                self.broken[following] = None
                break
            seen.add(following)
            element = self._continuations[following]
            parts.append(_text_of(element))
        text = " ".join(filter(None, parts))
        return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1].rstrip() + "…"

    def tag(self, element: etree._Element) -> Tag:
        named = (attribute(element, "contextRef") or "").strip()
        context = self.contexts.get(named)
        numeric = local_name(element) != "nonnumeric"
        nil = (element.get(_NIL) or element.get("xsi:nil") or "").strip().lower() in ("true", "1")
        unit = self.units.get((attribute(element, "unitRef") or "").strip(), "") if numeric else ""
        flags = [UNKNOWN_CONTEXT] * (context is None) + [UNKNOWN_UNIT] * (numeric and not unit)
        text, value = self._text(element), None
        transformation = transformation_name(attribute(element, "format") or "")
        of_number = transformation in _READINGS
        if numeric and not nil:
            value = _scaled(element, read_number(text, transformation))
            if transformation and not of_number:
                flags.append(UNKNOWN_FORMAT)
            elif value is None:
                flags.append(NOT_A_NUMBER)
        elif transformation and not nil:
            number = read_number(text, transformation) if of_number else None
            transformed = transform_text(text, transformation) if number is None else str(number)
            flags += [UNKNOWN_FORMAT] * (transformed is None)
            text = text if transformed is None else transformed
        return Tag(
            concept=(element.get("name") or "").strip(),
            value=value,
            text=text,
            context=named,
            end=context.end if context else None,
            start=context.start if context else None,
            members=context.members if context else (),
            unit=unit,
            decimals=None if value is None else _decimals(element, value),
            nil=nil,
            numeric=numeric,
            flags=tuple(flags),
        )


_TAGS = frozenset({"nonfraction", "nonnumeric"})
_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
_EXAMPLES = 3


def _id(element: etree._Element) -> str:
    return (element.get("id") or "").strip()


def _scaled(element: etree._Element, number: Decimal | None) -> Decimal | None:
    scale = _whole(attribute(element, "scale"), 0)
    if number is None or scale is None or abs(scale) > _MAX_SCALE:
        return None
    if scale and number:
        number = number.scaleb(scale, _EXACT_NUMBERS)
        if number == number.to_integral_value():
            number = number.quantize(Decimal(1), context=_EXACT_NUMBERS)
    negative = (attribute(element, "sign") or "").strip() in ("-", "−")
    return -number if negative and number else number


_EXACT_NUMBERS = DecimalContext(prec=400)
_MAX_SCALE = 30
"""Most powers of ten by which a figure may be scaled; a larger scale is a mistake of the filer."""


def _decimals(element: etree._Element, amount: Decimal) -> int | None:
    """Return the decimals as stated, or derived from the older `precision` (significant digits)."""
    decimals = _whole(attribute(element, "decimals"), None)
    if decimals is None and (digits := _whole(attribute(element, "precision"), None)) and amount:
        decimals = digits - amount.adjusted() - 1
    return decimals if decimals is not None and abs(decimals) <= _MOST_DECIMALS else None


_MOST_DECIMALS = 60


def _whole(stated: str | None, absent: int | None) -> int | None:
    """Return the whole number in an attribute; None for `INF` and other text."""
    if stated is None:
        return absent
    try:
        return int(stated) if len(stated) < 10 else None
    except ValueError:
        return None


def _warnings(tags: Sequence[Tag], document: _Document) -> Iterator[ReadWarning]:
    flagged = {flag: [tag for tag in tags if flag in tag.flags] for flag in _MEANINGS}
    flagged["no name"] = [tag for tag in tags if not tag.concept]
    for flag, held in flagged.items():
        if held:
            names = _some(dict.fromkeys(tag.context if flag == UNKNOWN_CONTEXT else tag.concept for tag in held))
            some = f" ({names})" if flag in _MEANINGS else ""
            meaning = _MEANINGS.get(flag, "what they mean is not known")
            yield ReadWarning(f"{flag} in {len(held)} tag{'s' * (len(held) > 1)}{some}: {meaning}")
    if twice := document.defined_twice:
        yield ReadWarning(f"contexts or units are defined twice under one id ({_some(twice)}): the first counts")
    if broken := document.broken:
        oddity = "texts go on in parts that the file does not hold, or in a circle"
        yield ReadWarning(f"{oddity} ({_some(broken)}): what was found of them is kept")


def _some(names: Iterable[str]) -> str:
    listed = [name or "none" for name in names]
    return ", ".join([*listed[:_EXAMPLES], *(["..."] if len(listed) > _EXAMPLES else [])])


_MEANINGS = {
    UNKNOWN_CONTEXT: "their periods are not known",
    UNKNOWN_UNIT: "what they count is not known",
    UNKNOWN_FORMAT: "texts are kept as printed, numbers have no value",
    NOT_A_NUMBER: "no values are taken from them",
    CONFLICT: "values differ; compare the pages that print them",
}
"""The consequence of a flag for the reader."""


def local_name(element: etree._Element) -> str:
    """Return the name of an XBRL element in lower case without namespace or prefix; empty for any other element.

    In XHTML its tag is `{http://www.xbrl.org/2013/inlineXBRL}nonFraction`, in HTML `ix:nonfraction` with any prefix.
    """
    tag = element.tag
    return _local_name(tag) if isinstance(tag, str) else ""


@lru_cache(maxsize=4096)
def _local_name(tag: str) -> str:
    if tag.startswith("{"):
        namespace, _, name = tag.rpartition("}")
        return name.lower() if "xbrl.org/" in namespace else ""
    prefix, _, name = tag.lower().rpartition(":")
    return name if prefix else ""


def attribute(element: etree._Element, name: str) -> str | None:
    """Return the attribute `name` (`contextRef`), which is in lower case if the file was parsed as HTML."""
    found = element.get(name)
    return element.get(name.lower()) if found is None else found


def read_number_words(words: str) -> int | None:
    """Return the number that `words` spell, or None for other text. `no`, `none` and `nil` are zero."""
    tokens = [token for token in _PATTERNS["breaks"].split(words.strip().lower()) if token and token != "and"]
    if not tokens or len(tokens) > _MAX_WORDS:
        return None
    if len(tokens) == 1 and tokens[0] in _NOTHING:
        return 0
    total = group = 0
    for token in tokens:
        if token in _SMALL:
            group += _SMALL[token]
        elif token == "hundred":
            group = (group or 1) * 100
        elif token in _LARGE:
            total += (group or 1) * _LARGE[token]
            group = 0
        else:
            return None
    return total + group


_MAX_WORDS = 40
_NOTHING = frozenset({"no", "none", "nil", "zero", "not"})
_SMALL: dict[str, int] = {**load_yaml("number_words")["cardinals"], "a": 1, "an": 1, "single": 1}
_LARGE = {word: 10 ** (3 * power) for power, word in enumerate(["thousand", "million", "billion", "trillion"], start=1)}


def read_date(printed: str, transformation: str) -> str | None:
    """Return a printed date in ISO form, its parts ordered as the transformation's name says; None if invalid.

    Month names are in English; a two-digit year belongs to this century.
    """
    order = _order(transformation)
    parts = _PATTERNS["printed part of a date"].findall(printed)
    if not order or len(parts) != len(order):
        return None
    known: dict[str, int] = {}
    try:
        for kind, part in zip(order, parts, strict=True):
            known[kind] = month_number(part) if kind == "month" and not part.isdecimal() else int(part)
        year, month, day = known.get("year"), known.get("month", 0), known.get("day")
        if year is not None and year < 100:
            year += 2000
        # A leap year replaces a missing year, so that 29 February is valid.
        date(2000 if year is None else year, month, 1 if day is None else day)
    except (ValueError, OverflowError):
        return None
    if year is None:
        return f"--{month:02d}-{day:02d}"
    return f"{year:04d}-{month:02d}" + ("" if day is None else f"-{day:02d}")


_FORMATS = word_lists("xbrl_formats")
_UNTOLD = {
    **dict.fromkeys(_FORMATS["month first"], ("month", "day", "year")),
    **dict.fromkeys(_FORMATS["day first"], ("day", "month", "year")),
}


def _order(transformation: str) -> tuple[str, ...]:
    if transformation in _UNTOLD:
        return _UNTOLD[transformation]
    match = _PATTERNS["parts of a date"].fullmatch(transformation)
    kinds = tuple(_PATTERNS["part of a date"].findall(match[1])) if match else ()
    return kinds if len(set(kinds)) == len(kinds) and len(kinds) > 1 else ()


@lru_cache(maxsize=65_536)
def read_number(printed: str, transformation: str) -> Decimal | None:
    """Return the number that `printed` shows under a transformation (see `transformation_name`); None if it shows none.

    Without a known transformation, the plain form is tried. Numbers of more than 60 digits are rejected.
    """
    if not printed or len(printed) > _MAX_LENGTH:
        return None
    return _READINGS.get(transformation, _plain)(printed)


_MAX_LENGTH = 400
_MAX_DIGITS = 60
_BETWEEN_DIGITS = r"\s'`´’′"
_DOT = re.compile(rf"[,{_BETWEEN_DIGITS}]+")
_COMMA = re.compile(rf"[.{_BETWEEN_DIGITS}]+")


def _plain(printed: str) -> Decimal | None:
    if (match := _PATTERNS["plain number"].fullmatch(printed)) is None:
        return None
    if (number := _of_digits(match[2].replace(",", ""))) is not None and match[3]:
        number = number.scaleb(int(match[3]))
    return -number if number is not None and match[1] in ("-", "−") else number


def _of_digits(digits: str) -> Decimal | None:
    """Return the exact number; a Decimal made from text is not rounded."""
    return Decimal(digits) if len(digits) <= _MAX_DIGITS and _PATTERNS["digits"].fullmatch(digits) else None


_READINGS: dict[str, Callable[[str], Decimal | None]] = {
    **dict.fromkeys(_FORMATS["dot decimal"], lambda printed: _of_digits(_DOT.sub("", printed))),
    **dict.fromkeys(_FORMATS["comma decimal"], lambda printed: _of_digits(_COMMA.sub("", printed).replace(",", "."))),
    **dict.fromkeys(_FORMATS["zero"], lambda _: Decimal(0)),
    **dict.fromkeys(_FORMATS["no number"], lambda _: None),
    "numwordsen": lambda printed: _plain(printed) if (n := read_number_words(printed)) is None else Decimal(n),
}


@lru_cache(maxsize=1024)
def transformation_name(printed_format: str) -> str:
    """Return `numdotdecimal` for both `ixt:num-dot-decimal` and `ixt2:numdotdecimal`; empty for no format."""
    return printed_format.rpartition(":")[2].strip().lower().replace("-", "")


def transform_text(printed: str, transformation: str) -> str | None:
    """Return the value of a text tag: dates in ISO form, `true` and `false`, names as printed; None if invalid."""
    if transformation in _FIXED:
        return _FIXED[transformation]
    if _order(transformation):
        return read_date(printed, transformation)
    if transformation in _BALLOT_BOXES:
        checked = _BALLOTS.get(printed.strip())
        return None if checked is None else _BALLOT_BOXES[transformation][checked]
    return printed if transformation in _FORMATS["as printed"] else None


_FIXED = {name: value for value in ("true", "false", "", "0") for name in _FORMATS[value]}
_BALLOT_BOXES = {"boolballotbox": ("false", "true"), "yesnoballotbox": ("No", "Yes")}
# Older files use Wingdings and the letter x for boxes.
_BALLOTS = dict.fromkeys("☐□o¨", False) | dict.fromkeys("☑☒✓✔xXþý", True)
