"""Candidate answers to one part of a question: sentences, lists and names of passages, with scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, takewhile
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from fin_agent.analyst.rules.reasoning.question_parts import FIGURES, AnswerType, QuestionPart, cover_attribute
from fin_agent.analyst.rules.reasoning.sentence_splitting import (
    Paragraph,
    begins_sentence,
    is_complete_sentence,
    is_enumeration,
    paragraphs_of,
    printed_lists,
)
from fin_agent.analyst.rules.reasoning.term_coverage import Term, coverage, ratio_of, stems_in, synonyms_of, tied_share
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.company_names import company_words
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.phrase_matching import Mention
from fin_agent.lexicon.text_normalization import places_of, words_in
from fin_agent.lexicon.words import any_of, finds, listed, patterns, word_lists
from fin_agent.query.tree import Line, Operation, lines_of, share_of
from fin_agent.vocabulary.dates import MONTHS, printed_dates, printed_years
from fin_agent.vocabulary.filing import PassageKind

_WORDS_BEHIND, _CURRENCIES = 6, ("$", "€", "£")
_BESIDE_A_NAME = 60
"""Characters between a name and the office that it holds, and from a superlative to what it ranks."""
_CAUSE_IS_FIRST = 12


def matches_type(text: str, part: QuestionPart) -> bool:
    """Return whether a text is of the answer type. Lists, verdicts and plain words have no mark of their own."""
    wants = part.answer_type
    if wants is AnswerType.CAUSE:
        return _is_composed(text, part.text) or contains_listed_phrase("causes", text)
    known = patterns("answer_patterns")
    pattern = known.get(wants.name.lower())
    if asks_transactions(part):
        return known["transaction"].search(text) is not None
    if wants is AnswerType.VERDICT and known["percent"].search(part.text):
        return known["percent"].search(text) is not None  # `did any customer account for more than 10% of revenue`
    if pattern is None:
        return True
    if wants is AnswerType.PRACTICE:
        pattern = next((known[kind] for kind in ("method", "hedging") if kind in part.text.lower()), pattern)
    if wants is AnswerType.PERSON:
        text = listed("answer_words", "pronouns").split(text, maxsplit=1)[0]  # `In 2014, he became ...` names nobody
        return any(_is_holder(found, part.text) for found in pattern.finditer(text))
    if wants is AnswerType.DATE and finds(part.text, "beginning asked", "answer_words"):
        return finds(text, "beginnings", "answer_words") and pattern.search(text) is not None
    if wants is AnswerType.BUSINESS:
        introduced = contains_listed_phrase("introductions", text)
        return introduced and not contains_listed_phrase("no introductions", text) and pattern.search(text) is not None
    return _holds_figure(text, part, pattern) if wants in FIGURES else pattern.search(text) is not None


def asks_transactions(part: QuestionPart) -> bool:
    """Return whether a part asks for a list of what was bought or sold."""
    return part.answer_type is AnswerType.LIST and contains_listed_phrase("transactions", part.text)


def _holds_figure(text: str, part: QuestionPart, pattern: re.Pattern[str]) -> bool:
    """Return whether a text has a number of the type that a part asks for, or a range if it asks for one."""
    wants, known = part.answer_type, patterns("answer_patterns")
    if wants not in _SPELT_OUT and not any(map(str.isdigit, text)) and not known["percent"].search(text):
        return False
    if finds(part.text, "paid for", "answer_words") and not known["price"].search(text):
        return False  # `sales of the newly acquired banners totaled $244 million` is no price
    if finds(part.text, "received for", "answer_words") and not known["received"].search(text):
        return False  # nor is an impairment what a sale brought
    if patterns("asked_patterns")["range"].search(part.text) and not known["range"].search(text):
        return False
    if wants in (AnswerType.COUNT, AnswerType.NUMBER):
        text = known["no_figure"].sub("", text)
    if ("%" in text or "percent" in text.lower()) and known["threshold"].search(part.text) is None:
        text = known["threshold"].sub("", text)  # `no other customer accounted for 10 percent or more`
    if wants in _AT_REST and not any(has_listed_prefix(kind, part.text) for kind in _OF_A_CHANGE):
        text = known["change"].sub("", text)
    if wants is AnswerType.COUNT:
        return any(_counts(found, part.counted) for found in pattern.finditer(text))
    return pattern.search(text) is not None


def _is_holder(name: re.Match[str], asked: str) -> bool:
    """Return whether a name is a person's, and beside an office where one is asked for; an office is nobody's name."""
    if _is_title(name[0]) or not word_lists("answer_words")["no persons"].isdisjoint(words_in(name[0].lower())):
        return False
    if not finds(asked, "holder asked", "answer_words"):
        return True
    around = name.string[max(0, name.start() - _BESIDE_A_NAME) : name.end() + _BESIDE_A_NAME]
    offices = (word_lists("same_words")[office] for office in word_lists("answer_words")["offices"])
    return all(any_of(office).search(around) for office in offices if any_of(office).search(asked))


def _counts(number: re.Match[str], noun: str) -> bool:
    """Return whether a number counts `noun`, or what it stands for: `8,450 employees` are a headcount."""
    wanted = [frozenset(stems_in(noun)[-1:]), *synonyms_of(noun), *synonyms_of("".join(noun.split()[-1:]))]
    ends = word_lists("answer_words")["behind what is counted"]
    words_behind = number.string[number.end() :].split()[:_WORDS_BEHIND]
    behind = list(takewhile(lambda word: word not in ends and not word.startswith(_CURRENCIES), words_behind))
    if behind[:1] in (["million"], ["billion"]) and number.string[: number.start()].endswith(_CURRENCIES):
        return False
    if set(number.string[: number.start()].split()[-1:]) & set(noun.split()):
        return False  # `Ryzen 5000 processors`: the number is a part of the name
    if any(map(str.isdigit, noun)):
        if number[0] in noun:
            return False  # the `787` of `787 aircraft` counts none
        behind = behind[:1]  # `27 737s`: a designation is itself a number
    # `15 Employee Resource Groups` counts groups: a capital makes a word part of a name, not in `11 units of Bitcoin`.
    # Nor in `31.4 GWh` where GWh are asked for.
    plain = (word for of, word in pairwise(["", *behind]) if of == "of" or word in noun or not word[:1].isupper())
    said = stems_in(" ".join(plain))
    known, before = patterns("sentence_patterns"), number.string[: number.start()]
    subject = known["is of"].search(before) or known["of these"].match(before)
    named = stems_in(subject["noun"])[-1:] if subject else ()
    return any(words.issubset(said) or words.issubset(named) for words in wanted)


def contains_listed_phrase(kind: str, text: str) -> bool:
    """Return whether a text contains a phrase of a list in `answer_words.yaml`."""
    if kind == "causes":
        return _cause(text) is not None
    if kind == "conditionals":
        text = text.replace("May ", "")  # the month
    return finds(text, kind, "answer_words")


def before_the_cause(text: str) -> str:
    """Return the explained part of a sentence: its words before the reason, or all of it if the reason comes first.

    >>> before_the_cause("Margin rose, primarily due to lower freight.")
    'Margin rose, primarily '
    """
    found = _cause(text)
    return text[: found.start()] if found and found.start() > _CAUSE_IS_FIRST else text


def _is_composed(text: str, asked: str) -> bool:
    """Return whether a text tells what an amount is made up of: that is why it moved."""
    made_up = listed("answer_words", "consists").search(text) if any(movement_directions(asked)) else None
    return made_up is not None and patterns("answer_patterns")["amount"].search(text[: made_up.start()]) is not None


def _cause(text: str) -> re.Match[str] | None:
    """Return the words that give a reason, also behind a movement: `recovered on new orders`."""
    causes, others = listed("answer_words", "causes"), listed("answer_words", "no causes")
    return next((found for found in causes.finditer(text) if not others.match(text, found.start())), None)


def movement_directions(text: str) -> tuple[bool, bool]:
    """Return (whether a text says that something rose, whether it says that something fell)."""
    return has_listed_prefix("up", text), has_listed_prefix("down", text)


def has_listed_prefix(kind: str, text: str) -> bool:
    """Return whether a text has a word of a list in `answer_words.yaml`, not as a particle: `projected obligation`."""
    return finds(listed("answer_words", "particles").sub("", text), kind, "answer_words")


_ENOUGH = {
    **dict.fromkeys(AnswerType, 0.6),
    **dict.fromkeys(FIGURES, 0.83),
    **dict.fromkeys((AnswerType.VERDICT, AnswerType.PERSON), 0.75),
    AnswerType.SENTENCE: 0.7,
    AnswerType.LIST: 0.8,
    AnswerType.DEFINITION: 0.9,
}
"""Share of a part's word weight that a text must cover; higher for less specific answer types."""
_TIED = 0.15
"""How much less of them is enough of a figure if all words stand together as in the question."""
_LEAST_EVIDENCE = 2.5
"""Weight of a word that alone makes a sentence an answer if the answer type is unspecific; `customers` is below it."""
_PRESENT_FOR_AN_ABSENT = 2
"""One missing word counts as paraphrased if this many are present per missing one; otherwise it is the subject."""
_FEW = 3
_AT_REST = FIGURES - {AnswerType.COUNT}
"""Of these how far something moved is none, unless the question is about a movement."""
_OF_A_CHANGE = ("up", "down", "change asked", "expected")
_COMPARED = frozenset({AnswerType.SENTENCE, AnswerType.VERDICT})
_SPELT_OUT = frozenset({AnswerType.COUNT, AnswerType.DURATION})
"""Figures that sentences also print in words."""
_FACTS = frozenset({AnswerType.DATE, AnswerType.PERSON, AnswerType.BUYER, AnswerType.PLACE})
_OF_AN_EVENT = _FACTS | {AnswerType.SENTENCE, AnswerType.DECISION}
_OF_CASES = frozenset({AnswerType.ALLEGATION, AnswerType.OUTCOME, AnswerType.STATUS})
"""Told of a suit or a deal that is named above the sentence."""
_GOING_ON = frozenset({AnswerType.CAUSE, AnswerType.SENTENCE, AnswerType.ALLEGATION, AnswerType.TERMS})
"""What a sentence tells with the one behind it."""
_UNDATED, _SPANS = 3, ("spans", "a quarter")
"""Years before its filing that the state of a suit is taken to be told of without a date."""
_ONLY_WORDS = frozenset(
    {AnswerType.SENTENCE, AnswerType.PERSON, AnswerType.VERDICT, AnswerType.TERMS, AnswerType.STATUS}
).union((AnswerType.BUYER, AnswerType.CONDITION))
_ITS_YEAR, _OTHER_YEAR, _A_YEAR_OLDER, _OTHER_FILING, _OTHER_TIME = 1.15, 0.7, 0.9, 0.8, 0.5
_BEHIND = 0.997
_HEDGED, _LIST, _NAMED, _OF_A_UNIT, _OTHER_SPAN = 0.75, 2.0, 3.0, 0.5, 0.8
_LONG = 120
"""Number of words at which a text counts half as much."""
_DATE_WITHIN = 45
"""Characters of a sentence in which its date is."""
_OUTLOOK = 1000
"""Characters above a sentence in which the period of an outlook is told: `First Quarter 2025 Guidance`."""
_SUBJECT = 2
"""Words of a movement's subject by which it is compared with that of the sentence before."""
_VERB = 12
"""Characters of a cause that may contain the verb: `grew on orders`."""
_MOST_ABOVE, _NEAR_ABOVE, _FIRST_WORDS = 2000, 800, (16, 5)
_GOES_ON = (";", ",", ":", " and", " or")
_POINTS = ("see ", "refer ", "for more ", "for further ", "for additional ", "please refer")
_SHORT_WORD, _LONG_TITLE, _CAPITALS = 3, 12, 0.75
_MIN_PEOPLE = 2
_LAST_QUARTER = 4


