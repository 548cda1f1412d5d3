"""Candidate answers to one part of a question: sentences, lists and names of passages, with scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fin_agent.analyst.rules.reasoning.answer_type_matching import (
    before_the_cause,
    contains_listed_phrase,
    has_listed_prefix,
    matches_in,
    matches_type,
    movement_directions,
)
from fin_agent.analyst.rules.reasoning.people_and_firms import (
    current_title,
    firms_in,
    is_title,
    names_holder,
    offices_of,
    people_in,
    requested_office,
)
from fin_agent.analyst.rules.reasoning.question_parts import FIGURES, AnswerType, QuestionPart
from fin_agent.analyst.rules.reasoning.sentence_splitting import (
    Paragraph,
    is_complete_sentence,
    is_enumeration,
    paragraphs_of,
    printed_lists,
)
from fin_agent.analyst.rules.reasoning.term_coverage import Term, coverage, ratio_of, stems_in
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.text_normalization import places_of
from fin_agent.query.tree import Line, Operation, lines_of
from fin_agent.vocabulary.dates import printed_years
from fin_agent.vocabulary.filing import PassageKind

_ENOUGH = 0.6
"""Share of a part's word weight that a text must cover; higher for less specific answer types."""
_ENOUGH_OF = {
    **dict.fromkeys(FIGURES, 0.83),
    **dict.fromkeys((AnswerType.SENTENCE, AnswerType.LIST), 0.8),
    **dict.fromkeys((AnswerType.VERDICT, AnswerType.PERSON), 0.75),
}
_FEW = 3
_LEAST_EVIDENCE = 2.5
"""Weight of a word that alone makes a sentence an answer if the answer type is unspecific; `customers` is below it."""
_PRESENT_FOR_AN_ABSENT = 2
"""One missing word counts as paraphrased if this many are present per missing one; otherwise it is the subject."""
_FACTS = frozenset({AnswerType.DATE, AnswerType.PERSON, AnswerType.PLACE})
_ONLY_WORDS = frozenset({AnswerType.SENTENCE, AnswerType.PERSON, AnswerType.VERDICT})
_ITS_YEAR, _OTHER_YEAR, _A_YEAR_OLDER, _OTHER_FILING, _OTHER_TIME = 1.15, 0.7, 0.9, 0.8, 0.5
_BEHIND = 0.997
_LAST_QUARTER = 4
_HEDGED, _LIST, _THE_OTHER_WAY, _BESIDE_ITS_SUBJECT = 0.75, 2.0, 0.25, 0.7
_NOT_DONE = 0.2
_WITHIN = 45
"""Characters of a sentence in which its date is."""
_LONG = 120
"""Number of words at which a text counts half as much."""
_VERB = 12
"""Characters of a cause that may contain the verb: `grew on orders`."""
_GOES_ON = (";", ",", ":", " and")
_FEWEST_MEMBERS, _MOST_FOLLOWING = 2, 4
_SHORT_WORD, _LONG_TITLE, _CAPITALS, _SHORT_POINTER = 3, 12, 0.75, 160


@dataclass(frozen=True, slots=True)
class AnswerTarget:
    """One part of a question, prepared for comparison with texts."""

    intent: Intent
    part: QuestionPart
    terms: tuple[Term, ...]
    lexicon: Lexicon | None = None
    later_years: frozenset[str] = frozenset()
    """Years in the question later than all filings: only texts that name them are about them."""


