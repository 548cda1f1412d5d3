"""What a question about one table asks for: which operation, over which periods, of which phrases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from fin_agent.analyst.rules.context_answers.period_names import PeriodName, is_range, periods_in, without_periods
from fin_agent.analyst.rules.context_answers.wording import telling_stems
from fin_agent.lexicon.words import word_lists


class Asks(StrEnum):
    """The kind of answer wanted."""

    FIGURE = "figure"
    CHANGE = "change"
    DIFFERENCE = "difference"
    PERCENT_CHANGE = "percent change"
    AVERAGE = "average"
    TOTAL = "total"
    RATIO = "ratio"
    SHARE = "share"
    """A ratio in percent."""
    COUNT = "count"
    WHICH_PERIOD = "which period"
    WHICH_ROW = "which row"
    PERIODS = "periods"
    LISTING = "listing"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as read."""

    text: str
    asks: Asks
    periods: tuple[PeriodName, ...]
    whole_range: bool
    averaged: bool
    """The operands are averages themselves."""
    words: tuple[str, ...]
    operation: tuple[str, ...]
    """Words that name the operation; a label may say them too."""


def read_question(question: str) -> Asked:
    """Reads a question; one without words asks for words."""
    text = " ".join(question.replace("’", "'").replace("‘", "'").split())
    kind = next((asks for asks, pattern in _KINDS if pattern.search(text)), None)
    if kind is None:
        kind = Asks.WORDS if _WORDED.search(text) or not text else Asks.FIGURE
    stems = telling_stems(_ASIDE.sub(" ", text))
    operations = _operation_stems()
    return Asked(
        text=text,
        asks=kind,
        periods=periods_in(text),
        whole_range=is_range(text),
        averaged=kind in (Asks.CHANGE, Asks.DIFFERENCE, Asks.PERCENT_CHANGE) and _AVERAGE.search(text) is not None,
        words=tuple(word for word in stems if word not in operations),
        operation=tuple(word for word in stems if word in operations),
    )


def splits(asked: Asked) -> Iterator[tuple[str, str, str, float]]:
    """Ways to read two measures out of the question: (one, other, what is said of both, how telling the joint is)."""
    text = re.sub(r"\s+([?.,;])", r"\1", without_periods(asked.text)).strip(" ?.")
    joints = _JOINTS_OF_RATIOS if asked.asks in (Asks.RATIO, Asks.SHARE) else _JOINTS
    opening = _OPENINGS[asked.asks].search(text) if asked.asks in _OPENINGS else None
    before, body = (text[: opening.start()], text[opening.end() :]) if opening else ("", text)
    if asked.asks in (Asks.RATIO, Asks.SHARE) and (turned := _TO_RATIO.search(text)):
        yield turned["part"], turned["whole"], "", _STRONG
    if asked.asks in (Asks.RATIO, Asks.SHARE) and (turned := _AS_SHARE_OF.search(text)):
        yield text[: turned.start()], text[turned.end() :], "", _STRONG
    if asked.asks is Asks.SHARE and (turned := _SHARE_IS.search(text)):
        yield turned["part"], turned["whole"], "", _STRONG
    between = _BETWEEN.search(body)
    if between and asked.asks not in (Asks.RATIO, Asks.SHARE):
        before, body = f"{before} {body[: between.start()]}", body[between.end() :]
    for joint in joints.finditer(body):
        one, other = body[: joint.start()], body[joint.end() :]
        if telling_stems(one) and telling_stems(other):
            yield one, other, before, _strength(joint[0])


def _strength(joint: str) -> float:
    word = " ".join(joint.split()).lower()
    if word in ("over", "out of", "as a share of", "divided by", "relative to", "among", "amongst", "against"):
        return _STRONG
    return -_STRONG if word in ("of", "from", "per", "with", ",") else 0.0


_STRONG = 0.7


def _operation_stems() -> frozenset[str]:
    return frozenset(stem for word in word_lists("context_words")["operations"] for stem in telling_stems(word))


