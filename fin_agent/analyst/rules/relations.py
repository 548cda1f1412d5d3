"""What is asked of a measure over time and between companies, read from the question's verbs and comparatives."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.rules.rankings import moved_most
from fin_agent.evidence.intent import Comparison, Relation

_EXPLANATION = re.compile(
    r"\b(why|what (?:has |have )?(?:drove|driven|drives|caused|causes|explains?|led)|drivers?|reasons?|describe|explain"
    r"|who|whom|whose|nature|purpose|agenda|summari[sz]e|what (?:kind|type|sort)s? of"
    r"|how (?:does|do|did) .{3,60} (?:recogni[sz]e|account for|treat))\b"
    r"|\b(?:guidance|forecast\w*|outlook|expect(?:s|ed|ing|ations?)?|anticipate[sd]?|projected?)\b",
    re.I,
)
_LISTING = re.compile(r"^(?:are|is|were|was) there\b|^among\b|^(?:which|where|when)\b", re.I)
_ANNUAL_GROWTH = re.compile(
    r"\b(?:cagr|compound(?:ed|ing)? (?:annual|yearly)|(?:annual|yearly) compound)\b"
    r"|\bcompound(?:ed|ing)?\s+(?:rate\s+of\s+)?growth\b"
    r"|\bannuali[sz]ed\b.{0,40}?\b(?:growth|increase|return)\b"
    r"|\b(?:growth|grow|grew)\b.{0,40}?\bannuali[sz]ed\b"
    r"|\b(?:averaged?|mean)[ -](?:annual|yearly|per[ -]year)[ -]growth\b|\b(?:annual|yearly) average growth\b",
    re.I,
)
_GROWTH = re.compile(
    r"\b(growth|grew|grow|grown)\b|(?:\bpercent(?:age)?|%|\bpct)[- ]*(?:change|increase|decrease|growth|decline)\b"
    r"|\b(?:what|how many) (?:percent\b|percentage\b|pct\b|%)(?!\s*points?).*\b(?:increas|decreas|chang|declin"
    r"|grow|fell|fall|rose|rise|climb|drop|go(?:ne|ing)? (?:up|down)|went (?:up|down))"
    r"|\byear[- ]over[- ]year\b.*\bchange\b"
    r"|\b(?:what|how many) (?:percent|percentage|pct|%)\s+(?:higher|lower|more|less|larger|smaller|greater|bigger)\b"
    r"|\bchange\b.*\b(?:units? of percents?|in percent|year[- ]over[- ]year|yoy)\b|\byoy\b",
    re.I,
)
_AVERAGE = re.compile(r"\b(?:\w+|\d+)[- ]years? average\b|\baverages?\b|\bavg\b|\bon average\b|\bmean\b", re.I)
_TOTAL = re.compile(
    r"\b(cumulative(?:ly)?|combined|in total|altogether|together|sum of|summed|aggregate|total(?:s|ed)?)\b"
    r"|\badd(?:s|ed|ing)?\b.{0,80}?\b(?:up|together)\b|\btall(?:y|ied)(?:ing)?\b|\ball told\b|\ball in all\b"
    r"|^\W*(?:please\s+)?(?:sum|add)\b",
    re.I,
)
_CHANGE = re.compile(
    r"\bby how (?:much|many)\b"
    r"|\bhow (?:much|many) (?:more|less|fewer|higher|lower|greater|larger|smaller|bigger)\b.*\bthan\b"
    r"|\bhow (?:much|many)\b.*\b(?:chang|increas|decreas|declin|grow|grew|fall|fell|ris|rose|drop"
    r"|gain|widen|narrow|expand|contract|improv|shr[iau]nk|go(?:ne)? (?:up|down)|went (?:up|down))"
    r"|\b(?:change|difference|increase|decrease|decline|reduction|drop|rise|fall)\s+(?:in|between)\b|\bchanged?\b",
    re.I,
)
_IN_MONEY = re.compile(r"\bin (?:US )?(?:dollars|USD)\b", re.I)
_YEARS_TOTAL = re.compile(r"\b(?:\w+|\d+)[- ]years? total\b|\btotal(?:led)? over\b", re.I)
_CHANGE_IN_A_YEAR = re.compile(
    r"\bhow (?:much|many)\b.*\b(?:chang|increas|decreas|declin|fall|fell|ris|rose|drop|gain|widen|narrow"
    r"|expand|contract(?!s)|shr[iau]nk)"
    r"|\bhow did\b.*\bchange"
    r"|(?<!net )\b(?:change|increase|decrease|decline|reduction|drop|rise|fall)s? in\b",
    re.I,
)
_TREND = re.compile(
    r"^(?:so,?\s+|and\s+)?(?:does|do|did|has|have|had|is|are|was|were)\b.*"
    r"\b(?:improv|increas|decreas|declin|gr[eo]w|ris|rose|fall|fell|higher|lower|drop|deteriorat|expand|shrink|shrank"
    r"|worsen|reduc|widen|narrow|deepen|go(?:ne|ing)? (?:up|down)|went (?:up|down)|up or down)",
    re.I | re.S,
)
_HIGHEST = re.compile(
    r"^\W*rank\b|\b(highest|higher|most|more|largest|larger|biggest|bigger|greatest|greater|best|better|maximum|exceed\w*|faste(?:r|st)|fattest|steepest|strongest|stronger|richest)\b",
    re.I,
)
_LOWEST = re.compile(
    r"\b(lowest|lower|least|less|fewer|fewest|smallest|smaller|worst|worse|minimum|slower|slowest|thinnest|weakest|weaker)\b",
    re.I,
)
_WHICH = re.compile(r"\b(which|who|whose|what company)\b|^\W*rank\b|^(?:did|does|was|were|is|has|had)\b.*\bor\b", re.I)
_DIFFERENCE = re.compile(
    r"\b(difference|by how (?:much|many)|how (?:much|many) (?:more|less|higher|lower|greater|larger|smaller)"
    r"|exceed\w*|gap|how far (?:ahead|behind|above|below)|how much (?:faster|slower))\b",
    re.I,
)
_FIGURE = re.compile(
    r"\bhow (?:much|many|large|big)\b|\bwhat (?:percent\b|percentage\b|%|amount\b|number\b|share\b)|\bby how\b"
    r"|\b(?:total|amount|value|quantity|number|percentage|rate) of\b"
    r"|\bwhat (?:is|was|were|are) .*\b(?:amount|rate|ratio|margin)\b",
    re.I,
)
_MINUS = re.compile(r"\b(?:minus|less)\b(?! than)", re.I)
_TIMES = re.compile(
    r"\bhow many times\b|\bratio of\b.*\bto\b|\bas (?:an? )?(?:%|percent(?:age)?) of\b|\bas an? (?:\w+ )?multiple of\b"
    r"|\bdivided?\s+(?:it\s+|that\s+|this\s+)?by\b|^\W*(?:please\s+)?divide\b",
    re.I,
)


_HOW_MANY_TIMES = re.compile(r"\bhow many times\b", re.I)


def relation_of(core: str, spans: tuple[tuple[int, int], ...], years: int, companies: int) -> Relation:
    """The relation over time.

    `spans` are the measure's own words (`total current assets` is no total), `years` and `companies` how many periods
    and companies are named. What is expected, and lists of things, are told in words.
    """
    text = _blanked(core, spans)
    if companies > 1 and _WHICH.search(core) and (_HIGHEST.search(core) or _LOWEST.search(core)):
        core = re.sub(r"\bwho(?:se)?\b", "which", core, flags=re.I)  # who spent more: a company, not a person
    if _EXPLANATION.search(core) or (companies < 2 and _LISTING.search(core)):
        return Relation.EXPLANATION
    if _ANNUAL_GROWTH.search(text):
        return Relation.ANNUAL_GROWTH
    if companies > 1 and _YES_OR_NO.match(text) and _SET_AGAINST.search(text):
        return _between_companies(text, years)
    if companies < 2 and years == 2 and _YES_OR_NO.match(text) and _SET_AGAINST.search(text):
        return Relation.TREND
    if companies < 2 and years == 2 and _COMPARED.search(text):
        return Relation.TREND
    if _TREND.search(text) and not _BY_HOW_MUCH.search(text):
        return Relation.TREND if companies < 2 else Relation.EXPLANATION
    if _AVERAGE.search(text) and years > 1:
        return Relation.AVERAGE
    if _GROWTH.search(text):
        return Relation.CHANGE if _IN_MONEY.search(text) else Relation.GROWTH
    if years > 1 and (_TOTAL.search(text) or _YEARS_TOTAL.search(core)):
        return Relation.TOTAL
    if (_CHANGE.search(text) and years > 1) or (companies < 2 and _later_less_earlier(text)):
        return Relation.CHANGE
    if (companies < 2 and _CHANGE_IN_A_YEAR.search(text)) or (companies > 1 and moved_most(text) is not None):
        return Relation.CHANGE
    return Relation.EACH


def _between_companies(text: str, years: int) -> Relation:
    """`did A grow faster than B`, `was A's revenue higher than B's`: what is set against the other's."""
    if _GROWTH.search(text) or _FASTER.search(text):
        return Relation.GROWTH
    if _TREND.search(_COMPARATIVES.sub(" ", text)):
        return Relation.CHANGE if years > 1 and _MORE.search(text) else Relation.EXPLANATION
    return Relation.EACH


