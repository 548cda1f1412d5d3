"""How well words of a filing answer: how much of the question they say, and how far they are of the kind it wants."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.analyst.rules.reasoning.explained import Explained, first_measure
from fin_agent.analyst.rules.reasoning.kinds import (
    Kind,
    asks_all,
    asks_price,
    before_the_cause,
    begins_one,
    holds,
    phrase_in,
    states_figure,
    states_price,
)
from fin_agent.analyst.rules.reasoning.lists import is_enumeration, is_series
from fin_agent.analyst.rules.reasoning.telling import Telling
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.retrieval.terms import stems_of

_MOVE_BONUS = 1.5
_OTHER_WAY = 0.5
"""A fall explains no rise."""
_OTHER_MEASURE = 0.4
_SUBJECT_BONUS = 1.4
_SUBJECT_CHARACTERS = 30
"""A sentence that begins with the measure is about it; one that mentions it later may be about a share of it."""
_FIGURE_BONUS = 1.2
_ENUMERATION_BONUS = 2.0
_SERIES_BONUS = 1.3
_OF_THE_FILER = 1.15
_HEDGED = 0.7
_RISK = re.compile(r"\b(?:risks?|threats?|could|might|may|would|exposed|exposure|uncertaint\w+|depend\w*)\b", re.I)
_POINTER = 0.4
_ITS_YEAR = 1.15
_OTHER_YEAR = 0.75
_OTHER_YEAR_EXPLAINED = 0.25
_HEADING = 0.8
"""What a word counts that the heading says and the sentence does not."""
_BESIDE_ITS_SUBJECT = 0.7
"""... or the reason that is given: there it is no longer what is explained."""
_FEWEST_OWN_WORDS = 0.2
_MANY_WORDS = 4
_SAYS_WHAT_IT_IS = 0.8
_SHORT = 160
_BUYING = frozenset(stems_of("pay pays paid payment spend spent purchase purchased price acquire acquired acquisition"))
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_FILER = re.compile(r"^(?:we|our|the company)\b|,\s(?:we|our|the company)\b", re.I)
_MANY = re.compile(r"\bhow\s+many\s+((?:\w+\s+){0,2}?\w+)|\bnumber\s+of\s+((?:\w+\s+){0,2}?\w+)", re.I)
_NOT_COUNTED = re.compile(r"\$\s?[\d,.]+|[\d,.]+\s?(?:%|percent\b|basis points)|\(\d{1,2}\)|\b(?:19|20)\d\d\b", re.I)
_NUMBER = re.compile(r"^\d[\d,.]*$|^(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)$", re.I)
_UNITS = re.compile(r"\b(?:percent\w*|points?|dollars|times|millions?|billions?)\b", re.I)
_NEAR = 4
_NO_MOVEMENT = 0.5
_CHANGE = re.compile(r"\bchang\w+|\bmov(?:e|ed|ement)\b|\bvari\w+", re.I)
_INTERIM = re.compile(r"\b(?:first|second|third|three|six|nine|1st|2nd|3rd)[ -](?:fiscal )?(?:quarter|months?)\b", re.I)
_NO_LIST = 0.7
_DATED = re.compile(r"^(?:on|in|during|effective|as of)\b.{0,40}\b(?:19|20)\d\d\b", re.I)
_MEMBERS = re.compile(
    r"\b(\w+)(?:\s+\w+){0,3}?\s*(?:,\s+)?(?:include[sd]?|including|consist\w*|compris\w+|such as|namely|:)\s"
    r"|^(?:our|the)\s+(?:[\w-]+\s+){0,2}?(\w+)\s+(?:are|were)\s",
    re.I,
)
_AT_MOST = re.compile(r"\bat (?:most|least)\b", re.I)
"""Words between a number and what it counts."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A question as sentences are held against it."""

    intent: Intent
    kind: Kind
    telling: Telling
    lexicon: Lexicon | None = None


@dataclass(frozen=True, slots=True)
class Worth:
    """What words are worth as an answer."""

    score: float
    coverage: float
    """Share by weight of the question's own words they say."""
    words: int
    """Number of them."""