class FilingPeriod(NamedTuple):
    """The period of a filing."""

    year: int | None = None
    quarter: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words of a passage that may be an answer."""

    text: str
    passage: RetrievedPassage
    place: int
    """Index of the passage among those read."""
    position: int
    last: int
    """Positions of its first and last sentence in the passage."""
    score: float
    alone: bool = False
    """Whether it is a complete answer: a list, a name."""
    following: tuple[str, ...] = field(default=(), repr=False)
    """The sentences after it."""


def candidates_of(
    target: AnswerTarget, passages: Sequence[tuple[RetrievedPassage, FilingPeriod]]
) -> Iterator[Candidate]:
    """Yield the candidates that are of the answer type and cover enough of the question."""
    latest = max((filed.year for _, filed in passages if filed.year), default=None)
    for place, (passage, filed) in enumerate(passages):
        worth, year = _BEHIND**place * _period_fit(filed, latest, target), filed.year
        if passage.kind is not PassageKind.TABLE:
            paragraphs = paragraphs_of(passage.text)
            yield from _sentences(paragraphs, passage, place, worth, target, year)
            yield from _lists(paragraphs, passage, place, worth, target)
        yield from _names(passage, place, worth, target)


def _period_fit(filed: FilingPeriod, latest: int | None, target: AnswerTarget) -> float:
    """Return how well a passage's filing fits the requested periods; without any, the latest filing fits best."""
    asked = {period.fiscal_year for period in target.intent.periods}
    if filed.year is None or latest is None:
        return 1.0
    if not asked:
        return float(_A_YEAR_OLDER ** (latest - filed.year))
    if filed.year not in asked:
        return _OTHER_FILING if filed.year - 1 in asked else _OTHER_TIME
    quarters = {period.quarter for period in target.intent.periods}
    own = None if filed.quarter == _LAST_QUARTER else filed.quarter
    if own in quarters or filed.quarter in quarters:
        return 1.0
    return _OTHER_TIME if target.part.answer_type is AnswerType.CAUSE else _OTHER_FILING


def _sentences(
    paragraphs: Sequence[Paragraph],
    passage: RetrievedPassage,
    place: int,
    worth: float,
    target: AnswerTarget,
    filed: int | None,
) -> Iterator[Candidate]:
    flat = [(one, paragraph) for paragraph in paragraphs for one in paragraph.sentences]
    texts = [one for one, _ in flat]
    for position, (lead, paragraph) in enumerate(flat):
        if not _is_self_contained(lead, paragraph):
            continue
        first, last, text = position, position, lead
        before = texts[position - 1] if position else ""
        if (
            position
            and contains_listed_phrase("pointing back", lead)
            and is_complete_sentence(before)
            and flat[position - 1][1] is paragraph
        ):
            text, first = f"{before} {lead}", position - 1
        after = texts[position + 1] if position + 1 < len(texts) else ""
        if (
            target.part.answer_type in (AnswerType.CAUSE, AnswerType.SENTENCE)
            and contains_listed_phrase("pointing back", after)
            and is_complete_sentence(after)
        ):
            text, last = f"{text} {after}", position + 1
        if (
            paragraph.item
            and text == lead == paragraph.sentences[0]
            and len(" ".join(paragraph.sentences)) < _SHORT_ITEM
        ):
            text, last = " ".join(paragraph.sentences), position + len(paragraph.sentences) - 1
        before = f"{paragraph.heading} {_headings_above(texts[first], passage.text)}"
        found = _candidate_score(lead, text, paragraph.heading, target, filed, before=before)
        if found is None:
            continue
        following = tuple(texts[last + 1 : last + 1 + _MOST_FOLLOWING])
        yield Candidate(text, passage, place, first, last, worth * found, following=following)


def _headings_above(sentence: str, text: str) -> str:
    """Return the text above a sentence in its passage, including tables."""
    begins = places_of(" ".join(sentence.split()[:_FIRST_WORDS]), text)
    return text[max(0, begins[0][0] - _MOST_ABOVE) : begins[0][0]] if begins else ""


_FIRST_WORDS, _MOST_ABOVE = 5, 2000
_SHORT_ITEM = 300


def _is_self_contained(lead: str, paragraph: Paragraph) -> bool:
    """Return whether a sentence is complete, and does not only announce or refer to something."""
    if lead.endswith(_GOES_ON) or contains_listed_phrase("contract", lead):
        return False
    words = [word for word in lead.split() if len(word) > _SHORT_WORD and word[0].isalpha()]
    if len(words) < _LONG_TITLE and sum(word[0].isupper() for word in words) > _CAPITALS * len(words):
        return False
    low = lead.lower()
    points = low.startswith(("see ", "refer ", "for more ", "for further ", "for additional ", "please refer"))
    if contains_listed_phrase("footnotes", lead):
        return False  # its subject is a row of a table elsewhere
    if points or "by reference" in lead or (len(lead) < _SHORT_POINTER and contains_listed_phrase("pointers", lead)):
        return False
    return is_complete_sentence(lead) or (paragraph.item and not lead[:1].islower())