_YES_OR_NO = re.compile(r"^\W*(?:is|are|was|were|did|does|do|has|have|had)\b", re.I)
_COMPARED = re.compile(r"^\W*(?:how\b.*\bcompared?|compare)\b", re.I | re.S)
_BY_HOW_MUCH = re.compile(r"\bby how (?:much|many)\b|\bby what (?:percent|amount)", re.I)
_SET_AGAINST = re.compile(
    r"\b(?:higher|lower|larger|smaller|greater|bigger|more|less|fewer|better|worse|faster|slower)\b(?=.*\b(?:than|or)\b)"
    r"|\bor\b.*\b(?:higher|lower|larger|smaller|greater|bigger|more|less|fewer|better|worse|faster|slower)\b"
    r"|\b(?:above|below|exceed\w*|surpass\w*|outpac\w*)\b",
    re.I | re.S,
)
_COMPARATIVES = re.compile(r"\b(?:higher|lower|larger|smaller|greater|bigger|more|less|fewer|better|worse)\b", re.I)
_HOW_FAR_APART = re.compile(rf"{_BY_HOW_MUCH.pattern}|\b(?:difference|gap)\b|\bhow (?:far|large|big|wide)\b", re.I)
_FASTER = re.compile(r"\b(?:faster|slower|outpac\w*)\b", re.I)
_MORE = re.compile(r"\bmore\b", re.I)


