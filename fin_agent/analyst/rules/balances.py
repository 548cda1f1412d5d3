"""Which balance a turnover or a return is reckoned with: `on closing inventory`, `on beginning assets`, `360 days`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fin_agent.analyst.rules.measures import Measure, without_asides
from fin_agent.lexicon.lexicon import Lexicon


@dataclass(frozen=True, slots=True)
class BalanceAsked:
    """What a question says of the balances and of the year's length in its formula."""

    question: str
    """The question without it."""
    at: str = ""
    """`closing`, `opening` or `average`; nothing where it is not said, `both` where it is said in two ways,
    `otherwise` where a mean of quarters or months is wanted."""
    of: tuple[str, ...] = ()
    """Stems of the balances that are named with it (`inventor`); none where it is said of all."""
    days: int | None = None
    """Days of the year, where they are said."""


def balance_asked(question: str, lexicon: Lexicon) -> BalanceAsked | None:
    """What `question` says of the balances in the formula that it names; None where it says nothing of them."""
    if not _SPEAKS.search(question):
        return None
    text, days, said, of = question, None, [], []
    year = _DAYS.search(text)
    if year is not None:
        days, text = int(year.group(1)), _blank(text, year.start(), year.end())
    for at, pattern in _WORDS:
        while cut := next((cut for found in pattern.finditer(text) if (cut := _cut(text, found, lexicon))), None):
            text, noun = cut
            said.append(at)
            of += [stem for stem in _STEMS if noun and re.search(stem, noun, re.I)]
    if not _names_formula(text, lexicon) or (not said and days is None):
        return None
    itself = _ASKS_BALANCE.match(question)
    if said and itself and itself.end() < min((one.start for one in _formulas(question, lexicon)), default=0):
        said = ["otherwise"]
    at = "" if not said else said[0] if len(set(said)) == 1 else "both"
    return BalanceAsked(text, at, tuple(dict.fromkeys(of)), days)


def on_balances(measure: Measure, asked: BalanceAsked, lexicon: Lexicon) -> Measure | None:
    """The measure with the balances that were asked for; None where its formula cannot be taken so."""
    expression = _opened(measure.expression, lexicon)
    if asked.days is not None and asked.days != _USUAL_DAYS:
        if not _IN_DAYS.search(expression):
            return None
        expression = _IN_DAYS.sub(str(asked.days), expression)
    elif asked.days is not None and not _IN_DAYS.search(expression) and measure.unit != "days":
        return None
    averaged = set(_AVERAGED.findall(expression))
    taken = averaged or (asked.at == "average" and "mean(" in expression)
    if asked.at in ("both", "otherwise") or (asked.at in ("opening", "average") and not taken):
        return None
    for stem in asked.of:
        if averaged and not all(re.search(_IDS[stem], name) for name in averaged):
            return None  # one balance of several, or one that the formula does not have
    if asked.at in ("closing", "opening"):
        expression = _AVERAGED.sub(r"\1" if asked.at == "closing" else r"prior(\1)", expression)
        expression = measure.expression if not averaged and asked.days is None else expression
    elif asked.days is None or asked.days == _USUAL_DAYS:
        expression = measure.expression
    return replace(measure, expression=expression)


def described(words: str, asked: BalanceAsked | None) -> str:
    """The measure's words, and what of it was asked for."""
    if asked is None:
        return words
    said = [f"on {asked.at} balances"] if asked.at in ("closing", "opening") else []
    said += [f"{asked.days} days a year"] if asked.days not in (None, _USUAL_DAYS) else []
    return f"{words} ({', '.join(said)})" if said else words


_USUAL_DAYS = 365
_IN_DAYS = re.compile(r"\b365\b")
_AVERAGED = re.compile(r"\bavg\(([a-z][a-z0-9_]*)\)")
_NAME = re.compile(r"\b[a-z][a-z0-9_]*\b(?!\s*[(\[])")