def _candidate_score(
    lead: str, text: str, nearby: str, target: AnswerTarget, filed: int | None, *, before: str = ""
) -> float | None:
    """Return the score of a text as an answer; None if it is not of the answer type or covers too little."""
    part, terms = target.part, target.terms
    if not matches_type(text, part):
        return None
    if text != lead and part.answer_type in (*FIGURES, *_FACTS) and not matches_type(lead, part):
        return None  # a date or figure of the sentence that it refers to
    office = requested_office(part.text) if part.answer_type is AnswerType.PERSON else frozenset()
    if office and not names_holder(text, office):
        return None
    about = _subject_of(text, part)
    if about is None:
        return None
    said, around = set(stems_in(about)), set(stems_in(nearby))
    farther = set(stems_in(before)) if part.answer_type is AnswerType.CAUSE or part.answer_type in FIGURES else set()
    by_itself = f"{nearby} {text}" if part.answer_type is AnswerType.CAUSE else text
    if part.answer_type is not AnswerType.BUSINESS and not any(
        term.is_mentioned_in(stems_in(by_itself)) for term in terms
    ):
        return None
    borne = coverage(terms, said, around, farther)
    whole = coverage(terms, stems_in(text), around, farther)
    if part.answer_type is AnswerType.CAUSE:
        borne = max(borne, _BESIDE_ITS_SUBJECT * whole)
    if part.answer_type is AnswerType.BUSINESS:
        leading = 1 + contains_listed_phrase("leading", text)
        return leading / (1 + len(text.split()) / _LONG)
    if part.answer_type is AnswerType.CAUSE:
        said |= set(stems_in(text))
    if not _covers_enough(borne, said, around, farther, target):
        return None
    if (
        part.answer_type in FIGURES
        and target.intent.names_metric
        and any(movement_directions(about))
        and not any(movement_directions(target.intent.core))
        and not (has_listed_prefix("expected", target.intent.core) and has_listed_prefix("expected", text))
    ):
        return None  # a change, where the measure itself is requested
    if has_listed_prefix("expected", target.intent.core) and not has_listed_prefix("expected", f"{text} {nearby}"):
        return None
    later = target.later_years
    if later and not any(year in f"{text} {nearby}" for year in later):
        return None
    if not matches_period(about, target, filed) or not _states_a_ranking(text, target):
        return None
    fitness = _fitness(text, about, target)
    return borne * fitness / (1 + len(text.split()) / _LONG) if fitness else None


def _subject_of(text: str, part: QuestionPart) -> str | None:
    """Return the subject of a sentence: the words before a reason, if it gives one or states the figure there.

    None if the requested figure is in the reason alone: `rose due to $4 million of freight` states no rise.
    """
    if part.answer_type is not AnswerType.CAUSE and part.answer_type not in FIGURES:
        return text
    before = before_the_cause(text)
    if part.answer_type is AnswerType.CAUSE or before == text:
        return before
    return before if matches_in(before, part) else text


def _covers_enough(borne: float, said: set[str], around: set[str], before: set[str], target: AnswerTarget) -> bool:
    """Return whether the covered weight `borne` makes a text an answer, considering the rarest words as well."""
    own = [term for term in target.terms if not term.is_context and not term.is_everyday] or list(target.terms)
    everything = said | around
    if any(term.is_name and not term.coverage_in(everything | before) for term in own):
        return False
    if target.part.answer_type in FIGURES and not _mentions_operands(target.intent, said):
        return False
    present = [term for term in own if not term.is_absent]
    if len(present) <= _PRESENT_FOR_AN_ABSENT * (len(own) - len(present)):
        return False
    telling = max(present, key=lambda term: term.weight)
    if not telling.coverage_in(everything | before if telling.is_name else everything):
        return False
    wants = target.part.answer_type
    if len(own) <= _FEW and wants in (*FIGURES, *_FACTS) and not all(term.coverage_in(everything) for term in present):
        return False
    borne_out = [term for term in target.terms if term.coverage_in(everything | before) and not term.is_everyday]
    if wants in _ONLY_WORDS and len(borne_out) == 1 and borne_out[0].weight < _LEAST_EVIDENCE:
        return False
    return round(borne, 6) >= _ENOUGH_OF.get(wants, _ENOUGH)


