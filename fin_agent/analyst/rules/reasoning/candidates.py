"""What of the evidence might answer a question: sentences with what follows them, lists, rows, names; each scored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from fin_agent.analyst.rules.reasoning.kinds import Kind, asks_all, asks_price, holds
from fin_agent.analyst.rules.reasoning.lists import is_enumeration, printed_lists
from fin_agent.analyst.rules.reasoning.names import (
    Person,
    firms_in,
    is_title,
    names_holder,
    office_asked,
    offices_of,
    people_in,
    title_now,
)
from fin_agent.analyst.rules.reasoning.scoring import Sought, points_elsewhere, worth_of
from fin_agent.analyst.rules.reasoning.sentences import Paragraph, is_whole, paragraphs_of, rows_of
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.terms import stems_of
from fin_agent.vocabulary.filing import PassageKind

_NAMED_ROW_BONUS = 2.0
_LIST_BONUS = 3.0
_NAMES_BONUS = 2.5
_PEOPLE_OF_A_LIST = 4
_OTHER_FILING = 0.8
_A_YEAR_OLDER = 0.93
_EVIDENCE_DECAY = 0.93
_LONGEST_SPAN = 420
_MOST_FOLLOWING = 2
_FEWEST_ROWS, _MOST_ROWS = 2, 15
_ENOUGH_OF_A_TITLE = 0.65
_POINTS_BACK = re.compile(
    r"^(?:this|these|such|it|they|he|she|those|the (?:increase|decrease|change|decline|growth|reduction|improvement))\b"
    r"|\bthis (?:asu|standard|guidance|update|program|transaction|agreement)\b",
    re.I,
)
"""A sentence that is understood only with the one before it."""
_SHORT_WORD, _LONG_TITLE, _CAPITALS = 3, 12, 0.75
_ALL_OF_IT = 0.75
"""A sentence that names the members of what is asked, and says this much of the question, is the whole list."""
_FOOTNOTE = re.compile(r"^\(\w{1,2}\)\S|^\*")
_OFFICES = re.compile(r"\b(?:officers?|executives?|directors?|management|leadership)\b", re.I)
_AUDITS = re.compile(r"\baudit\w*\b(?!\s+committee)|\baccounting firm\b|\baccountants?\b", re.I)
_REPORT = re.compile(r"\breport\s+of\s+(?:the\s+)?independent\s+(?:registered\s+)?(?:public\s+account|auditor)", re.I)
_ROWS_OF_TABLES = (Kind.COUNT, Kind.PLACE, Kind.TIME, Kind.WORDS)
_GOES_ON = (";", ",", ":", " and")
"""How a list ends that a page cuts."""
_FURNITURE = re.compile(r"^(?:\d{1,3}|table of contents|.{0,30}\bform 10-[kq]\b.{0,10})?$", re.I)
"""What stands under and over the words of a page."""
_NO_MEMBER = re.compile(r"\btotals?\b|\bother\b|\d|^\W", re.I)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words of one passage that might answer."""

    text: str
    evidence: int
    position: int
    last: int
    """Position of the last sentence it takes in."""
    score: float
    coverage: float
    """Share by weight of the question's own words it says."""
    words: int
    """Number of them."""
    alone: bool = False
    """Whether it is a whole answer: a list, a name."""


def candidates_of(
    sought: Sought, evidence: Sequence[Evidence], under: Callable[[RetrievedPassage, str], str] = lambda *_: ""
) -> Iterator[Candidate]:
    """All that is of the kind wanted and shares a telling word with the question.

    `under` says which part asked about the words of a passage stand under; it counts as their heading does.
    """
    for number, kept in enumerate(evidence):
        if sought.kind is Kind.CAUSE and _is_of_a_quarter(kept, sought.intent):
            continue
        worth = _EVIDENCE_DECAY**number * _of_its_time(kept, sought.intent, evidence)
        if kept.passage.kind is PassageKind.TABLE:
            part = under(kept.passage, kept.passage.text)
            yield from _of_a_table(kept.passage.text, number, worth, sought, part)
        else:
            paragraphs = [
                replace(each, heading=f"{part} {each.heading}" if part else each.heading)
                for each in paragraphs_of(kept.passage.text)
                for part in (under(kept.passage, each.sentences[0]),)
            ]
            yield from _sentences(paragraphs, number, worth, sought)
            yield from _lists(paragraphs, number, worth, sought)
        yield from _names(kept.passage.text, number, worth, sought)


def with_the_rest_of_lists(evidence: Sequence[Evidence], index: FilingIndex) -> list[Evidence]:
    """The same, with the next passage of the filing behind one that ends within a list."""
    return [_with_the_rest(kept, index) for kept in evidence]


