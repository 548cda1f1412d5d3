"""Formulas that a question states itself: `DPO is defined as: 365 * (average accounts payable ...) / ...`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from fin_agent.errors import LexiconError
from fin_agent.evidence.expressions import parse_formula
from fin_agent.evidence.intent import StatedFormula
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention

_WORD_OPERATORS = r"\b(?:divided by|multiplied by|times|minus|less|plus)\b"
_TOKEN = re.compile(
    rf"\s*(?:(?P<operator>[()*/+×÷]|(?<=[\s)])[-–−](?=\s)|{_WORD_OPERATORS})"
    r"|(?P<number>(?<![\w.])\d+(?:\.\d+)?(?![\w.]))"
    rf"|(?P<words>[^()*/+×÷\s][^()*/+×÷]*?(?=\s[-–−]\s|[()*/+×÷]|{_WORD_OPERATORS}|$)))",
    re.I,
)
_OPERATORS = {"divided by": "/", "multiplied by": "*", "times": "*", "×": "*", "÷": "/", "minus": "-", "less": "-",
              "plus": "+", "–": "-", "−": "-"}  # fmt: skip
_UNREAD = "?"
"""Stands for words that name no metric: harmless in a comment, the end of the formula elsewhere."""
_MOVED = re.compile(r"(?:change|increase|decrease)s?\s+in\s+", re.I)
_MOST_OPERANDS = 300
"""Definitions that name each other twice over would double with each step."""
_YEAR = re.compile(r"\b(?:FY\s*|fiscal(?: year)?\s*)?((?:19|20)\d\d)\b", re.I)


def stated_formulas(definitions: Sequence[tuple[str, str]], lexicon: Lexicon) -> list[StatedFormula]:
    """Formulas that could be read, each with the others' names replaced by their expressions.

    A formula with an operand that is no metric is left out: half a formula would be a wrong one.
    """
    words = {key: formula for name, formula in definitions for key in _keys(name)}
    stated: list[StatedFormula] = []
    for name, formula in definitions:
        expression = _Parser(lexicon, words).parse(formula, frozenset(_keys(name)))
        if expression is not None:
            stated.append(StatedFormula(name=name, expression=expression))
    return stated


def level_of(mention: Mention, lexicon: Lexicon) -> Mention:
    """`increase in inventory` is the balance of inventory, whose change is asked; other mentions as they are.

    Cash flow statements print such changes with the sign of their effect on cash.
    """
    moved = _MOVED.match(mention.phrase)
    if moved is None or not mention.id.startswith("change_in_"):
        return mention
    for level in lexicon.mentions(mention.phrase[moved.end() :]):
        if level.kind == "metric" and lexicon.metrics[level.id].period == "instant":
            start = mention.start + moved.end() + level.start
            return Mention("metric", level.id, start, start + level.end - level.start, level.phrase)
    return mention


def with_inputs(
    expression: str, stated: Sequence[StatedFormula], lexicon: Lexicon
) -> tuple[str | None, frozenset[str]]:
    """`expression` with the inputs that the question defines itself as it defines them, and the names so used.

    The formulas of the lexicon are opened as far as that needs. None where a defined input stands where no formula can:
    as the figure of one certain year.
    """
    given = {name: formula for formula in stated if (name := _defined(formula.name, lexicon))}
    opened, used = _opened(expression, given, lexicon, frozenset())
    if not used or all(_as_usual(name, formula, lexicon) for name, formula in given.items() if formula.name in used):
        return expression, used
    try:
        parse_formula(opened)
    except LexiconError:
        return None, used
    return opened, used


def unused(definitions: Sequence[tuple[str, str]], used: Collection[str]) -> list[str]:
    """Names of definitions that neither the measure nor another definition uses; `used` are the measure's own."""
    named = [name for name, _ in definitions if name]
    keys = {key for name in used for key in _keys(name)}
    texts = [f" {_plain(formula)} " for _, formula in definitions]
    return [
        name
        for name in named
        if not any(key in keys or any(f" {key} " in text for text in texts) for key in _keys(name))
    ]


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^a-z&]+", " ", text.lower()).split())


def _defined(name: str, lexicon: Lexicon) -> str:
    """The id of the metric or formula that `name` is a name of, as a whole; else nothing."""
    plain = _keys(name)[:1]
    return next((one.id for one in lexicon.mentions(name) if [_plain(one.phrase)] == plain), "")


def _as_usual(name: str, formula: StatedFormula, lexicon: Lexicon) -> bool:
    """Whether the question defines it as the lexicon does."""
    known = lexicon.formulas.get(name)
    return known is not None and known.expression.replace(" ", "") == formula.expression.replace(" ", "")


