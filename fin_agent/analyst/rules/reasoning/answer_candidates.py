"""What of some passages might answer one part of a question: sentences, lists and names, each scored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fin_agent.analyst.rules.reasoning.answer_type_matching import (
    before_the_cause,
    begins_one,
    found_in,
    holds,
    moves,
    phrase_in,
)
from fin_agent.analyst.rules.reasoning.people_and_firms import (
    firms_in,
    is_title,
    names_holder,
    office_asked,
    offices_of,
    people_in,
    title_now,
)
from fin_agent.analyst.rules.reasoning.question_parts import FIGURES, Part, Wants
from fin_agent.analyst.rules.reasoning.sentence_splitting import (
    Paragraph,
    is_enumeration,
    is_whole,
    paragraphs_of,
    printed_lists,
)
from fin_agent.analyst.rules.reasoning.term_coverage import Term, coverage, ratio_of, stems_in
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.query.tree import Line, Operation, lines_of
from fin_agent.vocabulary.filing import PassageKind

_ENOUGH = 0.6
"""Share of a part's words by weight that a text must bear out; more where its kind tells less."""
_ENOUGH_OF = {
    **dict.fromkeys(FIGURES, 0.83),
    **dict.fromkeys((Wants.SENTENCE, Wants.LIST), 0.8),
    **dict.fromkeys((Wants.VERDICT, Wants.PERSON), 0.75),
}
_FEW = 3
_LEAST_EVIDENCE = 2.5
"""Weight of a word that by itself makes a sentence an answer, where its kind tells little: `customers` does not."""
_PRESENT_FOR_AN_ABSENT = 2
"""One word that nothing says is a paraphrase beside three that are said; beside fewer it is what is asked about."""
_FACTS = frozenset({Wants.DATE, Wants.PERSON, Wants.PLACE})
_ONLY_WORDS = frozenset({Wants.SENTENCE, Wants.PERSON, Wants.VERDICT})
_ITS_YEAR, _OTHER_YEAR, _A_YEAR_OLDER, _OTHER_FILING, _OTHER_TIME = 1.15, 0.7, 0.9, 0.8, 0.5
_BEHIND = 0.997
_LAST_QUARTER = 4
_HEDGED, _LIST, _THE_OTHER_WAY, _BESIDE_ITS_SUBJECT = 0.75, 2.0, 0.25, 0.7
_NOT_DONE = 0.2
_DATED = re.compile(r"^(?:on|in|during|effective|as of)\b.{0,40}\b(?:19|20)\d\d\b", re.I)
_RISKS = re.compile(r"\brisks?\b|\bthreat|\bcould\b|\bmight\b|\bmay\b", re.I)
_LONG = 120
"""Words by which a text counts half as much."""
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_INTERIM = re.compile(r"\b(?:first|second|third|three|six|nine|1st|2nd|3rd)[ -](?:fiscal )?(?:quarter|months?)\b", re.I)
_SHARE_OF = re.compile(
    r"(?:%|\bpercent(?:age)?|\bshare|\bportion)\s+of\s+(?:(?:our|its|the|total|consolidated)\s+){0,2}$", re.I
)
_VERB = 12
"""Characters of a cause that may hold the verb: `grew on orders`."""
_POINTS_BACK = re.compile(
    r"^(?:this|these|such|it|they|he|she|those"
    r"|the (?:[$\d.,]+ (?:million |billion |percent )?)?"
    r"(?:increase|decrease|change|decline|growth|reduction|improvement))\b"
    r"|\bthis (?:asu|standard|guidance|update|program|transaction|agreement)\b",
    re.I,
)
_REPORT = re.compile(r"\breport\s+of\s+(?:the\s+)?independent\s+(?:registered\s+)?(?:public\s+account|auditor)", re.I)
_GOES_ON = (";", ",", ":", " and")
_FEWEST_MEMBERS, _MOST_FOLLOWING = 2, 4
_SHORT_WORD, _LONG_TITLE, _CAPITALS, _SHORT_POINTER = 3, 12, 0.75, 160