@dataclass(frozen=True, slots=True)
class AnswerTarget:
    """One part of a question, prepared for comparison with texts."""

    intent: Intent
    part: QuestionPart
    terms: tuple[Term, ...]
    lexicon: Lexicon
    long_forms: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The stems of what the filings call by a short form, by the stem of that: `Digital Markets Act` by `DMA`."""

    def stems_in(self, text: str) -> set[str]:
        """Return the stems of a text, with those of the names that it gives in short."""
        said = set(stems_in(text))
        return said.union(*(self.long_forms[each] for each in said & self.long_forms.keys()))

    @property
    def years(self) -> set[int]:
        """The years asked about; of a reason the last, which is explained against the one before."""
        years = sorted({period.fiscal_year for period in self.intent.periods})
        return set(years[-1:] if self.part.answer_type is AnswerType.CAUSE else years)

    @property
    def of_quarter(self) -> bool:
        """Whether a quarter is asked about."""
        return any(period.quarter for period in self.intent.periods)

    @property
    def of_quarter_or_price(self) -> bool:
        """Whether a text that tells of a quarter may answer: what was paid in one was paid in its year."""
        return self.of_quarter or finds(self.part.text, "paid for", "answer_words")

    @property
    def designations(self) -> list[str]:
        """The names with numbers that a question says, other than of dates and parts of reports: `Overwatch 2`."""
        subject, others = self.intent.keywords, {*word_lists("answer_words")["numbered"], *MONTHS}
        found = patterns("answer_patterns")["designation"].finditer(self.part.text)
        return [one[0] for one in found if one["name"].lower() in subject and one["name"].lower() not in others]

    def unsaid(self) -> list[str]:
        """Return a sentence on what nothing read mentions; none if everything is, or fixed words of a report answer."""
        if cover_attribute(self.part.text):
            return []
        words = [repr(term.words) for term in self.terms if term.is_absent and not term.is_context]
        return [f"Not said there: {', '.join(words)}."] if words else []

    @property
    def telling_terms(self) -> list[Term]:
        """The terms without everyday words."""
        return [term for term in self.terms if not term.is_everyday]


class FilingPeriod(NamedTuple):
    """The period of a filing."""

    year: int | None = None
    quarter: int | None = None


DatedPassages: TypeAlias = Sequence[tuple[RetrievedPassage, FilingPeriod]]
"""Passages, best first, with the periods of their filings."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words of a passage that may be an answer."""

    text: str
    passage: RetrievedPassage
    place: int
    """Index of the passage among those read."""
    position: int
    """Position of its first sentence in the passage."""
    score: float
    alone: bool = False
    """Whether it is a complete answer: a list, a name."""


def candidates_of(target: AnswerTarget, passages: DatedPassages) -> Iterator[Candidate]:
    """Yield the candidates that are of the answer type and cover enough of the question."""
    attribute = cover_attribute(target.part.text)
    if (on_cover := patterns("cover_attributes").get(attribute)) is not None:
        yield from _in_fixed_words(target, passages, attribute, on_cover)
        return
    for place, (passage, filed) in enumerate(passages):
        if not all(name in passage.text for name in target.designations):
            continue
        worth = _BEHIND**place * _period_fit(filed, passages, target)
        if passage.kind is not PassageKind.TABLE:
            paragraphs = paragraphs_of(passage.text)
            for position, text, score in _sentences(paragraphs, passage.text, target, filed.year):
                yield Candidate(text, passage, place, position, worth * score)
            for position, text, score in _lists(paragraphs, target):
                yield Candidate(text, passage, place, position, worth * score, alone=True)
        for text in _names(passage.text, target):
            of_its_year = target.years.issuperset(printed_years(passage.text)[:1])  # not of the auditor before
            fits = 1.0 if of_its_year or target.part.answer_type is not AnswerType.FIRM else _OTHER_YEAR
            yield Candidate(text, passage, place, 0, worth * fits * _LIST, alone=True)