def _with_the_rest(kept: Evidence, index: FilingIndex) -> Evidence:
    passage = kept.passage
    lines = passage.text.split("\n")
    while lines and _FURNITURE.match(lines[-1].strip()):
        lines.pop()
    text = "\n".join(lines).rstrip()
    if passage.kind is PassageKind.TABLE or not text.endswith(_GOES_ON):
        return kept
    pages = [PageKey(passage.doc_id, passage.page), PageKey(passage.doc_id, passage.page + 1)]
    after = (
        each.passage.text
        for each in index.passages(pages)
        if each.passage.ordinal > passage.ordinal and each.passage.kind is PassageKind.TEXT
    )
    rest = next(after, "").split("\n")
    while rest and _FURNITURE.match(rest[0].strip()):
        rest.pop(0)
    whole = "\n".join([text, *rest])
    return kept.model_copy(update={"passage": passage.model_copy(update={"text": whole})})


def _is_of_a_quarter(kept: Evidence, intent: Intent) -> bool:
    """Whether whole years are asked about, and the filing explains the quarters of one."""
    interim = kept.card is not None and kept.card.identity.quarter in (1, 2, 3)
    return interim and bool(intent.periods) and all(period.quarter is None for period in intent.periods)


def _of_its_time(kept: Evidence, intent: Intent, evidence: Sequence[Evidence]) -> float:
    """How well a passage's filing fits the periods asked about; the latest where none is."""
    if kept.card is None or kept.card.identity.fiscal_year is None:
        return 1.0
    filed, quarter = kept.card.identity.fiscal_year, kept.card.identity.quarter
    if not intent.periods:
        years = [each.card.identity.fiscal_year for each in evidence if each.card and each.card.identity.fiscal_year]
        return float(_A_YEAR_OLDER ** (max(years) - filed))
    if filed not in {period.fiscal_year for period in intent.periods}:
        return _OTHER_FILING
    of_a_year = all(period.quarter is None for period in intent.periods)
    return _OTHER_FILING if of_a_year and quarter in (1, 2, 3) else 1.0


def _sentences(paragraphs: Sequence[Paragraph], number: int, worth: float, sought: Sought) -> Iterator[Candidate]:
    parts = [(part, paragraph, place) for paragraph in paragraphs for place, part in enumerate(paragraph.sentences)]
    spans = [(part, position) for position, (part, _, _) in enumerate(parts)]
    office = office_asked(sought.intent.core) if sought.kind is Kind.PERSON else frozenset()
    if sought.kind is Kind.CAUSE or (sought.kind is Kind.WORDS and sought.intent.relation is Relation.EXPLANATION):
        spans = _with_what_follows(paragraphs)
    for position, ((lead, paragraph, place), (text, last)) in enumerate(zip(parts, spans, strict=True)):
        if not _may_stand(lead, paragraph):
            continue
        first = position
        if place and _POINTS_BACK.search(lead) and is_whole(before := paragraph.sentences[place - 1]):
            text, first = f"{before} {text}", position - 1
        found = worth_of(lead, text, paragraph.heading, sought)
        if (office and not names_holder(text, office)) or (sought.kind is Kind.LIST and text.endswith(_GOES_ON)):
            continue
        if found is not None:
            whole = sought.kind is Kind.LIST and is_enumeration(text) and found.coverage >= _ALL_OF_IT
            score = worth * found.score
            yield Candidate(text, number, first, last, score, found.coverage, found.words, alone=whole)


def _may_stand(lead: str, paragraph: Paragraph) -> bool:
    """Whether a sentence says something by itself: it is whole, and does not only announce what follows."""
    if lead.endswith(":") or _FOOTNOTE.match(lead) or _is_title(lead) or points_elsewhere(lead):
        return False
    return is_whole(lead) or (paragraph.item and not lead[:1].islower())


def _is_title(sentence: str) -> bool:
    """`Submission of Matters to a Vote of Security Holders.`: most of its longer words begin with capitals."""
    words = [word for word in sentence.split() if len(word) > _SHORT_WORD and word[0].isalpha()]
    return len(words) < _LONG_TITLE and sum(word[0].isupper() for word in words) > _CAPITALS * len(words)


def _with_what_follows(paragraphs: Sequence[Paragraph]) -> list[tuple[str, int]]:
    """Each sentence with the next of its paragraph while they are short: a change comes first, its reasons after.

    With the position of the last one taken in.
    """
    joined: list[tuple[str, int]] = []
    for paragraph in paragraphs:
        sentences = paragraph.sentences
        for place, sentence in enumerate(sentences):
            span, last = sentence, len(joined)
            for following in sentences[place + 1 : place + 1 + _MOST_FOLLOWING]:
                if len(span) + len(following) > _LONGEST_SPAN or not is_whole(following) or following.endswith(":"):
                    break
                span, last = f"{span} {following}", last + 1
            joined.append((span, last))
    return joined


