"""Contexts of a tagged filing: whose figure it is, of what time, and of what part of the company."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from lxml import etree

from fin_agent.filings.xbrl.naming import attribute, local_name, printed_name


@dataclass(frozen=True, slots=True)
class Context:
    """What an `xbrli:context` says; two contexts of equal content are equal, whatever their ids."""

    entity: str
    """The identifier as printed: the CIK with its leading zeros."""
    end: date | None
    """Last day of the period, or the instant's day; None for `forever` and where the file states no readable day."""
    start: date | None = None
    """First day of a duration; None for an instant."""
    members: tuple[tuple[str, str], ...] = ()
    """(axis, member) pairs, sorted. A typed member's value is what the file states: `2024-09-29`."""


def read_context(element: etree._Element) -> Context:
    """The content of one `xbrli:context`. Nothing missing or unreadable in it is an error."""
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
    """The day of `2024-09-28` or `2024-09-28T00:00:00`; None where there is none.

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
