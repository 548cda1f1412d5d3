"""Yes or no, which period, how many years: what a question's claim comes to once its figures are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from fin_agent.evidence.intent import Claim, Comparison, Intent


@dataclass(frozen=True, slots=True)
class Listed:
    """One figure of an answer."""

    name: str
    value: float
    text: str
    """The value as people write it."""
    number: float = 0.0
    """The program's own result, before it was put into a unit."""


_Entry = TypeVar("_Entry")


def yes_or_no(claim: Claim | None, value: float, scale: float) -> str:
    """`Yes: `, `No: `, or nothing where the question claims nothing of one figure; base units are `value * scale`."""
    if claim is None or claim.bound is None:
        return ""
    against = value * scale - claim.bound
    return _verdict(against > 0 if claim.above else against < 0)


def first_stands_out(intent: Intent, best: str) -> str:
    """`Yes: ` or `No: ` where a company was claimed to stand out; `best` is the name of the one that does."""
    if intent.claim is None or intent.claim.bound is not None or not intent.companies:
        return ""
    return _verdict(best == intent.companies[0].name)


def extreme_of(
    comparison: Comparison, entries: Sequence[_Entry], value: Callable[[_Entry], float], *, losses: bool
) -> _Entry:
    """The one that stands out; of losses the highest is the one furthest below zero."""
    highest = (comparison is Comparison.HIGHEST) is not losses
    return max(entries, key=value) if highest else min(entries, key=value)


def without_losses(intent: Intent, values: Sequence[float]) -> str:
    """What hinders a comparison of losses: that there is none, or for a trend that one of both is a profit."""
    below = sum(value < 0 for value in values)
    if intent.comparison in (Comparison.HIGHEST, Comparison.LOWEST):
        return "" if below else "None of these is below zero:"
    return "" if below == len(values) else f"{'Not all' if below else 'None'} of these are below zero:"


def best_period(
    comparison: Comparison, subject: str, listed: Sequence[Listed], *, losses: bool = False
) -> tuple[Listed, str]:
    """The period that stands out, and the sentence that says so; `subject` is the measure and its company."""
    ranked = [one for one in listed if not losses or one.value < 0]
    best = extreme_of(comparison, ranked, lambda one: one.value, losses=losses)
    others = "; ".join(f"{one.name}: {one.text}" for one in listed if one is not best)
    level = [one.name for one in listed if one.value == best.value]
    degree = comparison.value
    if losses:
        degree = {Comparison.HIGHEST: "largest", Comparison.LOWEST: "smallest"}[comparison]
    elif len(listed) == 2:
        degree = {Comparison.HIGHEST: "higher", Comparison.LOWEST: "lower"}[comparison]
    if len(level) > 1:
        return best, f"No period stands out: {subject} was {best.text} in {' and '.join(level)} ({others})."
    return best, f"{best.name}: {best.text} ({others}). {subject[:1].upper()}{subject[1:]} was {degree} in {best.name}."


def every_year(core: str, subject: str, listed: Sequence[Listed], *, losses: bool = False) -> str:
    """`Yes: revenue of Acme rose every year (FY2020: ...)`."""
    moved = moves(core, listed, losses=losses)
    against = [one.name for one, held in zip(listed[1:], moved, strict=True) if not held]
    figures = "; ".join(f"{one.name}: {one.text}" for one in listed)
    way = "rise" if asked_to_rise(core) else "fall"
    if against:
        return f"No: {subject} did not {way} in {' and '.join(against)} ({figures})."
    return f"Yes: {subject} {'rose' if way == 'rise' else 'fell'} every year ({figures})."


def years_counted(intent: Intent, subject: str, listed: Sequence[Listed], scale: float) -> tuple[int, str]:
    """In how many years it lay beyond the question's bound, else moved as asked, and the sentence."""
    core, claim = intent.core, intent.claim
    moved = moves(core, listed, losses=intent.losses)
    figures = "; ".join(f"{one.name}: {one.text}" for one in listed)
    way = "rose" if asked_to_rise(core) else "fell"
    if claim is not None and claim.bound is not None:
        held = [yes_or_no(claim, one.number, scale) == _verdict(True) for one in listed]
        beyond = "above" if claim.above else "below"
        where = f"{subject} was {beyond} that in {_named(listed, held)} ({figures})"
        return sum(held), f"In {sum(held)} of {len(held)} years: {where}."
    found = sum(moved)
    return found, f"In {found} of {len(moved)} years: {subject} {way} in {_named(listed[1:], moved)} ({figures})."


def moves(core: str, listed: Sequence[Listed], *, losses: bool = False) -> list[bool]:
    """Whether each figure but the first moved as asked against the one before it."""
    rising = not loss_asked_to_grow(core) if losses else asked_to_rise(core)
    return [after.value > before.value if rising else after.value < before.value for before, after in pairwise(listed)]


def asked_to_rise(core: str) -> bool:
    """Whether the question speaks of a rise; else of a fall."""
    return _FALLING.search(core) is None


def loss_asked_to_grow(core: str) -> bool:
    """Whether the question speaks of a loss that grew: one that worsens does, one that improves shrinks."""
    if _WORSENING.search(core):
        return True
    return asked_to_rise(core) and _IMPROVING.search(core) is None


_WORSENING = re.compile(r"worsen|deteriorat|deepen", re.I)
_IMPROVING = re.compile(r"\bimprov|\bsmaller\b|\bless\b|\bbetter\b", re.I)


def _named(listed: Sequence[Listed], held: Sequence[bool]) -> str:
    return ", ".join(one.name for one, true in zip(listed, held, strict=True) if true) or "none of them"


def _verdict(holds: bool) -> str:
    return "Yes: " if holds else "No: "


_FALLING = re.compile(
    r"declin|decreas|fall|fell|drop|reduc|shr[iau]nk|worsen|deteriorat|lower|contract(?!s\b)|narrow| down|slow"
    r"|decelerat|weaken|moderat|cool",
    re.I,
)