def _later_less_earlier(text: str) -> bool:
    """`2021 minus 2019`: a change as it is always reckoned; the other way round it is not."""
    found = _YEAR_LESS_YEAR.search(text)
    return found is not None and found.group(1) > found.group(2)


_YEAR_LESS_YEAR = re.compile(
    r"\b(?:FY\s?)?((?:19|20)\d\d)\s+(?:minus|less)\s+(?:fiscal\s+|FY\s?)?((?:19|20)\d\d)\b", re.I
)


def comparison_of(core: str, companies: int) -> Comparison:
    """The relation between companies; none where the question names fewer than two."""
    if companies < 2:
        return Comparison.NONE
    if _HOW_MANY_TIMES.search(core):
        return Comparison.RATIO
    if _YES_OR_NO.match(core) and _SET_AGAINST.search(core) and not _HOW_FAR_APART.search(core):
        return Comparison.LOWEST if _LOWEST.search(core) or re.search(r"\bbelow\b", core, re.I) else Comparison.HIGHEST
    if companies == 2 and _EXCESS.search(core):
        return Comparison.EXCESS
    if _DIFFERENCE.search(core):
        return Comparison.DIFFERENCE
    if _WHICH.search(core) and _HIGHEST.search(core):
        return Comparison.HIGHEST
    if _WHICH.search(core) and _LOWEST.search(core):
        return Comparison.LOWEST
    if _MINUS.search(core):
        return Comparison.DIFFERENCE
    if _TIMES.search(core):
        return Comparison.RATIO
    if _TOTAL.search(core) and re.search(r"\b(combined|together|sum|aggregate)\b", core, re.I):
        return Comparison.TOTAL
    return Comparison.NONE


_EXCESS = re.compile(
    r"\b(?:what|which|how many|how much)\s+(?:percent\b|percentage\b|pct\b|%)(?!\s*points?).*"
    r"\b(?:exceed\w*|surpass\w*|(?:higher|larger|greater|bigger|more)\b.*\bthan)\b",
    re.I | re.S,
)


def base_stands_first(core: str, companies: Sequence[str]) -> bool:
    """Whether of two companies the one that is measured against is named first.

    `companies` are their names as the question first writes them, in its order.

    >>> base_stands_first("How many times as large as Acme's were Bolt's assets?", ["Acme", "Bolt"])
    True
    """
    if len(companies) != 2:
        return False
    before = core[: core.find(companies[0])]
    return _AGAINST_WHOM.search(before) is not None


_AGAINST_WHOM = re.compile(
    r"\bhow\s+(?:many\s+times|much|many)\b.*\b(?:as\s+\w+\s+as|(?:more|less|fewer|higher|lower|greater|larger|smaller|bigger)"
    r"\s+than|that\s+of|the\s+size\s+of|above|below)\s+(?:that\s+of\s+|those\s+of\s+)?(?:the\s+)?$"
    r"|\bhow\s+many\s+times\s+(?:the\s+)?$|\bhow\s+far\s+(?:ahead\s+of|above)\s+(?:the\s+)?$",
    re.I,
)


def asks_figure(core: str) -> bool:
    """Whether a number is asked for."""
    return _FIGURE.search(core) is not None


def _blanked(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text