def _opened(expression: str, lexicon: Lexicon) -> str:
    """The expression with the formulas in it that take a mean or count days written out."""

    def put(found: re.Match[str]) -> str:
        entry = lexicon.formulas.get(found.group())
        inner = _opened(entry.expression, lexicon) if entry else ""
        return f"({inner})" if _AVERAGED.search(inner) or _IN_DAYS.search(inner) else found.group()

    if expression in lexicon.formulas:
        return _opened(lexicon.formulas[expression].expression, lexicon)
    return re.sub(_NAME, put, expression)


_IDS = {
    "inventor": "inventor",
    "receivabl": "receivabl",
    "payabl": "payabl",
    "equity": "equity",
    "asset": "asset",
    "debt": "debt",
    "capital": "capital",
    r"property|pp&e|ppe|plant": "property",
}
_STEMS = tuple(_IDS)
_NOUN = (
    r"(?:(?:total|net|its|the|their|accounts|trade|stockholders['’]?|shareholders['’]?|shareowners['’]?"
    r"|invested|working|fixed)\s+)*"
    r"(?:balances?(?:[- ]sheet(?:\s+(?:figures?|amounts?|values?))?)?"
    r"|inventor(?:y|ies)|receivables?|payables?|equity|assets?|debt|capital|pp&e|ppe"
    r"|property,?\s+plant\s+and\s+equipment|stocks?|figures?|amounts?|values?|levels?)"
)
_PHRASE_NOUN = (
    rf"(?P<noun>{_NOUN}(?:\s+(?:of|in|for)\s+{_NOUN})?(?:\s+(?:balances?|figures?|amounts?|values?|levels?))?)"
)
_BEFORE = (
    r"(?P<before>(?:[,;]\s*)?(?:\b(?:(?:calculated|computed|based|reckoned|measured)\s+)?"
    r"(?:on|with|using|over|from|by|against|and|for)\s+)?(?:an?\s+|the\s+|its\s+|their\s+)?)"
)
_AFTER = r"(?P<after>(?:\s+only)?(?:\s+basis)?(?:\s+(?:in|as)\s+the\s+denominator)?)"
_NOT_AVERAGE = (
    rf"(?:,?\s*(?:\(\s*)?(?:not|instead\s+of|rather\s+than)\s+(?:an?\s+|the\s+)?"
    rf"(?:average[ds]?|averaging|mean)(?:\s+{_NOUN})?)"
)
_END = r"(?:(?:fiscal[- ])?year[- ]?end|(?:close|end)\s+of\s+(?:the\s+)?(?:fiscal\s+)?(?:year|period))\b"
_START = r"(?:beginning|start|opening)\s+of\s+(?:the\s+)?(?:fiscal\s+)?(?:year|period)\b"
_CLOSING = (
    r"(?:closing|ending|end[- ]of[- ](?:the[- ])?(?:fiscal[- ])?(?:year|period)"
    r"|(?:fiscal[- ])?year[- ]?end|period[- ]?end|end[- ]period)"
)
_OPENING = (
    r"(?:opening|beginning|starting|(?:beginning|start)[- ]of[- ](?:the[- ])?(?:fiscal[- ])?(?:year|period)"
    r"|prior[- ]year(?:[- ]end)?)"
)


def _said_of(words: str) -> re.Pattern[str]:
    return re.compile(
        rf"{_BEFORE}(?P<word>(?<![-\w])(?:{words})(?:'s)?[- ]+){_PHRASE_NOUN}{_AFTER}{_NOT_AVERAGE}?(?![\w-])", re.I
    )