def _mentions_operands(intent: Intent, said: set[str]) -> bool:
    """Return whether a text mentions the formula's operands: no `R&D was ...` answers `R&D per month`."""
    measures = intent.query.measures if intent.query is not None else ()
    lines = [line for one in measures if isinstance(one, Operation) for line in lines_of(one)]
    unknown = (line.words for line in lines if isinstance(line, Line) and not line.metric)
    return all((set(stems_in(words)) or {words}) <= said for words in unknown)


def matches_period(text: str, target: AnswerTarget, filed: int | None) -> bool:
    """Return whether a figure or a reason is not about a different time than the requested one."""
    asked = {period.fiscal_year for period in target.intent.periods}
    years = set(printed_years(text))
    if asked and filed is not None and filed < min(asked) and not years & asked:
        return False  # filed before the requested period
    if not asked or (target.part.answer_type is not AnswerType.CAUSE and target.part.answer_type not in FIGURES):
        return True
    if target.part.answer_type is AnswerType.CAUSE:
        whole = all(period.quarter is None for period in target.intent.periods)
        return (not years or bool(years & asked)) and not (whole and years and contains_listed_phrase("interim", text))
    if not any(period.quarter for period in target.intent.periods) and _is_of_part_of_a_year(text):
        return False
    next_year = {year + 1 for year in asked}
    in_time = filed is None or filed in asked | next_year
    near = (
        asked | {int(year) for year in target.later_years} | (next_year if filed is None or filed in asked else set())
    )
    return bool(years & near) or (in_time and max(years) > max(asked)) if years else in_time


def _is_of_part_of_a_year(text: str) -> bool:
    """Return whether a text dates its figures by quarters or half-years alone, and not by the end of one."""
    lower = text.lower()
    if not any(word in lower for word in _PARTS_OF_A_YEAR) or "end of" in lower or "as of" in lower:
        return False
    mentions = parse_periods(text).mentions
    return bool(mentions) and all(one.quarter or one.half or one.months in (3, 6, 9) for one in mentions)


_PARTS_OF_A_YEAR = ("quarter", "months", "half")


def _states_a_ranking(text: str, target: AnswerTarget) -> bool:
    """Return whether a text ranks, if a rank is requested."""
    core = target.intent.core.lower().replace("at most", "").replace("at least", "")
    return not contains_listed_phrase("superlatives", core) or contains_listed_phrase("superlatives", text)


def _fitness(text: str, about: str, target: AnswerTarget) -> float:
    """Return the fit of a text: the year, the movement, and more than one item of a list."""
    intent, wants = target.intent, target.part.answer_type
    years, asked = set(printed_years(about)), {period.fiscal_year for period in intent.periods}
    asked.update(printed_years(intent.core))
    fitness = 1.0
    if years and asked:
        fitness *= _ITS_YEAR if years & asked else _OTHER_YEAR
    if contains_listed_phrase("conditionals", text) and not contains_listed_phrase("risks", intent.core):
        fitness *= _HEDGED
    if wants is AnswerType.LIST and contains_listed_phrase(
        "transactions", target.part.text
    ):  # an action is stated with its day
        fitness *= (_LIST if _is_dated(text) else 1.0) * (
            1.0 if contains_listed_phrase("transacted", text) else _NOT_DONE
        )
    elif wants is AnswerType.LIST and is_enumeration(text):
        fitness *= _LIST
    if wants is AnswerType.CAUSE:
        (up, down), (risen, fallen) = movement_directions(text[: len(about) + _VERB]), movement_directions(intent.core)
        fitness *= _THE_OTHER_WAY if risen != fallen and (up, down) == (fallen, risen) else 1.0
        fitness *= 1.0 if target.lexicon is None or _is_about_measure(about, intent.core, target.lexicon) else 0.0
    return fitness