def worth_of(lead: str, text: str, heading: str, sought: Sought) -> Worth | None:
    """What `text`, which begins with the sentence `lead`, is worth.

    None where it is not of the kind wanted or says too little of the question.
    """
    telling, kind = sought.telling, sought.kind
    if not _is_of_kind(text, sought):
        return None
    stems = set(stems_of(text))
    if kind is Kind.BUSINESS:
        leading = 1 + bool(re.search(r"\b(?:leading|leaders?|largest|global|world\w*)\b", text, re.I))
        return Worth(_SAYS_WHAT_IT_IS * leading / (1 + len(stems) / 60), _SAYS_WHAT_IT_IS, 1)
    if not _says_what_is_required(text, sought):
        return None
    stems |= _of_the_measure(before_the_cause(text), sought)
    said = telling.coverage(stems)
    words = sum(1 for stem in telling.own if telling.worth(stem, stems))
    if (said < _FEWEST_OWN_WORDS and words < _MANY_WORDS) or not telling.rank(stems):
        return None
    if kind is Kind.CAUSE:
        explained = before_the_cause(text)
        subject = telling.coverage(set(stems_of(explained)) | _of_the_measure(explained, sought))
        said = max(subject, _BESIDE_ITS_SUBJECT * said)
    under = telling.coverage(stems | set(stems_of(heading)))
    by_heading = _HEADING * max(0.0, under - said)
    coverage = said + (by_heading if kind is Kind.CAUSE else min(by_heading, said))
    if not text.startswith(lead):
        lead = text  # understood only with the sentence before it
    if not telling.rank(set(stems_of(lead))):
        return None
    # What follows a sentence adds to it, but the sentence itself has to be about the question.
    rank = (telling.rank(set(stems_of(lead))) + telling.rank(stems)) / 2
    score = (rank + coverage) / 2 / (1 + len(stems) / 60) * fitness(lead, text, sought)
    return Worth(score, coverage, words)


def fitness(lead: str, text: str, sought: Sought) -> float:
    """How far words are of the kind asked for: a cause, a series, a figure, of the year asked about."""
    intent, kind = sought.intent, sought.kind
    fitness = 1.0
    if intent.asks_figure and states_figure(text):
        fitness *= _FIGURE_BONUS
    if kind is Kind.COUNT and any(begins_one(way, intent.core) and begins_one(way, text) for way in ("up", "down")):
        fitness *= _MOVE_BONUS
    if kind is Kind.LIST:
        fitness *= _as_a_list(text, sought)
    fitness *= _HEDGED if phrase_in("conditionals", lead) and not _RISK.search(intent.core) else 1.0
    if kind not in (Kind.CAUSE, Kind.PERSON, Kind.TIME) and _FILER.search(lead):
        fitness *= _OF_THE_FILER
    if phrase_in("pointers", text):
        fitness *= _POINTER
    subject = re.sub(r"\s+(?:growth|change|increase|decrease)(?: rates?)?$", "", intent.measure.lower())
    if subject and subject in lead[:_SUBJECT_CHARACTERS].lower():
        fitness *= _SUBJECT_BONUS
    if kind is Kind.CAUSE:
        return fitness * _explanation(lead, text, sought)
    years = {int(year) for year in _YEAR.findall(lead) or _YEAR.findall(text)}
    asked = {period.fiscal_year for period in intent.periods}
    if years and asked:
        fitness *= _ITS_YEAR if years & asked else _OTHER_YEAR
    return fitness


def _explanation(lead: str, text: str, sought: Sought) -> float:
    """How far a sentence explains what is asked: the measure itself, its movement, that way and in that year."""
    core, lexicon = sought.intent.core, sought.lexicon
    explained = before_the_cause(text)
    fitness = 1.0
    years = [int(year) for year in _YEAR.findall(explained) or _YEAR.findall(lead)]
    asked = {period.fiscal_year for period in sought.intent.periods}
    if years and asked:
        fitness *= _ITS_YEAR if years[0] in asked else _OTHER_YEAR if asked & set(years) else _OTHER_YEAR_EXPLAINED
    if lexicon is not None:
        wanted, named = first_measure(core, lexicon), Explained(explained, lexicon)
        fitness *= _OTHER_MEASURE if wanted and named.first and not named.begins_with(wanted) else 1.0
    up, down = begins_one("up", explained), begins_one("down", explained)
    risen, fallen = begins_one("up", core), begins_one("down", core)
    if not up and not down:
        return fitness * (_NO_MOVEMENT if risen or fallen or _CHANGE.search(core) else 1.0)
    if risen != fallen and (up, down) == (fallen, risen):
        return fitness * _OTHER_WAY
    return fitness * _MOVE_BONUS


