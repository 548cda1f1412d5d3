"""What a question asks beside its measure that no program is written for: said, and not passed over in silence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.rules.claims import has_bound
from fin_agent.analyst.rules.definitions import level_of
from fin_agent.analyst.rules.measures import Measure, without_asides
from fin_agent.analyst.rules.narrowing import moves_cash
from fin_agent.analyst.rules.rankings import both_ends
from fin_agent.evidence.intent import Comparison, Relation
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention
from fin_agent.lexicon.metrics import expression_inputs
from fin_agent.lexicon.periods import parse_periods

_CONDITION = re.compile(
    r"\b(before|after|without|excluding|including|net of|if|assuming|adjusted for|trailing|ttm|ltm|year before"
    r"|prior to|preceding|beginning of|start of|median|in dollars of|annuali[sz]ed|targets?|targeted|budget|budgeted"
    r"|planned|goals?|hypothetical(?:ly)?)\b",
    re.I,
)
_A_PART_OR_MULTIPLE = re.compile(
    r"\b(half|(?:an?|one|two|three|four)[- ](?:third|quarter|fourth|fifth|sixth|eighth|tenth)s?"
    r"|\d+(?:\.\d+)?\s*(?:%|percent))\s+(?:of|its|the|what)\b"
    r"|\b(twice|thrice|double[ds]?|doubling|triple[ds]?|tripling|quadruple[ds]?|(?:two|three|four|five|six|ten|\d+)\s+times"
    r"|times\s+(?:two|three|four|five|ten|\d+))\b(?![- ]digit)",
    re.I,
)
_RATE = re.compile(
    r"\b(?:per|for\s+(?:each|every))\s+(?:average\s+|full[- ]time\s+|fiscal\s+)?"
    r"(quarter|month|week|day|hour|minute|stores?|shops?|restaurants?|outlets?|locations?|employees?|workers?|heads?|customers?|users?"
    r"|subscribers?|members?|units?|aircraft|vehicles?|square\s+(?:foot|feet|meter|metre)|capita|barrel|ton|tonne)\b"
    r"|\b(monthly|weekly|daily|hourly|quarterly)\b(?!\s+(?:reports?|filings?|results|information|10-?q|statements?))",
    re.I,
)
_OTHER_MONEY = re.compile(
    r"\b(?:in|to|into|of)\s+(?:(?:units|thousands?|millions?|billions?)\s+(?:of\s+)?)?(?:british\s+|japanese\s+|chinese\s+|mexican\s+)?"
    r"(?P<money>euros?|eur|pounds?|gbp|sterling|yen|jpy|yuan|rmb|renminbi|cny|(?:indian\s+)?rupees?|inr|swiss\s+francs?|chf"
    r"|canadian\s+dollars?|cad|australian\s+dollars?|aud|pesos?|won|kron(?:a|or|er)|bitcoins?)\b|(?P<sign>[€£¥])",
    re.I,
)
_IN_PERCENT = re.compile(r"\b(?:percent|percentage|pct|share|proportion|fraction|portion)\b(?!\s*points?\b)|%", re.I)
_FURTHER = re.compile(r"\b(factor|multiple|ratio|average|mean|sum|percentage|percent|growth|total|times)\b", re.I)
_GROWTHS = re.compile(
    r"\b(?:growth|change|increase)\b.*\b(?:minus|less|plus|versus|vs|against|over|exceed\w*|outpac\w*|times|divided)\b.*"
    r"\b(?:growth|change|increase)\b",
    re.I,
)
_SET_TOGETHER = re.compile(
    r"^\s*(?:growth|change|increase)?\s*,?\s*(?:and|plus|minus|less|versus|vs\.?|or)\s+(?:its\s+|the\s+|their\s+)?$",
    re.I,
)
SPAN_OF_A_YEAR = re.compile(
    r"\b(?:ytd|year[- ]to[- ]date|so far (?:this|in)|half[- ]years?|semi[- ]?annual(?:ly)?"
    r"|(?:first|second|1st|2nd|last|latter)[ -](?:fiscal[ -])?half"
    r"|(?:(?:first|last|past|final|the)\s+)?(?:one|two|four|five|six|seven|eight|nine|ten|eleven|[124-9]|1[01])"
    r"[- ]months?)\b",
    re.I,
)
"""Spans that are neither a year nor a quarter, with or without a year beside them."""
_COORDINATE = re.compile(r"[A-Za-z-]+,? and $")
"""`current and long-term debt`: what stands before the metric goes with it."""
_AND_MORE = re.compile(
    r"\s*,?\s+(?:and|or|&)\s+(?:(?:its|their|the|on)\s+)?(?P<more>[a-z][a-z-]{3,})"
    r"(?=\s+(?:in|for|at|during|over|from|between|rise|fall|grow|increase|decrease|decline)\b|\s*[?.]?\s*$)",
    re.I,
)
"""`revenue and costs`: a word that names no measure stands beside one."""
_NOTHING_MORE = re.compile(
    r"loss(?:es)?|sales|revenues|earnings|changes?|growth|trends?|otherwise|declin\w+|decreas\w+|increas\w+|both|others?|held|paid",
    re.I,
)
_SETTLED_BY_A_RELATION = re.compile(
    r"\b(lowest|highest|minimum|maximum|averages?|mean|difference|minus|less|sum of|combined|together)\b", re.I
)


def beyond(
    core: str,
    bare: str,
    measure: Measure | None,
    relation: Relation,
    comparison: Comparison,
    periods: Sequence[FiscalPeriod],
    companies: int,
    lexicon: Lexicon,
) -> tuple[str, ...]:
    """In words, what of `core` a computed answer would leave out; nothing where it would leave out nothing.

    `bare` is the core with companies and periods blanked.
    """
    if measure is None:
        return ()
    text = without_asides(bare)
    named = (mention for mention in lexicon.mentions(text) if not moves_cash(text, mention))
    mentions = [level_of(mention, lexicon) for mention in named]
    found = [*_parts_of_a_year(core), *_other_measures(text, mentions, measure, lexicon)]
    rest = _UP_TO.sub(" ", _blanked(text, mentions, measure))
    first = min(place for place in (mentions[0].start, text.find(measure.words)) if place >= 0) if mentions else 0
    if _COORDINATE.search(text[:first] if not measure.stated else ""):
        found.append(f"more than {measure.words}: one measure at a time is computed")
    found += _unnamed_beside(text, mentions, measure, lexicon)
    found += [
        f"figures {word.lower()!r} something: that is not computed"
        for word in _CONDITION.findall(rest)
        if not (relation is Relation.ANNUAL_GROWTH and word.lower().startswith("annuali"))
    ]
    found += _of_the_result(bare, rest, measure, relation, comparison, periods, companies)
    if relation is Relation.EACH and len(periods) < 2 and companies < 2 and _AVERAGED.search(rest):
        metric = lexicon.metrics.get(measure.expression)
        if metric is not None and metric.period == "duration" and metric.unit == "USD":
            found.append("the average of a single year's figure")
    if measure.expression == "short_term_investments" and _IN_ALL.search(text):
        found.append("marketable securities in all: only the current ones are looked up")
    several = len(periods) > 1 or companies > 1
    if several and relation is Relation.EACH and comparison is Comparison.NONE:
        found += [
            f"the {word.lower()!r} of several figures: how they go together was not understood"
            for word in _SETTLED_BY_A_RELATION.findall(rest)
        ]
    return tuple(dict.fromkeys(found))


_IN_ALL = re.compile(
    r"\b(?:total|all)\s+(?:of\s+(?:its\s+)?)?(?:marketable\s+securities|investments)\b"
    r"|\b(?:marketable\s+securities|investments),?\s+(?:in\s+)?total\b",
    re.I,
)
_AVERAGED = re.compile(r"\b(?:average|mean)\b", re.I)
_AGAINST_AVERAGE = re.compile(
    r"\b(?:above|below|over|under|than|exceed\w*|beat\w*|to)\s+(?:the\s+|their\s+)?(?:\w+\s+)?(?:average|mean)\b", re.I
)
_UP_TO = re.compile(r"\bup\s+to\s+and\s+including\b", re.I)


_MOVING = re.compile(r"\b(?:growth|grew|grow|grown)\b", re.I)
_EXCEEDS = re.compile(r"\b(?:exceed(?:s|ed)?|surpass(?:es|ed)?)\b", re.I)


def of_the_market(core: str) -> tuple[str, ...]:
    """What is reckoned with the price of a share, which filings do not state."""
    found = _OF_THE_MARKET.search(core)
    if found is None or _ASSUMED.search(core):
        return ()
    return (f"{' '.join(found.group().split())}: it needs a market price, which is in no filing",)


_OF_THE_MARKET = re.compile(
    r"\b(?:(?:fcf|free\s+cash\s*flow|dividend|earnings|shareholder|buyback)[- ]yield"
    r"|enterprise\s+value|ev\s*(?:/|to\s)\s*\w+"
    r"|p\s*/\s*(?:e|b|s|fcf)\b|price[- ](?:to[- ](?:earnings|book|sales|cash)|earnings)\b|peg\s+ratio"
    r"|market\s+cap(?:itali[sz]ation)?)",
    re.I,
)
_ASSUMED = re.compile(
    r"\b(?:expected|assum\w*|options?|black[- ]scholes|fair\s+value|weighted|reporting\s+unit)\b", re.I
)


def in_other_money(question: str) -> tuple[str, ...]:
    """Amounts wanted in a currency that filings do not state them in."""
    found = _OTHER_MONEY.search(question)
    if found is None:
        return ()
    money = found.group("money") or found.group("sign")
    return (f"amounts in {money!r}: figures are given in the currency of the filings",)


def _of_the_result(
    bare: str,
    rest: str,
    measure: Measure,
    relation: Relation,
    comparison: Comparison,
    periods: Sequence[FiscalPeriod],
    companies: int,
) -> list[str]:
    """What is asked of the result: a part of it, a multiple, a rate, a share, a second question."""
    a_bound = measure.unit == "percent" and " as a percentage of " in measure.words and has_bound(rest)
    found = [
        f"{_said(one)} the figure: that is not computed"
        for one in _A_PART_OR_MULTIPLE.finditer(rest)
        if not (a_bound and _PERCENT_OF.fullmatch(one.group()))
    ]
    if not any(period.quarter for period in periods):
        found += [f"figures {_said(one)}: only those of full years are looked up" for one in _RATE.finditer(rest)]
    in_percent = measure.unit != "percent" and _IN_PERCENT.search(rest) is not None
    if comparison is Comparison.DIFFERENCE and in_percent and relation is Relation.EACH:
        found.append("by what percentage one company's figure exceeds another's: that is not computed")
    if comparison in (Comparison.TOTAL, Comparison.AVERAGE) and in_percent:
        found.append(f"a share of several companies' {comparison.value}: that is not computed")
    if companies > 1 and _AGAINST_AVERAGE.search(bare):
        found.append("a figure against the average of several: that is not computed")
    if relation in (Relation.AVERAGE, Relation.TOTAL) and _MOVING.search(rest):
        found.append("the average or sum of several changes: that is not computed")
    if companies < 2 and relation is Relation.EACH and _EXCEEDS.search(rest) and not has_bound(rest):
        found += ["by what one figure exceeds another"] if ") - (" not in measure.expression else []
    if both_ends(rest) and not (relation is Relation.EACH and comparison is Comparison.NONE):
        found.append("the highest and the lowest at once: one of them at a time is looked for")
    if comparison in (Comparison.HIGHEST, Comparison.LOWEST, Comparison.DIFFERENCE):
        asked_twice = _AND_WHAT.search(rest)
        further = _FURTHER.search(asked_twice.group()) if asked_twice else None
        if further:
            found.append(f"the {further.group().lower()} besides: one question at a time is answered")
    if (
        companies < 2
        and relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH, Relation.CHANGE)
        and _GROWTHS.search(bare)
    ):
        found.append("one growth set against another: that is not computed")
    moved = relation in (Relation.CHANGE, Relation.TOTAL, Relation.AVERAGE)
    if companies < 2 and moved and not measure.stated and "[" not in measure.expression and _DIVIDED.search(rest):
        found.append("what is divided by what: that was not understood")
    if companies < 2 and _HOW_MANY_TIMES.search(rest) and "[" not in measure.expression:
        found.append("how many times one figure is another of the same company: that is not computed")
    return found


_PERCENT_OF = re.compile(r"\d+(?:\.\d+)?\s*(?:%|percent)\s+of", re.I)
_AND_WHAT = re.compile(r"(?:\band|[,;?])\s+(?:what|how|by what)\b.*", re.I)
_DIVIDED = re.compile(r"\b(?:divided|multiplied)\s+by\b", re.I)
_HOW_MANY_TIMES = re.compile(r"\bhow many times\b|\bby (?:what|how many) (?:factor|multiple|times)\b", re.I)


def _said(found: re.Match[str]) -> str:
    return repr(" ".join(found.group().lower().split()))


def _parts_of_a_year(core: str) -> list[str]:
    """Half a year, nine months, a year to date: no slot of the ledger holds them, as one holds a year and a quarter."""
    spans = [f"{months} months" for months in sorted({one.months for one in parse_periods(core).mentions} & {6, 9})]
    spans = spans or [f"{' '.join(found.group().split())!r}" for found in SPAN_OF_A_YEAR.finditer(core)]
    return [f"figures for {span}: only full years and single quarters are looked up" for span in spans]


def _other_measures(text: str, mentions: Sequence[Mention], measure: Measure, lexicon: Lexicon) -> list[str]:
    if measure.stated:
        return []
    used = _inputs(measure.expression, lexicon)
    others = [
        mention.phrase
        for place, mention in enumerate(mentions)
        if _TOTAL_OF.sub("", mention.phrase) not in measure.words
        and (mention.id not in used or (place and _is_set_beside(text, mentions[place - 1], mention)))
    ]
    if not others:
        return []
    return [f"{' and '.join(dict.fromkeys(others))} beside {measure.words}: one measure at a time is computed"]


_TOTAL_OF = re.compile(r"^total\s+", re.I)
"""`total free cash flow` over several years is no other measure than the free cash flow that is added up."""


def _unnamed_beside(text: str, mentions: Sequence[Mention], measure: Measure, lexicon: Lexicon) -> list[str]:
    """`revenue and costs`: what stands beside a measure and is none that is known."""
    if measure.stated:
        return []
    beside = [found for one in mentions if (found := _AND_MORE.match(text, one.end))]
    return [
        f"{found.group('more')} beside {measure.words}: one measure at a time is computed"
        for found in beside
        if not _NOTHING_MORE.fullmatch(found.group("more"))
        and not any(one.start < found.end("more") and found.start("more") < one.end for one in mentions)
        and not _is_one_name(text, found, lexicon)
    ]


def _is_one_name(text: str, joined: re.Match[str], lexicon: Lexicon) -> bool:
    """`capex to depreciation and amortization`: the word beside it ends a name that begins with the measure's last."""
    first = text.rfind(" ", 0, joined.start()) + 1
    last_word = joined.start() - first
    return any(one.end > last_word for one in lexicon.mentions(text[first : joined.end("more")]))


def _is_set_beside(text: str, first: Mention, second: Mention) -> bool:
    """`gross profit and revenue`, `income growth minus revenue growth`: the second is no mere input of the first."""
    between = text[first.end : second.start]
    return first.id != second.id and _SET_TOGETHER.match(between) is not None


def _inputs(expression: str, lexicon: Lexicon) -> set[str]:
    """Ids that the expression names, and those its formulas and derived metrics are made of."""
    used: set[str] = set()
    waiting = [re.sub(r"\[\d+\]|\bmean\b", "", expression)]
    while waiting:
        for name in re.findall(r"[a-z][a-z0-9_]*", waiting.pop()):
            if name in used:
                continue
            used.add(name)
            entry = lexicon.formulas.get(name)
            derive = lexicon.metrics[name].derive if name in lexicon.metrics else ""
            waiting += [
                " ".join(expression_inputs(text)) for text in (entry.expression if entry else "", derive) if text
            ]
    return used


def _blanked(text: str, mentions: Sequence[Mention], measure: Measure) -> str:
    text = text.replace(measure.words, " " * len(measure.words))
    for mention in mentions:
        text = text[: mention.start] + " " * (mention.end - mention.start) + text[mention.end :]
    return text