def _is_dated(text: str) -> bool:
    return contains_listed_phrase("dated", text) and bool(printed_years(text[:_WITHIN]))


def _is_about_measure(about: str, core: str, lexicon: Lexicon) -> bool:
    """Return whether a sentence is about the first requested measure, or gives it as a share of another."""
    wanted, named = (_measures(text, lexicon) for text in (core, about))
    return not (wanted and named) or wanted[0] in named or named[0] == ratio_of(wanted[0], lexicon)[0]


def _measures(text: str, lexicon: Lexicon) -> list[str]:
    """Return the measures that a text is about, in order: `margin was 57.7% of revenues` is not about revenues."""
    return [
        mention.id.removesuffix("_reported")
        for mention in sorted(lexicon.mentions(text), key=lambda one: (one.start, -one.end, one.id))
        if not contains_listed_phrase("share of", text[: mention.start])
    ]


def _lists(
    paragraphs: Sequence[Paragraph], passage: RetrievedPassage, place: int, worth: float, target: AnswerTarget
) -> Iterator[Candidate]:
    """Yield complete lists announced by a sentence or heading."""
    if target.part.answer_type not in (AnswerType.LIST, AnswerType.CAUSE, AnswerType.SENTENCE):
        return
    for printed in printed_lists(paragraphs):
        if target.part.answer_type is AnswerType.CAUSE and not contains_listed_phrase("causes", printed.lead):
            continue
        if target.part.answer_type is not AnswerType.CAUSE and len(printed.items) < _FEWEST_MEMBERS:
            continue
        if any(item[:1].isdigit() or item[:1] in "$(" for item in printed.items):
            continue  # cells of a table
        found = _candidate_score(printed.lead, printed.lead, printed.heading, target, None)
        if found is not None:
            better = _LIST if target.part.answer_type is not AnswerType.SENTENCE else 1.0
            yield Candidate(
                printed.text, passage, place, printed.position, printed.last, worth * found * better, alone=True
            )


def _names(passage: RetrievedPassage, place: int, worth: float, target: AnswerTarget) -> Iterator[Candidate]:
    """Yield signatories of a report, holders of an office, and officers."""
    wants, core = target.part.answer_type, target.part.text
    if wants is AnswerType.FIRM:
        signed = contains_listed_phrase("report of auditors", passage.text) or "auditor since" in passage.text
        said = set(stems_in(passage.text))
        signed = signed and all(term.coverage_in(said) or term.is_everyday for term in target.terms)
        for firm in firms_in(passage.text)[:1]:
            if signed:
                last = [text for paragraph in paragraphs_of(passage.text) for text in paragraph.sentences]
                yield Candidate(f"{firm}.", passage, place, 0, 0, worth * _LIST, alone=True, following=tuple(last))
        return
    people = people_in(passage.text) if wants in (AnswerType.PERSON, AnswerType.OFFICERS) else []
    if wants is AnswerType.OFFICERS and people:
        listed = "; ".join(f"{person.name}, {current_title(person.title)}" for person in people)
        score = worth * _LIST * min(1.0, len(people) / 4)
        yield Candidate(f"{listed}.", passage, place, 0, 0, score, alone=True)
    elif wants is AnswerType.PERSON and is_title(core):
        asked = [set(stems_in(way)) for way in requested_office(core)]
        for position, person in enumerate(people):
            for office in offices_of(person.title):
                stems = set(stems_in(office))
                beside = {each for term in target.terms for each in term.stems} | set(stems_in("board of directors"))
                fits = any(way <= stems and stems - way <= beside for way in asked) if asked else (
                    coverage(target.terms, stems) >= _ENOUGH and stems <= beside
                )  # fmt: skip
                if fits:
                    text = f"{person.name}, {current_title(person.title)}."
                    yield Candidate(text, passage, place, position, position, worth * _LIST, alone=True)
                    break