@dataclass(frozen=True, slots=True)
class Sought:
    """One part of a question as texts are held against it."""

    intent: Intent
    part: Part
    terms: tuple[Term, ...]
    lexicon: Lexicon | None = None
    later_years: frozenset[str] = frozenset()
    """Years that the question names, later than all that is filed: only what says them is about them."""


class Filed(NamedTuple):
    """The period of a filing."""

    year: int | None = None
    quarter: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words of one passage that might answer."""

    text: str
    passage: RetrievedPassage
    place: int
    """Of the passage among those that were read."""
    position: int
    last: int
    """Of its first and its last sentence in the passage."""
    score: float
    alone: bool = False
    """Whether it is a whole answer: a list, a name."""
    following: tuple[str, ...] = field(default=(), repr=False)
    """The sentences behind it."""


def candidates_of(sought: Sought, passages: Sequence[tuple[RetrievedPassage, Filed]]) -> Iterator[Candidate]:
    """All that is of the kind wanted and bears out enough of the question."""
    latest = max((filed.year for _, filed in passages if filed.year), default=None)
    for place, (passage, filed) in enumerate(passages):
        worth, year = _BEHIND**place * _of_its_time(filed, latest, sought), filed.year
        if passage.kind is not PassageKind.TABLE:
            paragraphs = paragraphs_of(passage.text)
            yield from _sentences(paragraphs, passage, place, worth, sought, year)
            yield from _lists(paragraphs, passage, place, worth, sought)
        yield from _names(passage, place, worth, sought)


def _of_its_time(filed: Filed, latest: int | None, sought: Sought) -> float:
    """How well a passage's filing fits the periods asked about; the latest where none is."""
    asked = {period.fiscal_year for period in sought.intent.periods}
    if filed.year is None or latest is None:
        return 1.0
    if not asked:
        return float(_A_YEAR_OLDER ** (latest - filed.year))
    if filed.year not in asked:
        return _OTHER_FILING if filed.year - 1 in asked else _OTHER_TIME
    quarters = {period.quarter for period in sought.intent.periods}
    own = None if filed.quarter == _LAST_QUARTER else filed.quarter
    if own in quarters or filed.quarter in quarters:
        return 1.0
    return _OTHER_TIME if sought.part.wants is Wants.CAUSE else _OTHER_FILING


def _sentences(
    paragraphs: Sequence[Paragraph],
    passage: RetrievedPassage,
    place: int,
    worth: float,
    sought: Sought,
    filed: int | None,
) -> Iterator[Candidate]:
    flat = [(one, paragraph) for paragraph in paragraphs for one in paragraph.sentences]
    texts = [one for one, _ in flat]
    for position, (lead, paragraph) in enumerate(flat):
        if not _may_stand(lead, paragraph):
            continue
        first, last, text = position, position, lead
        before = texts[position - 1] if position else ""
        if position and _POINTS_BACK.search(lead) and is_whole(before) and flat[position - 1][1] is paragraph:
            text, first = f"{before} {lead}", position - 1
        after = texts[position + 1] if position + 1 < len(texts) else ""
        if sought.part.wants in (Wants.CAUSE, Wants.SENTENCE) and _POINTS_BACK.search(after) and is_whole(after):
            text, last = f"{text} {after}", position + 1
        if (
            paragraph.item
            and text == lead == paragraph.sentences[0]
            and len(" ".join(paragraph.sentences)) < _SHORT_ITEM
        ):
            text, last = " ".join(paragraph.sentences), position + len(paragraph.sentences) - 1
        before = f"{paragraph.heading} {_above(texts[first], passage.text)}"
        found = _worth(lead, text, paragraph.heading, sought, filed, before=before)
        if found is None:
            continue
        following = tuple(texts[last + 1 : last + 1 + _MOST_FOLLOWING])
        yield Candidate(text, passage, place, first, last, worth * found, following=following)


