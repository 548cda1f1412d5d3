"""Tokens of a question, the groups of their types, and rules over them as data (`token_rules.yaml`)."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from fin_agent.errors import LexiconError
from fin_agent.lexicon.words import load_yaml


@dataclass(frozen=True, slots=True)
class Token:
    """A token at `start` to `end`; `value` depends on its type."""

    type: str
    text: str
    start: int
    end: int
    value: object = None


def read_yaml(name: str) -> dict[str, Any]:
    """Return the content of a YAML file of this package."""
    return load_yaml(name.removesuffix(".yaml"), __package__)


def types_in(group: str) -> frozenset[str]:
    """Return the token types of a group of `token_rules.yaml`."""
    return _groups()[group]


def rewrite(
    tokens: Sequence[Token], name: str, told: Callable[[int], Collection[str]] = lambda place: ()
) -> list[Token]:
    """Return the tokens as the rules called `name` rewrite them.

    Args:
        tokens: The tokens.
        name: The name of the rules in `token_rules.yaml`.
        told: Returns what `if` and `unless` of the rules may refer to, by the place of a token.
    """
    rules = rules_of(name)
    behind: list[Token | None] = []
    after = None
    for one in reversed(tokens):
        behind.append(after)
        after = one if one.type != "NOISE" else after
    kept: list[Token] = []
    for place, (one, after) in enumerate(zip(tokens, reversed(behind), strict=True)):
        some = rules.get(one.type, rules[""])
        facts = told(place) if some else ()
        then = next((rule.then for rule in some if rule.fits(tokens, place, after, facts)), one.type)
        if then != "drop":
            kept.append(one if then == one.type else replace(one, type=then))
    return kept


@lru_cache(maxsize=1)
def _groups() -> dict[str, frozenset[str]]:
    groups = {"none": frozenset({""})}
    for name, types in read_yaml("token_rules.yaml")["groups"].items():
        groups[name] = frozenset(kind for each in types.split() for kind in groups.get(each, (each,)))
    return groups


def _types_of(types: str) -> frozenset[str]:
    groups, words = _groups(), map(str.upper, read_yaml("words.yaml"))
    known = frozenset({"", *words, *read_yaml("token_rules.yaml")["types"].split()})
    found = frozenset(kind for each in types.removeprefix("!").split() for kind in groups.get(each, (each,)))
    if unknown := found - known:
        raise LexiconError(f"`{min(unknown)}` is not a type or group of tokens", subject=f"token_rules.yaml: {types}")
    return known - found if types.startswith("!") else found


@lru_cache(maxsize=32)
def rules_of(name: str) -> dict[str, list[Rule]]:
    """Return the rules of a name by the type that they are for, those for any other type as that of no name.

    Raises:
        LexiconError: A rule has a condition, a type or a group that there is not.
    """
    rules = [Rule.read(rule) for rule in read_yaml("token_rules.yaml")[name]]
    types = {kind for one in rules for kind in one.types.get("is", ())} | {""}
    return {kind: [one for one in rules if kind in one.types.get("is", (kind,))] for kind in types}


@dataclass(frozen=True)
class Rule:
    """A rule of `token_rules.yaml`."""

    then: str
    types: dict[str, frozenset[str]]
    """By condition."""
    around: tuple[tuple[frozenset[str] | None, re.Pattern[str] | None], ...]
    """The types and words of the token, of the one before and of the one after it; None for any."""
    needed: frozenset[str]
    barred: frozenset[str]
    touches: str

    @classmethod
    def read(cls, rule: dict[str, Any]) -> Rule:
        """Return the rule that is written so. Raises LexiconError."""
        unknown = rule.keys() - _CONDITIONS
        if unknown or "then" not in rule:
            wrong = f"`{min(unknown)}` is no condition" if unknown else "`then` is missing"
            raise LexiconError(wrong, subject=f"token_rules.yaml: {rule}", remedy=f"Known are {', '.join(_CONDITIONS)}")
        types = {key: _types_of(rule[key]) for key in _OF_TYPES if key in rule}
        around = (("is", "text"), ("before", "before text"), ("after", "after text"))
        needed, barred = (
            frozenset([rule[key]] if isinstance(rule.get(key), str) else rule.get(key, ())) for key in ("if", "unless")
        )
        stand = tuple((types.get(kind), _spelled(rule.get(text))) for kind, text in around)
        return cls(rule["then"], types, stand, needed, barred, rule.get("touches", ""))

    def fits(self, tokens: Sequence[Token], place: int, after: Token | None, told: Collection[str]) -> bool:
        """Return whether the rule applies to the token at a place; `after` is the next one that says something."""
        one, before = tokens[place], tokens[place - 1] if place else None
        for (types, text), other in zip(self.around, (one, before, after), strict=True):
            if types is not None and (other.type if other is not None else "") not in types:
                return False
            if text is not None and (other is None or text.match(other.text.lower()) is None):
                return False
        return (
            self.needed.issubset(told)
            and self.barred.isdisjoint(told)
            and ("before" not in self.touches or _touch(before, one))
            and ("after" not in self.touches or _touch(one, after))
            and ("seen" not in self.types or has_any(tokens[:place], self.types["seen"]))
            and ("with" not in self.types or has_any(tokens, self.types["with"]))
            and not has_any(tokens, self.types.get("without", ()))
        )


def has_any(tokens: Iterable[Token], types: Collection[str]) -> bool:
    """Return whether a token is of one of the types."""
    return any(one.type in types for one in tokens)


_OF_TYPES = ("is", "before", "after", "seen", "with", "without")
_CONDITIONS = (*_OF_TYPES, "text", "before text", "after text", "if", "unless", "touches", "then")


def _touch(one: Token | None, other: Token | None) -> bool:
    return one is not None and other is not None and one.start + len(one.text) + 1 == other.start


def _spelled(texts: str | list[str] | None) -> re.Pattern[str] | None:
    if texts is None:
        return None
    return re.compile("|".join(map(fnmatch.translate, [texts] if isinstance(texts, str) else texts)), re.DOTALL)