def _as_a_list(text: str, sought: Sought) -> float:
    """Whether a sentence names what is asked for: `competitors include`, `two segments: ...`, or things in a row."""
    if asks_all(sought.intent.core, "happenings"):
        return _ENUMERATION_BONUS if _DATED.search(text) else 1.0
    if is_enumeration(text):
        return _ENUMERATION_BONUS
    nouns = [stem for stem in sought.telling.own if _names_its_members(text, stem, sought)]
    if nouns:
        return _ENUMERATION_BONUS
    return _SERIES_BONUS if is_series(text) else _NO_LIST


def _names_its_members(text: str, stem: str, sought: Sought) -> bool:
    return any(sought.telling.says(stem, stems_of(found[1] or found[2])) for found in _MEMBERS.finditer(text))


def _is_of_its_period(text: str, sought: Sought) -> bool:
    """Whether an explanation is not of a later year, nor of a part of the year that is asked about."""
    asked = sought.intent.periods
    explained = before_the_cause(text)
    years = [int(year) for year in _YEAR.findall(explained)]
    if not asked or not years:
        return True
    whole_years = all(period.quarter is None for period in asked)
    return max(years) <= max(period.fiscal_year for period in asked) and not (
        whole_years and _INTERIM.search(explained)
    )


def _is_of_its_measure(text: str, sought: Sought) -> bool:
    """Whether an explanation is not of other measures alone."""
    if sought.lexicon is None:
        return True
    wanted = first_measure(sought.intent.core, sought.lexicon)
    explained = Explained(before_the_cause(text), sought.lexicon)
    return not wanted or explained.nothing or explained.is_about(wanted)


def _says_what_is_required(text: str, sought: Sought) -> bool:
    """Whether a text ranks where a rank is asked for, and is of the period whose figure or reason is asked for."""
    core = sought.intent.core
    if sought.kind is Kind.CAUSE:
        return _is_of_its_period(text, sought) and _is_of_its_measure(text, sought)
    if sought.kind is Kind.LIST and asks_all(core, "transactions"):
        return phrase_in("transacted", text) and not phrase_in("definitions", text)
    if phrase_in("superlatives", _AT_MOST.sub("", core)):
        return phrase_in("superlatives", text)
    years, asked = _YEAR.findall(text), _YEAR.findall(core)
    if sought.kind is Kind.COUNT and len(set(asked)) > 1:
        return max(asked) in years
    return True


def _of_the_measure(text: str, sought: Sought) -> set[str]:
    """The question's words for its measure, where a text names the same by others: net sales for revenue."""
    if sought.kind is not Kind.CAUSE or sought.lexicon is None:
        return set()
    wanted = set(sought.lexicon.metrics_in(sought.intent.core))
    same = bool(wanted) and bool(wanted & set(sought.lexicon.metrics_in(text)))
    return set(stems_of(sought.intent.measure)) if same else set()


def points_elsewhere(sentence: str) -> bool:
    """Whether a sentence only says where something stands: `See Note 5 for more information.`"""
    if sentence.lower().startswith(("see ", "refer ", "for more ", "for further ", "for additional ", "please refer")):
        return True
    return "by reference" in sentence or (len(sentence) < _SHORT and phrase_in("pointers", sentence))


def _is_of_kind(text: str, sought: Sought) -> bool:
    if sought.kind in (Kind.COUNT, Kind.WORDS) and asks_price(sought.intent.core):
        return states_price(text) and states_figure(text) and _names_what_was_bought(text, sought.telling)
    many = _MANY.search(sought.intent.core) if sought.kind is Kind.COUNT else None
    counted = [word for word in (many[1] or many[2]).split() if stems_of(word)] if many else []
    if not counted or _UNITS.search(" ".join(counted)):
        return holds(sought.kind, text)
    words = re.findall(r"[\w,.%$’'-]+", _NOT_COUNTED.sub(" ", text))
    for place, word in enumerate(words):
        if _NUMBER.match(word.rstrip(".,")):
            plurals = (
                each
                for each in words[place + 1 : place + 1 + _NEAR]
                if each.rstrip(".,").endswith("s") or each == "people"
            )
            after = list(plurals)[:1]
            before = words[max(0, place - _NEAR) : place] if word[0].isdigit() else []
            near = set(stems_of(" ".join([*after, *before])))
            if any(sought.telling.says(stem, near) for stem in stems_of(" ".join(counted))):
                return True
    return False


def _names_what_was_bought(text: str, telling: Telling) -> bool:
    """Whether a text says more of the question than that something was paid: `variable pay` buys no company."""
    bought = [stem for stem in telling.own if stem not in _BUYING]
    said = set(stems_of(text))
    return not bought or any(telling.says(stem, said) for stem in bought)