def long_forms_in(texts: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return what texts name in short, as stems by the stem of the short form; none that is used for several names.

    >>> sorted(long_forms_in(["the EU Digital Markets Act (the “DMA”) applies"])["dma"])
    ['act', 'digit', 'eu', 'market']
    """
    found: dict[str, set[frozenset[str]]] = {}
    for one in (each for text in texts for each in patterns("answer_patterns")["short form"].finditer(text)):
        short, named = stems_in(one["short"]), frozenset(stems_in(one["long"]))
        defined = one["short"].isupper() or (one["quoted"] and set(short) < named)
        if defined and len(short) == 1 and len(named) > 1:
            found.setdefault(short[0], set()).add(named)
    return {short: frozenset.intersection(*named) for short, named in found.items() if frozenset.intersection(*named)}


def closest_sentences(target: AnswerTarget, passages: DatedPassages) -> Iterator[Candidate]:
    """Yield sentences with at least half of a part's words that anything read has, whether or not they answer it."""
    terms = [term for term in target.terms if not term.is_absent]
    for place, (passage, filed) in enumerate(passages):
        prose = paragraphs_of(passage.text) if passage.kind is not PassageKind.TABLE else ()
        for position, (text, paragraph) in enumerate((one, each) for each in prose for one in each.sentences):
            held = coverage(terms, stems_in(text), stems_in(paragraph.heading))
            if held >= _HALF and is_complete_sentence(text):
                typed = 1.0 if matches_type(text, target.part) else _HALF
                yield Candidate(text, passage, place, position, held * typed * _period_fit(filed, passages, target))


_HALF = 0.5


def _in_fixed_words(
    target: AnswerTarget, passages: DatedPassages, attribute: str, pattern: re.Pattern[str]
) -> Iterator[Candidate]:
    """Yield what covers say of an attribute, or what the auditor's report for the year says on all of its pages."""
    told: dict[Hashable, tuple[RetrievedPassage, int, float, list[str]]] = {}
    for place, (passage, filed) in enumerate(passages):
        dated = _is_of_asked_days(passage.text, target.part.text)
        values = [" ".join(found["value"].split()) for found in pattern.finditer(passage.text) if dated]
        of_report = attribute == _OF_THE_AUDIT and (not target.years or filed.year in {None, *target.years})
        if values and (passage.page <= LAST_OF_COVER or attribute == _OF_ONE_PAGE or of_report):
            worth = _BEHIND**place * _period_fit(filed, passages, target)
            where = passage.doc_id if of_report else passage.key
            told.setdefault(where, (passage, place, worth, []))[-1].extend(values)
    for passage, place, worth, values in told.values():
        text = "; ".join(dict.fromkeys(values))
        yield Candidate(f"{text[:1].upper()}{text[1:]}.", passage, place, 0, worth, alone=True)


LAST_OF_COVER = 1
"""The second page of a report may continue its cover."""
_OF_ONE_PAGE, _OF_THE_AUDIT = "incorporation", "critical audit matters"
"""The words of the first stand on no page but the cover; the second are on several pages of the auditor's report."""


def candidates_beside(target: AnswerTarget, quotes: Iterable[tuple[RetrievedPassage, str]]) -> Iterator[Candidate]:
    """Yield answers in the sentences quoted for an earlier part, and in those around them.

    The subject of the earlier part is theirs: only a part's own words and years are compared.
    """
    plain = word_lists("answer_words")["amounts"] | word_lists("answer_words")["asked of a subject"]
    own = [one for one in target.telling_terms if not one.is_context and one.words.lower() not in plain]
    asks_only_why = target.part.answer_type is AnswerType.CAUSE and not own
    for place, (passage, quote) in enumerate(quotes):
        words = " ".join(quote.split())
        is_prose = len(words.split()) > _LONG_LABEL
        flat = [(one, paragraph) for paragraph in paragraphs_of(passage.text) for one in paragraph.sentences]
        quoted = [at for at, (text, _) in enumerate(flat) if text in words or (is_prose and words in text)]
        reasons = (_reason_of(flat, at, quote) for at in quoted if asks_only_why)
        yield from (Candidate(text, passage, place, 0, 1.0) for text in reasons if text)
        for position, (text, paragraph) in enumerate(flat):
            apart = min((abs(position - other) for other in quoted), default=_AROUND)
            held = _held_beside(text, paragraph, apart, own, target)
            if held is not None:
                yield Candidate(text, passage, place, position, held * _FARTHER**apart)


def _reason_of(flat: Sequence[tuple[str, Paragraph]], position: int, lead: str) -> str:
    """Return a sentence that gives a reason, else one farther behind that gives it, by its subject: `These changes`.

    `lead` is the whole sentence, where a page has only its end. Empty if nothing says that a reason is of it.
    """
    (text, paragraph), said = flat[position], set(stems_in(lead))
    if contains_listed_phrase("causes", text):
        return text
    for text in (text for text, of in flat[position + 1 :] if of is paragraph):
        points = contains_listed_phrase("pointing at", text) and contains_listed_phrase("causes", text)
        if points and is_complete_sentence(text) and said & set(stems_in(" ".join(text.split()[1 : 2 + _SUBJECT]))):
            return text
    return ""


def _held_beside(
    text: str, paragraph: Paragraph, apart: int, own: Sequence[Term], target: AnswerTarget
) -> float | None:
    """Return the share of a part's own words in a sentence that is `apart` from a quoted one; None if it cannot answer.

    Without any own words (`at what level`), a quoted sentence answers if it has a figure, or is of the answer type.
    """
    part = target.part
    farthest = _AROUND if part.answer_type not in (AnswerType.SENTENCE, AnswerType.LIST) else 2
    if apart >= (farthest if own else 1) or not matches_type(text, part):
        return None
    figure = part.answer_type in FIGURES
    if not own and not (figure or part.answer_type in _FACTS or patterns("answer_patterns")["number"].search(text)):
        return None
    if not _is_of_its_years(text, part, apart):
        return None
    lasts = not figure or contains_listed_phrase("events", text)
    if apart and not (_is_self_contained(text, paragraph) and (lasts or _matches_period(text, target, None, ""))):
        return None
    held = coverage(own, stems_in(text), stems_in(paragraph.heading)) if own else 1.0
    return held if held >= (_NEAR if apart else _QUOTED) else None


def _is_of_its_years(text: str, part: QuestionPart, apart: int) -> bool:
    """Return whether a text beside a quoted one, or that one itself, is of the years that a part names."""
    if part.answer_type is AnswerType.CAUSE or (part.answer_type is AnswerType.VERDICT and not apart):
        return True  # of `why down from 2023` the reason is of the year after
    return set(printed_years(text)).issuperset(printed_years(part.text))


_LONG_LABEL = 8
"""Words of a quote that is more than the label of a row."""
_AROUND, _FARTHER, _QUOTED, _NEAR = 6, 0.9, 0.5, 0.75
"""Sentences from a quoted one in which a further request is answered, and shares of its words that they must cover."""


def _period_fit(filed: FilingPeriod, passages: DatedPassages, target: AnswerTarget) -> float:
    """Return how well a passage's filing fits the requested periods; without any, the latest filing fits best."""
    if filed.year is None:
        return 1.0
    if not target.years:
        return float(_A_YEAR_OLDER ** (max(of.year for _, of in passages if of.year) - filed.year))
    if filed.year not in target.years:
        return _OTHER_FILING if filed.year - 1 in target.years else _OTHER_TIME
    quarters = {period.quarter for period in target.intent.periods}
    if filed.quarter in quarters or (filed.quarter == _LAST_QUARTER and None in quarters):
        return 1.0
    return _OTHER_TIME if target.part.answer_type is AnswerType.CAUSE else _OTHER_FILING


def _sentences(
    paragraphs: Sequence[Paragraph], passage_text: str, target: AnswerTarget, filed: int | None
) -> Iterator[tuple[int, str, float]]:
    """Yield (position, text, score) of sentences, joined with the one that they continue or that continues them."""
    flat = [(one, paragraph) for paragraph in paragraphs for one in paragraph.sentences]
    wants, announced = target.part.answer_type, ""
    for position, (lead, paragraph) in enumerate(flat):
        if not paragraph.item:
            announced = f" {lead}" if lead.endswith(":") else ""
        around = [one for one, _ in flat[max(0, position - 1) : position + 2]]
        near = frozenset().union(*map(target.stems_in, (*around, paragraph.heading, announced)))
        if not any(term.coverage_in(near) for term in target.terms) and wants is not AnswerType.BUSINESS:
            continue  # most sentences, without a look at their form
        if not _is_self_contained(lead, paragraph):
            continue
        cause = wants is AnswerType.CAUSE and not contains_listed_phrase("causes", lead)
        text, first = _joined(flat, position, with_next=wants in _GOING_ON, why=cause)
        if wants is AnswerType.STATUS:
            text = _with_latest(flat, position)
        heading = paragraph.heading + (announced if paragraph.item else "")
        score = _score(lead, text, heading, target, filed, partial(_text_above, flat[first][0], passage_text))
        if score:
            yield first, text, score


def _joined(flat: Sequence[tuple[str, Paragraph]], position: int, *, with_next: bool, why: bool) -> tuple[str, int]:
    """Return a sentence with those that it points back to or that point back to it, and the position of the first."""
    lead, paragraph = flat[position]
    text, first = lead, position
    before, above = flat[position - 1] if position else ("", None)
    if above is paragraph and _points_back(lead, before) and is_complete_sentence(before):
        text, first = f"{before} {lead}", position - 1
    after = flat[position + 1][0] if position + 1 < len(flat) else ""
    if with_next and _points_back(after, lead) and is_complete_sentence(after) and not after.endswith(":"):
        text = f"{text} {after}"
    elif why and (reason := _reason_of(flat, position, lead)):
        text = f"{text} {reason}"
    return text, first


def _with_latest(flat: Sequence[tuple[str, Paragraph]], position: int) -> str:
    """Return a sentence with the last ones of its paragraph that tell what happened: where a suit stands."""
    lead, paragraph = flat[position]
    behind = [one for one, of in flat[position + 1 :] if of is paragraph and is_complete_sentence(one)]
    happened = [one for one in behind if not contains_listed_phrase("conditionals", one)]
    return " ".join([lead, *happened[-_LATEST:]])


_LATEST = 3
"""Sentences at the end of what is told of a suit by which it stands."""


def _points_back(text: str, before: str) -> bool:
    """Return whether a sentence continues the one before; `The increase in fees` does if that is about fees."""
    named = listed("answer_words", "movement of").match(text)
    subject = stems_in(" ".join(text[named.end() :].split()[:_SUBJECT])) if named is not None else ()
    return contains_listed_phrase("pointing back", text) and set(subject) <= set(stems_in(before))


def _text_above(sentence: str, passage_text: str) -> str:
    """Return the text of a passage above a sentence, as far as it may tell its subject."""
    words = sentence.split()
    begins = next(filter(None, (places_of(" ".join(words[:most]), passage_text) for most in _FIRST_WORDS)), [])
    return passage_text[max(0, begins[0][0] - _MOST_ABOVE) : begins[0][0]] if begins else ""


def _is_self_contained(lead: str, paragraph: Paragraph) -> bool:
    """Return whether a sentence is complete, and does not only announce or refer to something."""
    words = [word for word in lead.split() if len(word) > _SHORT_WORD and word[0].isalpha()]
    title = len(words) < _LONG_TITLE and sum(word[0].isupper() for word in words) > _CAPITALS * len(words)
    refers = lead.lower().startswith(_POINTS) or "by reference" in lead
    if refers or title or lead.endswith(_GOES_ON) or contains_listed_phrase("contract", lead):
        return False
    return is_complete_sentence(lead) or (paragraph.item and begins_sentence(lead))


def _score(
    lead: str,
    text: str,
    heading: str,
    target: AnswerTarget,
    filed: int | None = None,
    text_above: Callable[[], str] = str,
) -> float | None:
    """Return the score of an answer; None if it is not of the answer type or covers too little.

    `text` is the sentence `lead` with those that belong to it, `filed` the fiscal year of its filing. Names of the
    question may be in the text above, where a figure or a reason is asked for.
    """
    part, terms = target.part, target.terms
    cause = part.answer_type is AnswerType.CAUSE
    told = lead if part.answer_type in _OF_CASES else "" if _is_of_event(lead, target) else text
    length = 1 + len(told.split()) / _LONG
    if not matches_type(lead if part.answer_type in FIGURES | _FACTS else text, part):
        return None
    if part.answer_type is AnswerType.BUSINESS:
        return (1 + contains_listed_phrase("leading", text)) / length
    about = _stated(text, part)
    said, around = target.stems_in(about), target.stems_in(heading)
    own = target.stems_in(f"{heading} {text}" if cause else text)
    if not any(term.coverage_in(own) for term in terms):
        return None
    named = _is_named_above(lead, target)
    borne = coverage(terms, said, around, target.stems_in(text_above()) if named else ())
    if cause:
        said |= target.stems_in(text)
    if round(borne, 6) < _enough(about, borne, target):
        return None
    earlier = text_above()
    near = target.stems_in(earlier[-_NEAR_ABOVE:])
    # Of what a reason is told far below its name, most is of something else.
    anywhere = around.union(said, near if cause else target.stems_in(earlier) if named else ())
    above = f"{earlier[-_OUTLOOK:]} {heading}"
    fits = (
        _covers_subject(said, around.union(target.stems_in(about)), anywhere, near, target)
        and _matches_request(lead, text, about, heading, target)
        and _matches_period(about, target, filed, above)
    )
    if not fits:
        return None
    of_part = _part_fitness(around.union(own), anywhere, target) * _recency(text, filed, above, target)
    return borne * of_part * _fitness(text, about, heading, target) / length


def _is_named_above(lead: str, target: AnswerTarget) -> bool:
    """Return whether names of the question may be in the text above an answer; most are passed over without a look."""
    wants = target.part.answer_type
    of_above = wants in FIGURES | _OF_CASES or wants is AnswerType.CAUSE or _is_of_event(lead, target)
    return of_above and any(term.is_name for term in target.terms)


def _recency(text: str, filed: int | None, above: str, target: AnswerTarget) -> float:
    """Return the fit of a text's time: where a suit stands what came last, of a quarter no text under another span."""
    if target.of_quarter and not contains_listed_phrase("a quarter", text):
        last = {
            kind: max((one.end() for one in listed("answer_words", kind).finditer(above)), default=0) for kind in _SPANS
        }
        return _OF_A_UNIT if last["spans"] > last["a quarter"] else 1.0
    if filed is None or target.part.answer_type not in (AnswerType.STATUS, AnswerType.OUTCOME):
        return 1.0
    return float(_A_YEAR_OLDER ** max(0, filed - max(printed_years(text), default=filed - _UNDATED)))


def _part_fitness(here: set[str], anywhere: set[str], target: AnswerTarget) -> float:
    """Return the fit of a reason of a part or of what no metric is: that it names all of it, or text above the part."""
    query = target.intent.query if target.part.answer_type is AnswerType.CAUSE else None
    if query is None:
        return 1.0
    lines = (line.words for line in query.lines() if isinstance(line, Line) and not line.metric)
    named = {each for words in lines for each in stems_in(words)}
    of_lines = (term for term in target.telling_terms if term.stems <= named and not term.is_absent)
    fits = 1.0 if _all_in(here, of_lines) else _OF_A_UNIT
    part = set(stems_in(query.only_part or ""))
    return fits * (1.0 if part <= here else _OTHER_SPAN if part <= anywhere else _OF_A_UNIT)


def _stated(text: str, part: QuestionPart) -> str:
    """Return what a text states, without the reason that it gives, unless the figure asked for is in the reason."""
    figures = part.answer_type in FIGURES
    about = text
    if figures or part.answer_type is AnswerType.CAUSE:
        about = before_the_cause(patterns("sentence_patterns")["excluded"].sub("", text))
    if figures and part.answer_type is AnswerType.SHARE and (moved := _moved_in_reason(text[len(about) :], part)):
        return f"{listed('answer_words', 'set against').split(about, maxsplit=1)[0]} {moved}"
    return text if figures and not matches_type(about, part) else about


def _moved_in_reason(reason: str, part: QuestionPart) -> str:
    """Return how far a reason says that what is asked about moved: `13.6% increase in transactions`; else nothing."""
    way, of = movement_directions(part.text), set(stems_in(part.text))
    moves = patterns("answer_patterns")["moved by"].finditer(reason)
    return next((one[0] for one in moves if movement_directions(one["way"]) == way and of & {*stems_in(one["of"])}), "")


def _enough(about: str, borne: float, target: AnswerTarget) -> float:
    """Return the share of a question's words that is enough; less if they stand together or tell much."""
    wants, less = target.part.answer_type, 0.0
    if wants in _AT_REST:
        weight = borne * sum(term.weight for term in target.terms)
        less = min(_MOST_LESS, _LESS_EACH * max(0.0, weight - _TELLS_MUCH))
    if borne < _ENOUGH[wants] - less and wants in FIGURES:
        less = max(less, _TIED * tied_share(target.terms, about))
    return _ENOUGH[wants] - less


_MOST_LESS, _LESS_EACH, _TELLS_MUCH = 0.13, 0.02, 5.0


def _defines(text: str, target: AnswerTarget) -> bool:
    """Return whether what a question wants defined, and little else, is the subject of a definition."""
    found = patterns("answer_patterns")["definition"].search(text)
    if found is None:
        return False
    end = found.end() + _BEHIND_DEFINED if found["behind"] else found.end() if found["glossary"] else found.start()
    subject = set(stems_in(text[:end]))
    named = {each for term in target.telling_terms for each in term.stems.union(*term.synonyms)}
    own = (term for term in target.telling_terms if not term.is_context)
    return _all_in(subject, own) and (end > found.start() or len(subject - named) <= _BESIDE_DEFINED)


_BEHIND_DEFINED, _BESIDE_DEFINED = 60, 2
"""Characters behind `we define` in which its object is, and other words in the subject of a definition."""


def _matches_request(lead: str, text: str, about: str, nearby: str, target: AnswerTarget) -> bool:
    """Return whether a text forecasts, ranks, compares and moves as the question does."""
    core, wants = target.intent.core, target.part.answer_type
    forecast, foretold = has_listed_prefix("expected", core), has_listed_prefix("expected", f"{text} {nearby}")
    if forecast and not foretold:
        return False
    if forecast and finds(nearby, "outlook heads", "row_words") and (named := periods_in(nearby)):
        asked = {(period.fiscal_year, period.quarter) for period in target.intent.periods}
        if asked and named.isdisjoint(asked):
            return False
    states = {AnswerType.DEFINITION: _defines, **dict.fromkeys(FIGURES, _states_its_figure)}.get(wants)
    if states is not None and not states(about, target):
        return False
    if wants is AnswerType.VERDICT and any(term.is_absent for term in target.telling_terms):
        return False
    if wants in FIGURES and _lacks_a_year(f"{nearby} {text}", target):
        return False
    if not _names_what_is_compared(f"{nearby} {text}", target) or not _moves_where_asked(lead, text, target):
        return False
    told = core.lower().replace("at most", "").replace("at least", "")
    if wants in FIGURES:  # filings tell of no customers but the largest
        told = patterns("answer_patterns")["largest customers"].sub("", told)
    ranks = contains_listed_phrase("superlatives", told)
    return not ranks or _ranks_as_asked(text, target)


def _ranks_as_asked(text: str, target: AnswerTarget) -> bool:
    """Return whether a text says what is first; of a list, whether it ranks what is listed, and names whom."""
    if target.part.answer_type is not AnswerType.LIST:
        return contains_listed_phrase("superlatives", text)
    behind = (text[one.end() :][:_BESIDE_A_NAME] for one in listed("answer_words", "superlatives").finditer(text))
    ranked = any(term.coverage_in(stems_in(words)) for words in behind for term in target.telling_terms)
    return ranked and (text.endswith(":") or patterns("answer_patterns")["names"].search(text) is not None)


def periods_in(heading: str) -> set[tuple[int, int | None]]:
    """Return the quarters, else the years, that a heading names."""
    said = parse_periods(heading)
    return set(said.quarters) or {(year, None) for year in said.years}


def _moves_where_asked(lead: str, text: str, target: AnswerTarget) -> bool:
    """Return whether a verdict or a reason is of a movement, where one is asked about: `why did sales change`."""
    core, wants = target.intent.core, target.part.answer_type
    moves = any(movement_directions(core)) or (wants is AnswerType.CAUSE and has_listed_prefix("moving", core))
    moving = {AnswerType.VERDICT: lead, AnswerType.CAUSE: text[: len(before_the_cause(text)) + _VERB]}.get(wants)
    if not moves or moving is None:
        return True
    if contains_listed_phrase("conditionals", moving) and not any(map(str.isdigit, text)):
        return contains_listed_phrase("conditionals", core)  # what may happen is no reason of what did
    if any(movement_directions(moving)):
        return True
    return wants is AnswerType.CAUSE and _is_composed(text, target.part.text)


def _lacks_a_year(text: str, target: AnswerTarget) -> bool:
    """Return whether a text is of one year, and sets it against no other: it has no `more in 2024 than in 2019`."""
    differs = " than " in target.intent.core and not target.years <= set(printed_years(text))
    return differs and len(target.years) > 1 and not contains_listed_phrase("set against", text)


def _names_what_is_compared(text: str, target: AnswerTarget) -> bool:
    """Return whether a text names both things that a question compares: `what was bigger, cinemas or ferries`."""
    core = target.intent.core
    alternatives = " or " in listed("answer_words", "bounds behind").sub("", core)
    if target.part.answer_type not in _COMPARED or not alternatives or not contains_listed_phrase("comparatives", core):
        return True
    return _all_in(set(stems_in(text)), (term for term in target.telling_terms if not term.is_context))


def _states_its_figure(about: str, target: AnswerTarget) -> bool:
    """Return whether a figure is neither supposed nor an extreme, and is not of a whole that includes the subject."""
    core, plain = target.intent.core, listed("answer_words", "no extremes").sub("", about)
    if any(
        contains_listed_phrase(kind, plain) and not contains_listed_phrase(kind, core)
        for kind in ("hypotheses", "extremes")
    ):
        return False
    if contains_listed_phrase("still open", core) and not contains_listed_phrase("what is left", plain):
        return False  # what was bought back is not what may still be
    part = patterns("sentence_patterns")["part of all"]
    if target.part.answer_type is AnswerType.COUNT and part.search(about) and not part.search(core):
        return False
    said = set(stems_in(about))
    whole = set(stems_in(patterns("sentence_patterns")["included"].sub("", about)))
    return _all_in(whole, (term for term in target.telling_terms if term.coverage_in(said)))


def _covers_subject(said: set[str], around: set[str], anywhere: set[str], near: set[str], target: AnswerTarget) -> bool:
    """Return whether a text covers the names, the rarest word and enough of the others; of a figure all operands."""
    wants = target.part.answer_type
    if wants in FIGURES and not _mentions_operands(target.intent, said):
        return False
    own = [term for term in target.telling_terms if not term.is_context]
    if not own:  # `and since when`: of the same subject
        own, around = list(target.terms), said
    if not _mentions_what_is_referred_to(around, target):
        return False
    present = [term for term in own if not term.is_absent]
    if len(present) <= _PRESENT_FOR_AN_ABSENT * (len(own) - len(present)):
        return False
    few = len(own) <= _FEW and wants in FIGURES | _FACTS | {AnswerType.VERDICT}
    rarest = max(present, key=lambda term: term.weight)
    needed = present if few else [rarest][rarest.is_name :]
    names = filter(attrgetter("is_name"), own)
    # The sentences above tell under which law a figure is: `the DMA`.
    shorts = {*target.long_forms} & near if wants in FIGURES else set()
    needed = [term for term in needed if not (term.words.isupper() and term.stems <= shorts)]
    return _all_in(around, needed) and _all_in(anywhere, names) and _is_borne_out(anywhere, target)


def _mentions_what_is_referred_to(around: set[str], target: AnswerTarget) -> bool:
    """Return whether a text mentions the subject of the request before, where a date, name or place refers to it."""
    subject = [term for term in target.telling_terms if term.is_context]
    refers = target.part.answer_type in _FACTS and contains_listed_phrase("referring", target.part.text)
    return not (refers and subject) or any(term.coverage_in(around) for term in subject)


def _is_borne_out(anywhere: set[str], target: AnswerTarget) -> bool:
    """Return whether the words of a question that a text has tell enough to be about its subject."""
    wants = target.part.answer_type
    weights = [term.weight for term in target.telling_terms if term.coverage_in(anywhere)]
    if wants is AnswerType.CAUSE and not target.intent.names_metric and sum(weights) < _LEAST_EVIDENCE:
        return False
    return wants not in _ONLY_WORDS or len(weights) != 1 or weights[0] >= _LEAST_EVIDENCE


def _all_in(said: set[str], terms: Iterable[Term]) -> bool:
    return all(term.coverage_in(said) for term in terms)


def _mentions_operands(intent: Intent, said: set[str]) -> bool:
    """Return whether a text mentions the lines of a formula that no metric is: no `R&D was ...` for `R&D per month`."""
    measures = intent.query.measures if intent.query is not None else ()
    lines = [line for one in measures if isinstance(one, Operation) for line in lines_of(one)]
    unknown = (line.words for line in lines if isinstance(line, Line) and not line.metric)
    return all((set(stems_in(words)) or {words}) <= said for words in unknown)


def _matches_period(text: str, target: AnswerTarget, filed: int | None, above: str) -> bool:
    """Return whether a figure or a reason is not about a different time than the requested one."""
    asked, years, wants = target.years, set(printed_years(text)), target.part.answer_type
    coming = _coming_years(target, filed)
    if coming and coming <= set(printed_years(above)) and has_listed_prefix("expected", text):
        return True  # the period of an outlook is told above it: `First Quarter 2025 Guidance`
    figure = wants in FIGURES
    core, part = target.intent.core, target.part.text
    if (figure or wants in _OF_AN_EVENT) and _is_of_other_months(text, part, core):
        return False
    if figure and not _is_of_asked_days(text, part):
        return False
    if figure and not coming <= years:
        return False
    if _is_filed_elsewhen(text, target, filed):
        return False
    if not asked or not (figure or wants in (AnswerType.CAUSE, AnswerType.VERDICT)):
        return True
    return _is_of_asked_years(text, target, filed, above)


def _is_of_asked_years(text: str, target: AnswerTarget, filed: int | None, above: str) -> bool:
    """Return whether a figure, a reason or a verdict is of the requested years, by those in the text or above it."""
    asked, years, wants = target.years, set(printed_years(text)), target.part.answer_type
    figure = wants in FIGURES
    forecast = figure and has_listed_prefix("expected", target.intent.core)
    if not figure or forecast:
        years = set(printed_years(listed("answer_words", "set against").split(text, maxsplit=1)[0]))
    if forecast and not asked & years and (years or max(printed_years(above), default=0) > max(asked)):
        return False  # expected of another period
    interim = contains_listed_phrase("interim", text) and not target.of_quarter_or_price
    if wants is AnswerType.CAUSE:
        compared = patterns("answer_patterns")["years compared"].findall(above)  # `FISCAL 2016 COMPARED TO 2015`
        years = years or set(map(int, compared[-1:]))
        return not years or (bool(years & asked) and not interim)
    if figure and not years and filed is not None and filed not in asked:
        return False  # a year later it is another figure
    return (not interim or wants is AnswerType.VERDICT) and _is_of_these_years(years, asked, filed)


def _is_filed_elsewhen(text: str, target: AnswerTarget, filed: int | None) -> bool:
    """Return whether a text is of a filing of another period, or tells on what day after a fiscal year a sale was."""
    asked, years = target.years, set(printed_years(text))
    if not asked or filed is None:
        return False
    sold = finds(target.part.text, "received for", "answer_words") and "fiscal" in target.intent.core.lower()
    if sold and filed > max(asked) and printed_dates(text):
        return True  # of a year that began in the calendar year asked about
    return not years & asked and (filed < min(asked) or (bool(years) and filed > max(asked) + 1))


def _is_of_asked_days(text: str, asked: str) -> bool:
    """Return whether a text names no day, or one near to a day that the question names."""
    days, printed = ([each.date for each in printed_dates(one)] for one in (asked, text))
    near = any(abs((one - other).days) <= _DAYS_NEAR for one in days for other in printed)
    return near or not (days and printed)


_DAYS_NEAR = 7
"""Days between the end of a fiscal period and the end of its month, by which people call it."""


def _is_of_other_months(text: str, asked: str, core: str) -> bool:
    """Return whether a text names another month of a year than the one asked for, or begins with a date in another.

    `the May 2024 program`, `On March 5, 2020, we ...`.
    """
    named = _months_of_years(asked, plain=True)
    if named - _months_of_years(text) and _months_of_years(text, plain=True) - named:
        return True
    months, first, said = (_months_in(words) for words in (core, text[:_DATE_WITHIN], text))
    return bool(months and first) and contains_listed_phrase("dated", text) and months.isdisjoint(said)


def _is_of_event(text: str, target: AnswerTarget) -> bool:
    """Return whether a text tells what happened in the month of a year in which a question asks what did."""
    named = _months_of_years(target.part.text, plain=True)
    return target.part.answer_type in _OF_AN_EVENT and bool(named) and named <= _months_of_years(text)


def _months_of_years(text: str, *, plain: bool = False) -> set[tuple[str, str]]:
    """Return the months of years that a text names; `plain` without those of a day."""
    found = patterns("answer_patterns")["month of a year"].finditer(text)
    return {(one["month"][:3].lower(), one["year"]) for one in found if not (plain and one["day"])}


def _months_in(text: str) -> set[str]:
    """Return the months that a text names with a day or a year behind, by their first letters."""
    words = text.lower().replace(",", " ").replace(".", " ").split()
    names = {month[:3] for month in MONTHS}
    return {one[:3] for one, other in pairwise(words) if one[:3] in names and other[:1].isdigit()}


def _coming_years(target: AnswerTarget, filed: int | None) -> set[int]:
    """Return the years a question names that lie after its filing, or after the requested period."""
    latest = filed or max(target.years, default=9999)
    core = patterns("answer_patterns")["year_end"].sub("", target.intent.core)
    return {year for year in printed_years(core) or target.years if year > latest}


def _is_of_these_years(years: set[int], asked: set[int], filed: int | None) -> bool:
    """Return whether the years of a text, else that of its filing, are those requested."""
    if not years:
        return filed is None or not asked.isdisjoint((filed, filed - 1))
    return bool(years & asked) or ((filed is None or filed in asked) and len(asked) == 1 and min(years) > max(asked))


def _fitness(text: str, about: str, heading: str, target: AnswerTarget) -> float:
    """Return the fit of a text: the year, the movement, and more than one item of a list."""
    core, wants = target.intent.core, target.part.answer_type
    fitness = _year_fitness(about, target) * (_MOVED if _is_of_event(text, target) else 1.0)
    supposes = contains_listed_phrase("conditionals", text) and wants is not AnswerType.ALLEGATION
    if supposes and not contains_listed_phrase("risks", core):
        fitness *= _HEDGED
    if wants in FIGURES and _names_another_unit(about, target.intent):
        fitness *= _OF_A_UNIT
    fitness *= _share_fitness(about, target)
    stated = f"{heading} {about}" if wants in FIGURES else heading
    foretold = has_listed_prefix("expected", stated) and not has_listed_prefix("expected", core)
    if foretold and wants in FIGURES | {AnswerType.VERDICT}:
        fitness *= _HEDGED
    fitness *= _span_fitness(text, target) * _request_fitness(text, about, target)
    if wants is AnswerType.CAUSE:
        fitness *= _HEDGED if contains_listed_phrase("told elsewhere", text) else 1.0
        fitness *= _moves_as_asked(text[: len(about) + _VERB], core) * _reason_fitness(about, heading, target)
    return fitness


def _share_fitness(about: str, target: AnswerTarget) -> float:
    """Return the fit of a share of a measure: `19% of net revenue in Japan` is of another whole than net revenue."""
    query = target.intent.query
    asked = target.part.answer_type in FIGURES and query is not None and share_of(query.only_measure) is not None
    return min(1.0, measure_fitness(about, target.intent.core, target.lexicon)) if asked else 1.0


def _reason_fitness(about: str, heading: str, target: AnswerTarget) -> float:
    """Return the fit of a reason to the measure that moved."""
    core, query = target.intent.core, target.intent.query
    named = query is not None and query.only_part is not None
    of_part = named or len(target.telling_terms) > 1
    fitness = float(_is_about_measure(about, heading, core, target.lexicon, of_part=of_part))
    fitness *= 1.0 if named else measure_fitness(about, core, target.lexicon, of_part=of_part)
    # Where a filing prints both, `other operating charges` are no `other operating expenses`.
    return fitness * (1.0 if target.intent.measure.lower() in about.lower() else _HEDGED)


def _span_fitness(text: str, target: AnswerTarget) -> float:
    """Return the fit to a quarter of a text that names none, or to a year of one that names a quarter of it.

    A figure of the year or of its half is another one.
    """
    figure = target.part.answer_type in FIGURES
    if contains_listed_phrase("a quarter", text):
        apart = figure and target.years and not target.of_quarter_or_price
        return _OTHER_SPAN if apart and not contains_listed_phrase("spans", text) else 1.0
    if not target.of_quarter:
        return 1.0
    if figure and has_listed_prefix("expected", target.intent.core):
        return _OTHER_SPAN
    return (_OTHER_TIME if figure else _OTHER_SPAN) if contains_listed_phrase("spans", text) else 1.0


def _moves_as_asked(text: str, core: str) -> float:
    """Return the fit of what a text explains: it may not move the other way than the question says, and should move."""
    told, (risen, fallen) = movement_directions(text), movement_directions(core)
    if risen == fallen:
        risen, fallen = has_listed_prefix("lifting", core), has_listed_prefix("hurting", core)
    if risen == fallen or told != (fallen, risen):
        return 1.0 if risen == fallen or any(told) else _HEDGED
    return 0.0


def _year_fitness(about: str, target: AnswerTarget) -> float:
    """Return the fit of the years that a text names; of a date, its year is what is asked for."""
    told = listed("answer_words", "set against").split(about, maxsplit=1)[0]
    years, asked = set(printed_years(told)), target.years or set(printed_years(target.intent.core))
    asked |= {each.date.year for each in printed_dates(target.part.text)}  # the day on which a fiscal year ends
    other = 1.0 if target.part.answer_type is AnswerType.DATE else _OTHER_YEAR
    return (_ITS_YEAR if years & asked else other) if years and asked else 1.0


def _request_fitness(text: str, about: str, target: AnswerTarget) -> float:
    """Return the fit to what a type is asked by: a level is no growth, a list has items, a name is given."""
    wants, asked, fitness = target.part.answer_type, target.part.text, 1.0
    if wants in FIGURES and "growth" in about and not has_listed_prefix("up", target.intent.core):
        fitness *= _HEDGED
    if wants is AnswerType.TERMS and contains_listed_phrase("agreed", text):
        fitness *= _MOVED
    if wants is AnswerType.LIST and _is_listing(text, asked, target.years):
        fitness *= _LIST
    # `what was the Ferry Sale` is told by `... for cash (Ferry Sale)`.
    named = patterns("answer_patterns")["what is named"].search(asked)
    return fitness * (_NAMED if named and f"{named['name']})".lower() in text.lower().replace("”", "") else 1.0)


def _is_listing(text: str, asked: str, years: Collection[int]) -> bool:
    """Return whether a text lists several things; of transactions, whether it begins with the date of one."""
    if contains_listed_phrase("transactions", asked):
        begun = printed_years(text[:_DATE_WITHIN])[:1]  # a fiscal year begins in the year before
        of_asked = not years or any(one in years or one + 1 in years for one in begun)
        return contains_listed_phrase("dated", text) and bool(begun) and of_asked
    return is_enumeration(text)


def _names_another_unit(text: str, intent: Intent) -> bool:
    """Return whether a text speaks first of a unit called after the company that is not asked about: `Acme Freight`."""
    firsts = {company.name.lower().removeprefix("the ").partition(" ")[0] for company in intent.companies}
    word = next((other for one, other in pairwise(text.split()) if one.lower() in firsts), "")
    bare = word.lower().strip(".,;")
    return word[:1].isupper() and bare not in company_words("legal_forms") and bare not in intent.core.lower()


def _is_about_measure(about: str, heading: str, core: str, lexicon: Lexicon, *, of_part: bool) -> bool:
    """Return whether a sentence is about the first requested measure, or gives it as a share of another."""
    wanted, told, asked = _wanted_measures(core, lexicon, of_part), _measures(about, lexicon), _measures(core, lexicon)
    named = [one.id.removesuffix("_reported") for one in told]
    if wanted and not named:
        return any(movement_directions(about)) or wanted[0] in {one.id for one in _measures(heading, lexicon)}
    # `Segment operating profit`, as a filer adjusts it, is what a segment's operating profit is asked by.
    plain = {one.removeprefix("adjusted_").removeprefix("total_") for one in named}
    if not wanted or not plain.union(named).isdisjoint(wanted):
        return True
    # `Services and other revenues` is what services revenue is called, `Azure and cloud services revenue` Azure's.
    said, measure = stems_in(told[0].phrase), stems_in(asked[0].phrase)
    its_end = of_part and said[-len(measure) :] == measure and " of " not in told[0].phrase
    return its_end or set(measure) <= set(said) <= set(stems_in(core)) or named[0] == ratio_of(wanted[0], lexicon)[0]


def measure_fitness(about: str, core: str, lexicon: Lexicon, *, of_part: bool = False) -> float:
    """Return the fit of a sentence by what it says of the measure asked for: that it moved, or that a part of it did.

    `Mac sales`, `revenue per shipment` and `sales in Japan` are parts; of `sales rose 6%` the measure is the subject.
    """
    wanted = _wanted_measures(core, lexicon, of_part)
    asked_words = frozenset(words_in(core.lower())) - word_lists("answer_words")["of the whole"]
    whole = word_lists("answer_words")["of the whole"] | asked_words
    divisions, asked = word_lists("same_words")["segments"] - whole, movement_directions(core)

    def narrows(before: str, behind: Sequence[str]) -> bool:
        words = before.lower().replace("’", "'").replace("'s ", " ").split()
        while words and words[-1] in asked_words:
            words.pop()  # `cost of automotive sales revenue` is a cost
        word = (words[-2:-1] if words[-1:] == ["of"] else words[-1:] or [""])[0].strip("'\"()“”").removesuffix("'s")
        if word.isalpha() and word not in whole and not any(movement_directions(word)):
            return True  # `cost of revenue` is no revenue
        of_segment = not divisions.isdisjoint(words[-_OWNER_WITHIN:])
        names = [one for one in behind[1:] if one[:1].isupper() and one.lower().strip(",.") not in whole]
        return of_segment or behind[:1] == ["per"] or (bool(names) and behind[0] in _OF_WHICH_PART)

    def moved(mention: Mention) -> bool:
        before = about[max(0, mention.start - _MOVE_BEFORE) : mention.start]
        behind = about[mention.end :][:_MOVED_WITHIN]
        says = contains_listed_phrase("moved", behind) or contains_listed_phrase("movement of", before)
        return says and (asked[0] == asked[1] or movement_directions(before + behind) == asked)

    named = [one for one in lexicon.mentions(about) if one.id.removesuffix("_reported") in wanted]
    of_whole = [one for one in named if not narrows(about[: one.start].rstrip(), about[one.end :].split()[:2])]
    if named[:1] != of_whole[:1]:
        return _OF_A_UNIT  # `Sales in Japan were $5 million. The increase in sales`
    return _MOVED if any(map(moved, of_whole)) else 1.0


_MOVED, _MOVED_WITHIN, _MOVE_BEFORE = 1.5, 80, 16
"""Weight of a sentence whose subject is the measure that moved, and characters behind and before it that say so."""
_OWNER_WITHIN = 4
"""Words before a measure among which whose it is stands: `our segment reported net sales`."""
_OF_WHICH_PART = frozenset(("from", "for", "in", "of", "at"))


def _wanted_measures(core: str, lexicon: Lexicon, of_part: bool) -> list[str]:
    """Return the first measure that a question names; of a part of the company all that its word may stand for."""
    first, lists = next(iter(_measures(core, lexicon)), None), word_lists("answer_words")
    loosely = of_part and first is not None and first.phrase.lower() in lists["profits"]
    return sorted(lists["any profit"]) if loosely else [first.id.removesuffix("_reported")] if first else []


def _measures(text: str, lexicon: Lexicon) -> list[Mention]:
    """Return the measures that a text is about, in order: `margin was 57.7% of revenues` is not about revenues."""
    found = sorted(lexicon.mentions(text), key=lambda one: (one.start, -one.end, one.id))
    return [one for one in found if not contains_listed_phrase("share of", text[: one.start])]


def _lists(paragraphs: Sequence[Paragraph], target: AnswerTarget) -> Iterator[tuple[int, str, float]]:
    """Yield (position, text, score) of complete lists announced by a sentence."""
    cause = target.part.answer_type is AnswerType.CAUSE
    if target.part.answer_type not in (AnswerType.LIST, AnswerType.CAUSE, AnswerType.SENTENCE):
        return
    for printed in printed_lists(paragraphs):
        of_cells = any(item[:1].isdigit() or item[:1] in "$(" for item in printed.items)
        if of_cells or (len(printed.items) < 2 and not cause):
            continue
        found = _score(printed.lead, printed.lead, printed.heading, target)
        if found is not None:
            better = _LIST if target.part.answer_type is not AnswerType.SENTENCE else 1.0
            yield printed.position, printed.text, found * better


def _names(text: str, target: AnswerTarget) -> Iterator[str]:
    """Yield the firm that signs a report, the holder of an office, or all officers."""
    wants = target.part.answer_type
    if wants is AnswerType.FIRM and contains_listed_phrase("report of auditors", text) and (firm := _firm_in(text)):
        said = set(stems_in(text))
        if all(term.coverage_in(said) or term.is_everyday for term in target.terms):
            yield f"{firm}."
    people = _people_in(text) if wants in (AnswerType.PERSON, AnswerType.OFFICERS) else {}
    if wants is AnswerType.OFFICERS and people:
        yield f"{'; '.join(f'{name}, {title}' for name, title in people.items())}."
    if wants is AnswerType.PERSON:
        yield from _holders(people, target)


def _holders(people: Mapping[str, str], target: AnswerTarget) -> Iterator[str]:
    """Yield the people who hold all offices that are asked for."""
    offices = [{term.words, *term.phrases} for term in target.terms if any(map(_is_title, (term.words, *term.phrases)))]
    held = [
        (name, title)
        for name, title in (people.items() if offices else ())
        if all(any(_is_office(way, title) for way in ways) for ways in offices)
    ]
    for name, title in sorted(held, key=lambda one: "officer, " in one[1].lower()):  # the head of a part comes last
        yield f"{name}, {title}."


def _is_office(words: str, title: str) -> bool:
    """Return whether a title contains an office: no `Chief Operating Officer and Executive Vice President` is a CEO."""
    office, held = (" ".join(words_in(text.lower())) for text in (words, title))
    return f" {office} " in f" {held} " and f" vice {office} " not in f" {held} "


def _people_in(text: str) -> dict[str, str]:
    """Return the people listed with age and office in a passage, with their offices; none if there is only one."""
    known = patterns("answer_patterns")
    found = (one.groups() for one in known["officer"].finditer(text))
    listed = {name: known["no_office"].sub("", office).strip(" .,;") for name, office in found}
    people = {name: title for name, title in listed.items() if _is_title(title) and not _is_title(name)}
    return people if len(people) >= _MIN_PEOPLE else {}


def _firm_in(text: str) -> str:
    """Return the firm that signs a report, else the first that the passage names: `Ernst & Young LLP`."""
    known = patterns("answer_patterns")
    if signed := known["signature"].search(text):
        return signed[1]
    named = known["firm"].search(text)
    return " ".join(named[0].split()) if named else ""


def _is_title(words: str) -> bool:
    """Return whether words name an office: `Senior Vice President and Controller`."""
    return not word_lists("answer_words")["titles"].isdisjoint(words_in(words.lower()))