_DAYS = re.compile(
    r"(?:[,;]?\s*\(?(?:\b(?:on|with|using|assuming|over|and|in)\s+)?(?:an?\s+)?)"
    r"\b(36[0-6])[- ]days?(?:[- ](?:years?|basis))?(?:\s+basis)?\b",
    re.I,
)
_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "average",
        re.compile(
            rf"{_BEFORE}(?:simple\s+)?(?P<word>(?:average|mean)\s+of\s+(?:the\s+)?(?:{_OPENING}|{_CLOSING})(?:\s+{_NOUN})?\s+and\s+"
            rf"(?:the\s+)?(?:{_CLOSING}|{_OPENING})\s+){_PHRASE_NOUN}{_AFTER}",
            re.I,
        ),
    ),
    (
        "otherwise",
        re.compile(
            r"(?P<before>)(?P<word>\b(?:averag(?:ed?|ing)|mean)\b[^,;?()]*\b(?:quarters?|months?|quarterly|monthly)\b"
            r"|\b(?:\w+[- ]quarters?|quarterly|monthly)\s+averages?\b)(?P<noun>)(?P<after>)",
            re.I,
        ),
    ),
    ("closing", _said_of(_CLOSING)),
    ("opening", _said_of(_OPENING)),
    (
        "closing",
        re.compile(
            rf"(?P<before>[,;(]\s*|\s)(?P<word>(?:not|un)[- ]?averaged|without\s+averaging|no\s+averaging"
            rf"|{_CLOSING}{_NOT_AVERAGE}|(?:not|instead\s+of|rather\s+than)\s+(?:on\s+|using\s+|with\s+)?(?:an?\s+|the\s+)?average[ds]?(?:\s+{_NOUN})?"
            r"|(?:closing|ending)(?=\s*(?:[?.)]|$)))(?P<noun>)(?P<after>)",
            re.I,
        ),
    ),
    *(
        (
            at,
            re.compile(
                rf"{_BEFORE}{_PHRASE_NOUN}\s+(?P<word>(?:at|as\s+(?:of|at)|from|of)\s+(?:the\s+)?{when}){_AFTER}", re.I
            ),
        )
        for at, when in (("closing", _END), ("opening", _START))
    ),
    ("average", _said_of(r"averaged?|avg\.?|mean")),
)
_SPEAKS = re.compile(rf"\b(?:{_CLOSING}|{_OPENING}|averag\w+|unaveraged|avg|mean|36[0-6][- ]days?)\b", re.I)


_ASKS_BALANCE = re.compile(
    rf"\W*(?:what|how\s+(?:much|large|big|high))\s+(?:(?:is|was|were)\s+)?(?:the\s+|its\s+)?(?:averaged?|mean|{_CLOSING}|{_OPENING})\s+{_NOUN}",
    re.I,
)
"""`what was the average inventory in its inventory turnover` asks for the balance and not for the turnover."""


def _cut(text: str, found: re.Match[str], lexicon: Lexicon) -> tuple[str, str] | None:
    """The text without what was found, and what it was said of; None where that is part of a formula's own name.

    `Return on ending equity` keeps its equity.
    """
    noun = found.group("noun")
    start, end = found.span("word")
    if noun and any(
        one.start < found.end("noun") and found.start("noun") < one.end for one in _formulas(text, lexicon)
    ):
        return None
    for after in (end, end + len(text[end:]) - len(_TOTAL.sub("", text[end:], count=1))):
        shortened = f"{text[:start]}{text[after:]}"
        if noun and any(one.start < start < one.end for one in _formulas(shortened, lexicon)):
            return shortened, noun
    return _blank(text, found.start(), found.end()), noun


_TOTAL = re.compile(r"\Atotal\s+", re.I)


def _blank(text: str, start: int, end: int) -> str:
    kept = " ".join(mark for mark in re.findall(r"[()]", text[start:end]))
    return f"{text[:start]} {kept} {text[end:]}"


def _formulas(text: str, lexicon: Lexicon) -> Iterator[_Span]:
    return (_Span(one.start, one.end) for one in lexicon.mentions(text) if one.kind == "formula")


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int


def _names_formula(text: str, lexicon: Lexicon) -> bool:
    return any(one.kind == "formula" for one in lexicon.mentions(without_asides(text)))
