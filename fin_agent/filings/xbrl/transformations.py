"""Transformations of inline XBRL: from what a filing prints to what its tag states.

The registries 1 to 5 (`ixt:`) and the SEC's own (`ixt-sec:`), told apart by local name alone: filers choose prefixes
freely, and no name means two things.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import yaml

from fin_agent.filings.xbrl.date_formats import is_date_format, read_date
from fin_agent.filings.xbrl.durations import is_duration_format, read_duration


@lru_cache(maxsize=1024)
def transformation_name(printed_format: str) -> str:
    """`ixt:num-dot-decimal` and `ixt2:numdotdecimal` are both `numdotdecimal`; empty for no format."""
    return printed_format.rpartition(":")[2].strip().lower().replace("-", "")


def transform_text(printed: str, transformation: str) -> str | None:
    """What a text tag states: dates and durations in ISO form, `true` and `false`, codes; None where it is unread.

    `transformation` is named as by `transformation_name`. Names of countries, and others for which no code is known,
    stay as printed.
    """
    if transformation in _FIXED:
        return _FIXED[transformation]
    if is_date_format(transformation):
        return read_date(printed, transformation)
    if is_duration_format(transformation):
        return read_duration(printed, transformation)
    if transformation in _BALLOT_BOXES:
        checked = _BALLOTS.get(printed.strip())
        return None if checked is None else _BALLOT_BOXES[transformation][checked]
    if transformation == "entityfilercategoryen":
        return _FILER_CATEGORIES.get(" ".join(printed.lower().replace("‑", "-").split()), printed)
    if transformation in _CODED:
        name = " ".join(printed.lower().split()).removeprefix("the ")
        return _codes(_CODED[transformation]).get(name, printed)
    return printed if transformation in _AS_PRINTED else None


_FIXED = {
    "fixedtrue": "true",
    "booleantrue": "true",
    "fixedfalse": "false",
    "booleanfalse": "false",
    "fixedempty": "",
    "nocontent": "",
    "fixedzero": "0",
    "zerodash": "0",
}
_BALLOT_BOXES = {"boolballotbox": ("false", "true"), "yesnoballotbox": ("No", "Yes")}
# Wingdings and the letter x stand in for boxes in older files.
_BALLOTS = dict.fromkeys("☐□o¨", False) | dict.fromkeys("☑☒✓✔xXþý", True)
_FILER_CATEGORIES = {
    "large accelerated filer": "Large Accelerated Filer",
    "accelerated filer": "Accelerated Filer",
    "non-accelerated filer": "Non-accelerated Filer",
}
_CODED = {"stateprovnameen": "states", "exchnameen": "exchanges"}
_AS_PRINTED = frozenset({"countrynameen", "edgarprovcountryen"})


@lru_cache(maxsize=4)
def _codes(kind: str) -> dict[str, str]:
    text = resources.files(__package__).joinpath("codes.yaml").read_text(encoding="utf-8")
    return {name.lower(): code for name, code in yaml.safe_load(text)[kind].items()}