def _above(sentence: str, text: str) -> str:
    """What stands over a sentence in its passage, tables included."""
    begins = re.search(r"\s+".join(map(re.escape, sentence.split()[:_FIRST_WORDS])), text)
    return text[max(0, begins.start() - _MOST_ABOVE) : begins.start()] if begins else ""


_FIRST_WORDS, _MOST_ABOVE = 5, 2000
_SHORT_ITEM = 300


def _may_stand(lead: str, paragraph: Paragraph) -> bool:
    """Whether a sentence says something by itself: it is whole, and does not only announce or point at something."""
    if lead.endswith(_GOES_ON) or phrase_in("contract", lead):
        return False
    words = [word for word in lead.split() if len(word) > _SHORT_WORD and word[0].isalpha()]
    if len(words) < _LONG_TITLE and sum(word[0].isupper() for word in words) > _CAPITALS * len(words):
        return False
    low = lead.lower()
    points = low.startswith(("see ", "refer ", "for more ", "for further ", "for additional ", "please refer"))
    if points or "by reference" in lead or (len(lead) < _SHORT_POINTER and phrase_in("pointers", lead)):
        return False
    return is_whole(lead) or (paragraph.item and not lead[:1].islower())


def _worth(lead: str, text: str, nearby: str, sought: Sought, filed: int | None, *, before: str = "") -> float | None:
    """What a text is worth as an answer; None where it is not of the kind wanted or bears out too little."""
    part, terms = sought.part, sought.terms
    if not holds(text, part):
        return None
    if text != lead and part.wants in (*FIGURES, *_FACTS) and not holds(lead, part):
        return None  # a date or figure of the sentence that it points back to
    office = office_asked(part.text) if part.wants is Wants.PERSON else frozenset()
    if office and not names_holder(text, office):
        return None
    about = _subject_of(text, part)
    if about is None:
        return None
    said, around = set(stems_in(about)), set(stems_in(nearby))
    farther = set(stems_in(before)) if part.wants is Wants.CAUSE or part.wants in FIGURES else set()
    by_itself = f"{nearby} {text}" if part.wants is Wants.CAUSE else text
    if part.wants is not Wants.BUSINESS and not any(term.is_said(stems_in(by_itself)) for term in terms):
        return None
    borne = coverage(terms, said, around, farther)
    whole = coverage(terms, stems_in(text), around, farther)
    if part.wants is Wants.CAUSE:
        borne = max(borne, _BESIDE_ITS_SUBJECT * whole)
    if part.wants is Wants.BUSINESS:
        leading = 1 + bool(re.search(r"\b(?:leading|leaders?|largest|global|world\w*)\b", text, re.I))
        return leading / (1 + len(text.split()) / _LONG)
    if part.wants is Wants.CAUSE:
        said |= set(stems_in(text))
    if not _is_enough(borne, said, around, farther, sought):
        return None
    if (
        part.wants in FIGURES
        and sought.intent.names_metric
        and any(moves(about))
        and not any(moves(sought.intent.core))
        and not (begins_one("expected", sought.intent.core) and begins_one("expected", text))
    ):
        return None  # by how much a measure moved, where the measure itself is asked for
    if begins_one("expected", sought.intent.core) and not begins_one("expected", f"{text} {nearby}"):
        return None
    later = sought.later_years
    if later and not any(year in f"{text} {nearby}" for year in later):
        return None
    if not is_of_its_period(about, sought, filed) or not _says_what_is_ranked(text, sought):
        return None
    fitness = _fitness(text, about, sought)
    return borne * fitness / (1 + len(text.split()) / _LONG) if fitness else None


def _subject_of(text: str, part: Part) -> str | None:
    """What of a sentence must be about the question: up to the reason where one is given or a figure is stated there.

    None where the figure wanted stands in the reason alone: `rose due to $4 million of freight` tells no rise.
    """
    if part.wants is not Wants.CAUSE and part.wants not in FIGURES:
        return text
    before = before_the_cause(text)
    if part.wants is Wants.CAUSE or before == text:
        return before
    return before if found_in(before, part) else text


