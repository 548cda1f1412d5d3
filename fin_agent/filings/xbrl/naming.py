"""Names of XBRL elements and attributes, whichever parser read the file."""

from __future__ import annotations

from functools import lru_cache

from lxml import etree


def local_name(element: etree._Element) -> str:
    """Name of an XBRL element in lower case and without its namespace or prefix; empty for any other element.

    An element's tag is `{http://www.xbrl.org/2013/inlineXBRL}nonFraction` where the file is XHTML, and
    `ix:nonfraction` (with any prefix) where it was read as browsers do.
    """
    tag = element.tag
    return _local_name(tag) if isinstance(tag, str) else ""


def attribute(element: etree._Element, name: str) -> str | None:
    """The attribute `name` (`contextRef`), which is in lower case where the file was read as browsers do."""
    found = element.get(name)
    return element.get(name.lower()) if found is None else found


def is_nil(element: etree._Element) -> bool:
    """Whether `xsi:nil` says that the fact has no value."""
    stated = element.get(_NIL)
    if stated is None:
        stated = element.get("xsi:nil")
    return stated is not None and stated.strip().lower() in ("true", "1")


def printed_name(element: etree._Element) -> str:
    """The element's name as it stands in the file, prefix and all: `us-gaap:Cash`."""
    name = str(element.tag).rpartition("}")[2]
    return f"{element.prefix}:{name}" if element.prefix else name


@lru_cache(maxsize=4096)
def _local_name(tag: str) -> str:
    if tag.startswith("{"):
        namespace, _, name = tag[1:].rpartition("}")
        return name.lower() if namespace.startswith(_NAMESPACES) else ""
    prefix, _, name = tag.lower().rpartition(":")
    return name if prefix or name in _UNPREFIXED else ""


_NAMESPACES = (
    "http://www.xbrl.org/2008/inlineXBRL",
    "http://www.xbrl.org/2010/inlineXBRL",
    "http://www.xbrl.org/2013/inlineXBRL",
    "http://www.xbrl.org/2003/instance",
    "http://xbrl.org/2005/xbrldi",
    "http://xbrl.org/2006/xbrldi",
)
_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"

_UNPREFIXED = (
    {"context", "entity", "identifier", "segment", "scenario", "period", "instant", "startdate", "enddate", "forever"}
    | {"explicitmember", "typedmember", "unit", "measure", "divide", "unitnumerator", "unitdenominator"}
    | {"nonfraction", "nonnumeric", "fraction", "numerator", "denominator", "continuation", "exclude"}
)
"""Names that mean something without a prefix: none of them is an element of HTML."""
