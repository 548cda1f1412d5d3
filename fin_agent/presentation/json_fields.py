"""Values of this package in JSON types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any

from pydantic_core import to_jsonable_python

from fin_agent.vocabulary.place import Box


def fields_of(value: object, names: str) -> dict[str, Any]:
    """Return named attributes of a value, in JSON types.

    `name=path.to.attribute` renames an attribute; a name with `?` is null if the value is empty.

    >>> fields_of(3 + 5j, "real rest=imag")
    {'real': 3.0, 'rest': 5.0}
    """
    found = {}
    for name in names.split():
        called, _, path = name.rstrip("?").partition("=")
        held = as_plain(attrgetter(path or called)(value))
        found[called] = held or None if name.endswith("?") else held
    return found


def as_plain(value: object) -> Any:
    """Convert a value to JSON types: decimals to text, dates to ISO format, boxes to tenths of a point."""
    match value:
        case Decimal():
            return f"{value:f}"
        case Box():
            return [round(side, 1) for side in value]
        case Mapping():
            return {str(name): as_plain(held) for name, held in value.items()}
        case tuple() | list() | set() | frozenset():
            return [as_plain(each) for each in value]
    if is_dataclass(value):
        return {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
    return to_jsonable_python(value, fallback=str)