def _is_enough(borne: float, said: set[str], around: set[str], before: set[str], sought: Sought) -> bool:
    """Whether what a text bears out of a part, `borne` by weight, makes it an answer: by its rarest words, too."""
    own = [term for term in sought.terms if not term.is_context and not term.is_everyday] or list(sought.terms)
    everything = said | around
    if any(term.is_name and not term.borne_out(everything | before) for term in own):
        return False
    if sought.part.wants in FIGURES and not _says_the_operands(sought.intent, said):
        return False
    present = [term for term in own if not term.is_absent]
    if len(present) <= _PRESENT_FOR_AN_ABSENT * (len(own) - len(present)):
        return False
    telling = max(present, key=lambda term: term.weight)
    if not telling.borne_out(everything | before if telling.is_name else everything):
        return False
    wants = sought.part.wants
    if len(own) <= _FEW and wants in (*FIGURES, *_FACTS) and not all(term.borne_out(everything) for term in present):
        return False
    borne_out = [term for term in sought.terms if term.borne_out(everything | before) and not term.is_everyday]
    if wants in _ONLY_WORDS and len(borne_out) == 1 and borne_out[0].weight < _LEAST_EVIDENCE:
        return False
    return round(borne, 6) >= _ENOUGH_OF.get(wants, _ENOUGH)


def _says_the_operands(intent: Intent, said: set[str]) -> bool:
    """Whether a text says what a formula of the question is made of: `R&D per month` is told by no `R&D was ...`."""
    measures = intent.query.measures if intent.query is not None else ()
    lines = [line for one in measures if isinstance(one, Operation) for line in lines_of(one)]
    unknown = (line.words for line in lines if isinstance(line, Line) and not line.metric)
    return all((set(stems_in(words)) or {words}) <= said for words in unknown)


def is_of_its_period(text: str, sought: Sought, filed: int | None) -> bool:
    """Whether a figure or a reason is not of another time than the one asked about."""
    asked = {period.fiscal_year for period in sought.intent.periods}
    years = {int(year) for year in _YEAR.findall(text)}
    if asked and filed is not None and filed < min(asked) and not years & asked:
        return False  # filed before it
    if not asked or (sought.part.wants is not Wants.CAUSE and sought.part.wants not in FIGURES):
        return True
    if sought.part.wants is Wants.CAUSE:
        whole = all(period.quarter is None for period in sought.intent.periods)
        return (not years or bool(years & asked)) and not (whole and years and _INTERIM.search(text))
    next_year = {year + 1 for year in asked}
    in_time = filed is None or filed in asked | next_year
    near = (
        asked | {int(year) for year in sought.later_years} | (next_year if filed is None or filed in asked else set())
    )
    return bool(years & near) or (in_time and max(years) > max(asked)) if years else in_time


def _says_what_is_ranked(text: str, sought: Sought) -> bool:
    """Whether a text ranks where a rank is asked for."""
    core = re.sub(r"\bat (?:most|least)\b", "", sought.intent.core)
    return not phrase_in("superlatives", core) or phrase_in("superlatives", text)


def _fitness(text: str, about: str, sought: Sought) -> float:
    """How far words are of the year asked about, of the movement asked for, and more than one of a list."""
    intent, wants = sought.intent, sought.part.wants
    years, asked = {int(year) for year in _YEAR.findall(about)}, {period.fiscal_year for period in intent.periods}
    asked |= {int(year) for year in _YEAR.findall(intent.core)}
    fitness = 1.0
    if years and asked:
        fitness *= _ITS_YEAR if years & asked else _OTHER_YEAR
    if phrase_in("conditionals", text) and not _RISKS.search(intent.core):
        fitness *= _HEDGED
    if wants is Wants.LIST and phrase_in("transactions", sought.part.text):  # what was done is told with its day
        fitness *= (_LIST if _DATED.search(text) else 1.0) * (1.0 if phrase_in("transacted", text) else _NOT_DONE)
    elif wants is Wants.LIST and is_enumeration(text):
        fitness *= _LIST
    if wants is Wants.CAUSE:
        (up, down), (risen, fallen) = moves(text[: len(about) + _VERB]), moves(intent.core)
        fitness *= _THE_OTHER_WAY if risen != fallen and (up, down) == (fallen, risen) else 1.0
        fitness *= 1.0 if sought.lexicon is None or _is_of_the_measure(about, intent.core, sought.lexicon) else 0.0
    return fitness