_ASIDE = re.compile(r"increase\s*/\s*\(decrease\)|decrease\s*/\s*\(increase\)", re.I)
_AVERAGE = re.compile(r"(?<!weighted[ -])\baverages?\b|\bmean\b", re.I)
_HIGH = r"(?:highest|lowest|largest|smallest|greatest|least|most|biggest|fewest|maximum|minimum)"
_MORE = r"(?:higher|lower|larger|smaller|greater|bigger|less)"
_PERCENT = r"(?:percent(?:age)?s?|per cent|(?<!\w)%)"
_WHICH_YEARS = (
    r"(?:(?:in|for|during)\s+)?\b(?:which|what)\s+(?:fiscal\s+|financial\s+"
    r"|calendar\s+)*(?:years?(?:\(s\))?|periods?|quarters?|months?)\b"
)
_KINDS = (
    (
        Asks.COUNT,
        re.compile(
            r"\bhow many (?:of the |different |types of |kinds of |major |main )*(?:\w+ ){0,2}(?:years"
            r"|quarters|periods|months|components|categories|items|types|segments|countries|regions"
            r"|executive officers|officers|directors|factors|methods|reasons|parts|sources"
            r"|geographic\w*|currencies|products|plans|classes|levels)\b(?! of service)",
            re.I,
        ),
    ),
    (
        Asks.WORDS,
        re.compile(
            r"\breasons?\b|\b(?:driven|influenced|caused|affected) by\b|\bdue to\W*$|\bresult (?:of"
            r"|from)\W*$|\brecogni[sz]ed as\W*$"
            r"|^\W*what (?:led|caused|drove|contributed|impacted|affected|results?|resulted|could|will|happens)\b"
            r"|^\W*(?:what|how) (?:do|does|did)\b(?!.*\b(?:change|increase|decrease)[sd]?\b)(?!.*\bfinancial items\b)"
            r"|^\W*(?:who|where|whom|whose)\b|^\W*when\b|\b(?:what|which) (?:date|day)\b|\b(?:maturity"
            r"|expiry|expiration) date\b"
            r"|^\W*what (?:is|are|was|were) (?:represented|included|meant|excluded|considered|covered"
            r"|required|reflected)\b"
            r"|^\W*what (?:is|are|was|were)\b(?!.*\b(?:percent|percentage)\b).*\b(?:to|of|for|by|with|as)\W*$",
            re.I,
        ),
    ),
    (
        Asks.WORDS,
        re.compile(r"^\W*(?:why|how (?:is|are|does|do|did|was|were)\b(?! .* (?:change|increase|decrease) by))", re.I),
    ),
    (
        Asks.WHICH_PERIOD,
        re.compile(
            rf"{_WHICH_YEARS}.*(?:\b{_HIGH}\b|\b{_MORE}\b|\bexceed|\babove\b|\bbelow\b|\bmore than\b"
            rf"|\bless than\b|\bunder\b|\bover\b|\bnegative\b|\bpositive\b|\bat least\b|\bequal\b"
            rf"|\bfewer\b|\bonly\b)",
            re.I,
        ),
    ),
    (
        Asks.PERIODS,
        re.compile(rf"^\W*{_WHICH_YEARS}|^\W*what (?:are|were) the (?:\w+ )?(?:years|periods|dates)\b", re.I),
    ),
    (
        Asks.WHICH_ROW,
        re.compile(
            rf"\b(?:which|what)\b(?! (?:is|was|were|are) the (?:average|total|change|difference"
            rf"|percentage|increase|decrease|amount|value)).*\b{_HIGH}\b",
            re.I,
        ),
    ),
    (
        Asks.PERCENT_CHANGE,
        re.compile(
            rf"(?<!\w){_PERCENT}\s+(?:of\s+)?(?:the\s+)?(?:change|increase|decrease|growth|difference"
            rf"|decline|reduction|drop|rise)|\b(?:growth rate|rate of (?:change|increase|growth)"
            rf"|percentage-wise)\b|\b(?:change|increase|decrease|growth|decline) (?:rate|ratio)\b"
            rf"|\bby (?:what|how many|how much)? ?{_PERCENT}",
            re.I,
        ),
    ),
    (
        Asks.CHANGE,
        re.compile(
            r"\b(?:changes?|increase|decrease|decline|growth|reduction"
            r"|movement)\s*(?:/\s*\(?\w+\)?\s*)?(?:in|of|between|from|for|to)\b|\bhow (?:much"
            r"|many)\b.*\b(?:change|increase|decrease|grow|decline)d?\b|\b(?:change|increase"
            r"|decrease)d?\s+by\b|\bchange\b.*\bfrom \d{4} to\b|\bwhat (?:is|was) the \w* ?change\b",
            re.I,
        ),
    ),
    (
        Asks.DIFFERENCE,
        re.compile(
            r"\bdifference\b|\bhow much (?:more|less|higher|lower|larger|greater)\b|\bexceed\w* .* by how", re.I
        ),
    ),
    (Asks.AVERAGE, re.compile(r"(?<!weighted )(?<!weighted-)\baverage\b|\bmean\b", re.I)),
    (
        Asks.SHARE,
        re.compile(
            rf"(?<!\w){_PERCENT}\s+(?:constitution|composition)|\bas an? {_PERCENT} of\b"
            rf"|\bratio \(in {_PERCENT}\)|(?<!\w){_PERCENT}\s+(?:of|ratio)\b.*\b(?:over|out of|to|in"
            rf"|against|among|of)\b|\bwhat {_PERCENT} of\b|\bhow many {_PERCENT}"
            rf"|\bconstitut\w+ .*{_PERCENT}|{_PERCENT}.*\b(?:constitut\w+|make up|attribut\w+|account)",
            re.I,
        ),
    ),
    (Asks.RATIO, re.compile(r"\bratio\b|\bproportion\b|\bdivided by\b|\bas a fraction\b|\bhow many times\b", re.I)),
    (Asks.TOTAL, re.compile(r"\b(?:total|sum|combined|altogether|overall)\b", re.I)),
    (
        Asks.LISTING,
        re.compile(
            r"^\W*(?:what|which)\s+(?:\w+\s+){0,2}(?:are|were)\b.*\b(?:types?|components?|categories"
            r"|items|segments?|regions?|countries|classes|elements?|assumptions|currencies|scopes"
            r"|line items|financial items)\b|\b(?:consist of|comprise of|made up of)\b",
            re.I,
        ),
    ),
    (Asks.WORDS, re.compile(r"^\W*(?:when|where|who|whom|whose)\b|\b(?:what|how) (?:do|does|did)\b", re.I)),
)
_WORDED = re.compile(
    r"^\W*(?:is|are|was|were|did|does|do|has|have|can)\b|\b(?:reason|definition|define|meaning"
    r"|purpose|describe|explain)\b",
    re.I,
)
_JOINTS = re.compile(r"\s*(?:,\s*|\s)and\s+(?:the\s+|of\s+)?|\s+(?:from|versus|vs\.?|than|with|to)\s+|,\s+", re.I)
_JOINTS_OF_RATIOS = re.compile(
    r"\s+(?:over|out of|as a share of|divided by|relative to|compared to|against|among(?:st)?"
    r"|to|in|within|of|from|per)\s+",
    re.I,
)
_OPENINGS = {
    Asks.RATIO: re.compile(r"\b(?:ratio|proportion)s?(?:\s*\([^)]*\))?\s+(?:of\s+)?|\bfraction of\b", re.I),
    Asks.SHARE: re.compile(rf"(?<!\w){_PERCENT}\)?(?:\s+(?:constitution|composition|ratio))?\s+(?:of\s+)?", re.I),
    Asks.TOTAL: re.compile(r"\b(?:total|sum|combined)\s+(?:of\s+)?", re.I),
    Asks.AVERAGE: re.compile(r"\baverage\s+(?:of\s+)?", re.I),
}
_AS_SHARE_OF = re.compile(
    rf"\s+(?:expressed\s+)?as (?:an?|the) (?:{_PERCENT}|proportion|share|fraction|ratio) (?:of|to)\s+", re.I
)
_SHARE_IS = re.compile(
    rf"\bwhat {_PERCENT} of (?P<whole>.+?) (?:is|was|were|are|came from|comes from|did) (?P<part>.+)$", re.I
)
_TO_RATIO = re.compile(r"\b(?:the )?(?P<part>[\w -]+?)[ -]to[ -](?P<whole>[\w -]+?) ratio", re.I)
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?", re.I)