def _lists(paragraphs: Sequence[Paragraph], number: int, worth: float, sought: Sought) -> Iterator[Candidate]:
    if sought.kind not in (Kind.LIST, Kind.CAUSE, Kind.WORDS):
        return
    sentences = [sentence for paragraph in paragraphs for sentence in paragraph.sentences]
    for printed in printed_lists(paragraphs):
        if printed.last == len(sentences) - 1 and sentences[-1].endswith(_GOES_ON):
            continue
        if sought.kind is Kind.CAUSE and not holds(Kind.CAUSE, printed.lead):
            continue
        if sought.kind is not Kind.CAUSE and len(printed.items) < _FEWEST_ROWS:
            continue
        found = worth_of(printed.lead, printed.lead, printed.heading, sought)
        if found is not None:
            score = worth * found.score * (1.0 if sought.kind is Kind.WORDS else _LIST_BONUS)
            yield Candidate(
                printed.text, number, printed.position, printed.last, score, found.coverage, found.words, alone=True
            )


def _of_a_table(table: str, number: int, worth: float, sought: Sought, part: str) -> Iterator[Candidate]:
    if sought.kind is Kind.LIST and asks_all(sought.intent.core, "rows"):
        yield from _labels(table, number, worth, sought)
    if sought.kind not in _ROWS_OF_TABLES:
        return
    if asks_price(sought.intent.core):
        over = paragraphs_of(table.split("\n", 1)[0])
        yield from _sentences(over, number, worth, sought)
    for position, row in enumerate(rows_of(table)):
        found = worth_of(row, row, part, sought)
        if found is not None:
            score = worth * found.score * (_NAMED_ROW_BONUS if _is_named(row, sought) else 1.0)
            yield Candidate(row, number, position, position, score, found.coverage, found.words)


def _labels(table: str, number: int, worth: float, sought: Sought) -> Iterator[Candidate]:
    """The rows of a table whose caption is about the question."""
    caption = table.split("\n", 1)[0]
    labels = [row.split(": ", 1)[0].rpartition(" > ")[2] for row in rows_of(table)]
    members = list(dict.fromkeys(label for label in labels if not _NO_MEMBER.search(label)))
    found = worth_of(caption, caption, "", sought)
    if found is not None and _FEWEST_ROWS <= len(members) <= _MOST_ROWS:
        text = "; ".join(members) + "."
        yield Candidate(text, number, 0, 0, worth * found.score, found.coverage, found.words, alone=True)


def _is_named(row: str, sought: Sought) -> bool:
    """Whether the question says all that a row's own label says: `iPhone` in "What was iPhone revenue?"."""
    name = re.split(r":\s(?=[^:]*\d)", row, maxsplit=1)[0]
    label = stems_of(re.split(r" > |: ", name)[-1])
    return bool(label) and all(stem in sought.telling.own for stem in label)


def _names(text: str, number: int, worth: float, sought: Sought) -> Iterator[Candidate]:
    if sought.kind not in (Kind.PERSON, Kind.LIST):
        return
    core, telling = sought.intent.core, sought.telling
    if _AUDITS.search(core):
        said = set(stems_of(text))
        if _REPORT.search(text):  # whoever signs it is the auditor: the word itself need not stand there
            said |= {stem for word in _AUDITS.findall(core) for stem in stems_of(word)}
        coverage = telling.coverage(said)
        for firm in firms_in(text)[:1]:
            yield Candidate(f"{firm}.", number, 0, 0, worth * _NAMES_BONUS * coverage, coverage, 1, alone=True)
        return
    people = people_in(text)
    if sought.kind is Kind.LIST and _OFFICES.search(core) and people:
        listed = "; ".join(f"{person.name}, {title_now(person.title)}" for person in people)
        coverage = telling.coverage(set(stems_of(text)))
        score = worth * _NAMES_BONUS * coverage * min(1.0, len(people) / _PEOPLE_OF_A_LIST)
        yield Candidate(f"{listed}.", number, 0, 0, score, coverage, 1, alone=True)
    elif sought.kind is Kind.PERSON and is_title(core):
        yield from _in_office(people, number, worth, sought)


def _in_office(people: Sequence[Person], number: int, worth: float, sought: Sought) -> Iterator[Candidate]:
    """Who holds the office asked about; not one whose title narrows it: `Group CEO - Consumer`, `President, Europe`."""
    for position, person in enumerate(people):
        offices = offices_of(person.title)
        coverage = max((_of_the_office(office, sought) for office in offices), default=0.0)
        if coverage >= _ENOUGH_OF_A_TITLE:
            text = f"{person.name}, {title_now(person.title)}."
            score = worth * _NAMES_BONUS * coverage
            yield Candidate(text, number, position, position, score, 1.0, 1, alone=True)


def _of_the_office(office: str, sought: Sought) -> float:
    """How much of the question an office says; nothing where it says more, or is another."""
    telling = sought.telling
    stems = set(stems_of(office))
    asked = office_asked(sought.intent.core)
    if asked:
        own = [set(stems_of(way)) for way in asked]
        beside = {*telling.own, *stems_of("board of directors of the company")}
        return 1.0 if any(way <= stems and stems - way <= beside for way in own) else 0.0
    known = {*telling.own, *(stem for terms in telling.others.values() for term in terms for stem in term)}
    return telling.coverage(stems) if stems <= known and stems & set(telling.own) else 0.0