def _is_of_the_measure(about: str, core: str, lexicon: Lexicon) -> bool:
    """Whether a sentence is about the measure asked for first, or gives it as the share that it is of another."""
    wanted, named = (_measures(text, lexicon) for text in (core, about))
    return not (wanted and named) or wanted[0] in named or named[0] == ratio_of(wanted[0], lexicon)[0]


def _measures(text: str, lexicon: Lexicon) -> list[str]:
    """The measures that words are about, in order: `gross margin was 57.7% of revenues` is not about revenues."""
    return [
        mention.id.removesuffix("_reported")
        for mention in sorted(lexicon.mentions(text), key=lambda one: (one.start, -one.end, one.id))
        if not _SHARE_OF.search(text[: mention.start])
    ]


def _lists(
    paragraphs: Sequence[Paragraph], passage: RetrievedPassage, place: int, worth: float, sought: Sought
) -> Iterator[Candidate]:
    """Lists that a sentence or a heading announces, whole."""
    if sought.part.wants not in (Wants.LIST, Wants.CAUSE, Wants.SENTENCE):
        return
    for printed in printed_lists(paragraphs):
        if sought.part.wants is Wants.CAUSE and not phrase_in("causes", printed.lead):
            continue
        if sought.part.wants is not Wants.CAUSE and len(printed.items) < _FEWEST_MEMBERS:
            continue
        if any(item[:1].isdigit() or item[:1] in "$(" for item in printed.items):
            continue  # cells of a table
        found = _worth(printed.lead, printed.lead, printed.heading, sought, None)
        if found is not None:
            better = _LIST if sought.part.wants is not Wants.SENTENCE else 1.0
            yield Candidate(
                printed.text, passage, place, printed.position, printed.last, worth * found * better, alone=True
            )


def _names(passage: RetrievedPassage, place: int, worth: float, sought: Sought) -> Iterator[Candidate]:
    """Who signs a report, who holds an office, who the officers are."""
    wants, core = sought.part.wants, sought.part.text
    if wants is Wants.FIRM:
        signed = _REPORT.search(passage.text) is not None or "auditor since" in passage.text
        said = set(stems_in(passage.text))
        signed = signed and all(term.borne_out(said) or term.is_everyday for term in sought.terms)
        for firm in firms_in(passage.text)[:1]:
            if signed:
                last = [text for paragraph in paragraphs_of(passage.text) for text in paragraph.sentences]
                yield Candidate(f"{firm}.", passage, place, 0, 0, worth * _LIST, alone=True, following=tuple(last))
        return
    people = people_in(passage.text) if wants in (Wants.PERSON, Wants.OFFICERS) else []
    if wants is Wants.OFFICERS and people:
        listed = "; ".join(f"{person.name}, {title_now(person.title)}" for person in people)
        score = worth * _LIST * min(1.0, len(people) / 4)
        yield Candidate(f"{listed}.", passage, place, 0, 0, score, alone=True)
    elif wants is Wants.PERSON and is_title(core):
        asked = [set(stems_in(way)) for way in office_asked(core)]
        for position, person in enumerate(people):
            for office in offices_of(person.title):
                stems = set(stems_in(office))
                beside = {each for term in sought.terms for each in term.stems} | set(stems_in("board of directors"))
                fits = any(way <= stems and stems - way <= beside for way in asked) if asked else (
                    coverage(sought.terms, stems) >= _ENOUGH and stems <= beside
                )  # fmt: skip
                if fits:
                    text = f"{person.name}, {title_now(person.title)}."
                    yield Candidate(text, passage, place, position, position, worth * _LIST, alone=True)
                    break