def _opened(
    expression: str, given: Mapping[str, StatedFormula], lexicon: Lexicon, seen: frozenset[str]
) -> tuple[str, frozenset[str]]:
    used: set[str] = set()

    def put(found: re.Match[str]) -> str:
        name = found.group()
        if name in given:
            used.add(given[name].name)
            return f"({given[name].expression})"
        formula = lexicon.formulas.get(name)
        if formula is None or name in seen:
            return name
        inner, more = _opened(formula.expression, given, lexicon, seen | {name})
        used.update(more)
        return f"({inner})" if more else name

    return re.sub(r"[a-z][a-z0-9_]*", put, expression), frozenset(used)


class _Parser:
    def __init__(self, lexicon: Lexicon, words: Mapping[str, str]) -> None:
        self._lexicon = lexicon
        self._words = words
        self._operands_left = _MOST_OPERANDS

    def parse(self, formula: str, open_names: frozenset[str]) -> str | None:
        """The formula as an expression, or None where a part cannot be read."""
        quotient = _OVER.split(formula)
        if len(quotient) == 2:
            above, below = (self.parse(half, open_names) for half in quotient)
            return f"({above}) / ({below})" if above and below else None
        parts: list[str] = []
        for found in _TOKEN.finditer(formula):
            text = found.group().strip()
            if not text:
                continue
            if found.group("operator"):
                parts.append(_OPERATORS.get(text.lower(), text))
            elif found.group("number"):
                parts.append(text)
            elif re.fullmatch(r"[\s.,;:\[\]]*", text):
                continue
            else:
                parts.append(self._operand(text, open_names) or _UNREAD)
        return _balanced(parts)

    def _operand(self, text: str, open_names: frozenset[str]) -> str | None:
        self._operands_left -= 1
        if self._operands_left < 0:
            return None
        for key in _keys(text):
            if key in self._words and key not in open_names:
                inner = self.parse(self._words[key], open_names | {key})
                return f"({inner})" if inner else None
        mentions = self._lexicon.mentions(_YEAR.sub(" ", text))
        if not mentions:
            return None
        if _apart(text, mentions):
            return None
        longest = max(mentions, key=lambda mention: (mention.end - mention.start, -mention.start))
        name = level_of(longest, self._lexicon).id
        years = [int(year) for year in _YEAR.findall(text)]
        if re.search(r"\b(average|avg|mean)\b", text, re.I):
            return f"mean({name}[{years[0]}], {name}[{years[-1]}])" if len(years) > 1 else f"avg({name})"
        if re.search(r"\b(change|increase|decrease|difference)\b", text, re.I):
            first, last = (min(years), max(years)) if len(years) > 1 else (None, None)
            return f"({name}[{last}] - {name}[{first}])" if last else f"change({name})"
        return f"{name}[{years[0]}]" if years else name


_OVER = re.compile(r"\bover\b(?!\s+(?:the\s+)?(?:last|past|years?|period|FY|(?:19|20)\d\d))", re.I)
"""`operating income plus depreciation over revenue`: all that is said before is divided."""


def _apart(text: str, mentions: Sequence[Mention]) -> bool:
    """Whether words other than `and` or `of` stand between two metrics: what is done with them was not understood."""
    between = (text[one.end : other.start] for one, other in pairwise(mentions) if one.id != other.id)
    return any(_TIED.search(words) for words in between)


_TIED = re.compile(r"\b(?:over|per|relative\s+to|as\s+an?|divided|net\s+of|against)\b|/", re.I)


def _keys(name: str) -> list[str]:
    """What a definition may be called: its words without years, and the abbreviation it gives in parentheses."""
    short = re.findall(r"\(([A-Za-z&/]{2,12})\)", name)
    plain = re.sub(r"\([^)]*\)", " ", _YEAR.sub(" ", name))
    keys = [re.sub(r"[^a-z&]+", " ", key.lower()).strip() for key in (plain, *short)]
    return [key for key in keys if key]


def _balanced(parts: list[str]) -> str | None:
    """Join the parts; a parenthesis that only comments on the operand before it is dropped with what it holds."""
    kept: list[str] = []
    depth_of_comment = 0
    depth = 0
    for part in parts:
        if part == "(":
            depth += 1
            if kept and kept[-1] not in ("(", "+", "-", "*", "/") and not depth_of_comment:
                depth_of_comment = depth
        if not depth_of_comment:
            kept.append(part)
        if part == ")":
            if depth == depth_of_comment:
                depth_of_comment = 0
            depth -= 1
    if depth != 0 or _UNREAD in kept:
        return None
    expression = " ".join(kept)
    try:
        parse_formula(expression)
    except LexiconError:
        return None
    return expression
