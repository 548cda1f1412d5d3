"""Units of a tagged filing."""

from __future__ import annotations

from lxml import etree

from fin_agent.filings.xbrl.naming import local_name


def read_unit(element: etree._Element) -> str:
    """What one `xbrli:unit` says: `USD`, `shares`, `USD/shares`, `pure`, `acme:barrel`; empty where it says nothing.

    Prefixes of the common registries are left out; a filer's own stays, since only the filer knows what it means.
    Measures that multiply each other are joined by `*`.
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
