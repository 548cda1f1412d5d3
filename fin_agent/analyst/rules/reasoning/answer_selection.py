"""Select answers in words: for each part of a question the best sentence, list or name, or what was not found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property

from fin_agent.analyst.protocol import Reasoning
from fin_agent.analyst.rules.reasoning.answer_candidates import (
    AnswerTarget,
    Candidate,
    FilingPeriod,
    candidates_of,
    matches_period,
)
from fin_agent.analyst.rules.reasoning.answer_type_matching import has_listed_prefix, leading_fact, matches_type
from fin_agent.analyst.rules.reasoning.cover_page_answers import cover_answer
from fin_agent.analyst.rules.reasoning.question_parts import (
    FIGURES,
    AnswerType,
    QuestionPart,
    parts_of,
    unanswerable_reason,
)
from fin_agent.analyst.rules.reasoning.table_answers import answers_from_tables, later_years
from fin_agent.analyst.rules.reasoning.term_coverage import (
    Term,
    coverage,
    mark_absent_terms,
    stems_in,
    terms_of,
)
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.prompts import remove_instructions, signs_of_injection
from fin_agent.vocabulary.identity import Form, Identity

_FILINGS, _FURTHER = 4, 40
"""Number of filings searched in addition to the evidence, and of their passages read."""
_MOST = {AnswerType.CAUSE: 3, AnswerType.SENTENCE: 2, AnswerType.LIST: 3, AnswerType.VERDICT: 2}
"""Sentences of an answer by type; one for a fact."""
_WORTH_OF_THE_BEST, _WORTH_OF_ANOTHER = 0.85, 0.5
_MAX_ANSWER_LENGTH = 1100
_ALIKE = 0.7
_OWN_WORDS_OF_A_FURTHER_PART = 0.6
_NEAR = 3
"""Sentences after an answer in which a further part of the question is searched first."""


def reason(
    intent: Intent,
    evidence: Sequence[Evidence],
    index: FilingIndex,
    lexicon: Lexicon | None = None,
    filings: Mapping[str, Sequence[str]] | None = None,
    considers: Callable[[str], bool] | None = None,
) -> Reasoning:
    """Answer each part of a question from the evidence and filings, with citations.

    Each of several companies is answered from its own filings, and numbers of the same kind are compared. Parts without
    an answer are named; if the first part has none, only what was searched for is returned.

    Args:
        intent: The intent.
        evidence: The evidence.
        index: The index.
        lexicon: Adds filings' terms for a subject; None for the question's words only.
        filings: Filings of each company by key, best first.
        considers: Accepts sentences; those scoring at least half of the best are offered. None accepts all.
    """
    never = unanswerable_reason(intent.core)
    if never:
        return Reasoning(text="", citations=(), missing=(never,))
    own = filings or {}
    if len(intent.companies) < _SEVERAL:
        return _answers_for_company(
            intent, evidence, index, lexicon, [each for found in own.values() for each in found], considers
        )
    each = [
        _answers_for_company(
            intent.model_copy(update={"companies": (company,)}),
            [kept for kept in evidence if kept.passage.doc_id in own.get(company.key, ())],
            index,
            lexicon,
            own.get(company.key, ()),
            considers,
        )
        for company in intent.companies
    ]
    missing = tuple(
        f"{company.name}: {lacking}"
        for company, one in zip(intent.companies, each, strict=True)
        for lacking in one.missing
    )
    if not any(one.text for one in each):
        return Reasoning(text="", citations=(), missing=missing)
    said = [f"{company.name}: {one.text}" for company, one in zip(intent.companies, each, strict=True) if one.text]
    told = [*_comparison_sentence([one.text for one in each], [company.name for company in intent.companies]), *said]
    return Reasoning(
        text=" ".join([*told, *(f"Not found: {lacking}." for lacking in missing)]),
        citations=tuple(cited for one in each for cited in one.citations),
        read=tuple(sorted({page for one in each for page in one.read})),
    )


_SEVERAL = 2
_LED_BY_NUMBER = re.compile(
    r"^((?:US)?[$€£¥]?)(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(\s?(?:million|billion|%|percent))?:\s"
)


def _comparison_sentence(texts: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Yield which of two companies has more, and by how much, if both answers are numbers of the same unit."""
    led = [_LED_BY_NUMBER.match(text) for text in texts]
    if len(led) != _SEVERAL or not all(led):
        return
    units = {(found[1], found[3]) for found in led if found}
    first, second = (Decimal(found[2].replace(",", "")) for found in led if found)
    if len(units) > 1 or first == second:
        return
    (before, after) = units.pop()
    more = names[0] if first > second else names[1]
    yield f"{more} has more, by {before or ''}{abs(first - second):,}{after or ''}."


def _answers_for_company(
    intent: Intent,
    evidence: Sequence[Evidence],
    index: FilingIndex,
    lexicon: Lexicon | None,
    filings: Sequence[str],
    considers: Callable[[str], bool] | None,
) -> Reasoning:
    """Answer each part of a question from the evidence and the named filings, best first."""
    if intent.ambiguous:
        return Reasoning(text="", citations=(), missing=intent.unsupported)
    figure = intent.asks_figure or (intent.names_metric and has_listed_prefix("expected", intent.core))
    parts = parts_of(intent.core, figure=figure, counted=intent.measure if intent.numeric else "")
    reader = _PassageReader(intent, parts, evidence, index, lexicon, filings, considers)
    tabled = reader.table_answer
    if tabled is not None and not any(signs_of_injection(cited.text) for cited in tabled.citations):
        return tabled
    told: list[Candidate] = []
    unanswered: list[QuestionPart] = []
    pieces: list[str] = []
    for number, part in enumerate(parts):
        target = reader.target(number)
        chosen = _further_part_answers(told, target, reader) if told else []
        chosen = chosen or _best_sentences(target, reader, told)
        if not chosen:
            if number == 0:
                return Reasoning(text="", citations=(), missing=(*intent.unsupported, reader.not_found_message(number)))
            unanswered.append(part)
            continue
        chosen = _in_printed_order(chosen) if part.answer_type is AnswerType.CAUSE else chosen
        known = {(each.passage.key, each.text) for each in told}
        new = [each for each in chosen if (each.passage.key, each.text) not in known]
        pieces.append(_answer_sentences(chosen, new, target))
        unsaid = [repr(term.words) for term in target.terms if term.is_absent and not term.is_context]
        pieces += [f"Not said there: {', '.join(unsaid)}."] if unsaid else []
        told += new
    if unanswered:
        pieces.append(f"Not found: {'; '.join(part.text for part in unanswered)}.")
    read = tuple(sorted({PageKey(each.passage.doc_id, each.passage.page) for each in told}))
    citations = tuple(
        Citation(doc_id=each.passage.doc_id, page=each.passage.page, text=each.text, box=each.passage.box)
        for each in told
    )
    return Reasoning(text=" ".join(filter(None, pieces)), citations=citations, read=read)


def _in_printed_order(chosen: Sequence[Candidate]) -> list[Candidate]:
    """Return sentences of one passage in its order, and passages in the order of their best sentence."""
    passages = list(dict.fromkeys(each.passage.key for each in chosen))
    return sorted(
        chosen,
        key=lambda one: (passages.index(one.passage.key), " ".join(one.passage.text.split()).find(one.text[:40])),
    )


class _PassageReader:
    """The passages that may answer, and the prepared parts of a question."""

    def __init__(
        self,
        intent: Intent,
        parts: Sequence[QuestionPart],
        evidence: Sequence[Evidence],
        index: FilingIndex,
        lexicon: Lexicon | None,
        filings: Sequence[str],
        considers: Callable[[str], bool] | None,
    ) -> None:
        self.considers = considers
        self.parts, self._evidence, self._index, self._filings = parts, evidence, index, filings
        self._intent, self._lexicon = intent, lexicon
        self._terms = terms_of(parts, intent, index, lexicon)

    def target(self, number: int) -> AnswerTarget:
        """Return one part of the question with its terms."""
        filed = [filed.year for _, filed in self.passages if filed.year]
        later = frozenset(later_years(self._intent, max(filed, default=None)))
        terms = mark_absent_terms(self._terms[number], self._stems_read)
        return AnswerTarget(self._intent, self.parts[number], terms, self._lexicon, later)

    @cached_property
    def _stems_read(self) -> frozenset[str]:
        """The stems of everything read."""
        return frozenset(each for passage, _ in self.passages for each in stems_in(passage.text))

    @property
    def table_answer(self) -> Reasoning | None:
        """An answer from a cover page or the rows of a table."""
        first = self.target(0)
        covers = cover_answer(first, self._evidence, self._index, self._filings)
        return covers or (answers_from_tables(first, self._evidence, self._index) if len(self.parts) == 1 else None)

    @cached_property
    def passages(self) -> list[tuple[RetrievedPassage, FilingPeriod]]:
        """(passage, period of its filing), evidence first, without duplicates."""
        years = {
            kept.passage.doc_id: FilingPeriod(kept.card.identity.fiscal_year, kept.card.identity.quarter)
            for kept in self._evidence
            if kept.card
        }
        found = {kept.passage.key: kept.passage for kept in self._evidence}
        dated = bool(self._intent.dates) and Form.EIGHT_K in self._intent.forms  # one report: the first one found
        filings = (
            []
            if dated
            else list(dict.fromkeys([*self._filings[:_FILINGS], *(doc for doc in years if doc in self._filings)]))
        )
        if filings:
            years |= {doc_id: _filing_period(self._index.filing(doc_id).identity) for doc_id in filings}
            asked = {period.fiscal_year for period in self._intent.periods}
            own = [doc_id for doc_id in filings if years[doc_id].year in asked]
            for searched in filter(None, (own, filings)):
                for passage in self._searched(searched):
                    found.setdefault(passage.key, passage)
        return [(passage, years.get(passage.doc_id, FilingPeriod())) for passage in found.values()]

    def _searched(self, filings: Sequence[str]) -> Iterator[RetrievedPassage]:
        words = [term.words for terms in self._terms for term in terms if not term.is_context]
        others = [phrase for terms in self._terms for term in terms if not term.is_context for phrase in term.phrases]
        for searched in (words, [*words, *others]):
            hits = self._index.search_passages(list(dict.fromkeys(searched)), doc_ids=filings, limit=_FURTHER)
            pages = list(dict.fromkeys(hit.key for hit in hits))
            stored = {(each.doc_id, each.passage.ordinal): each for each in self._index.passages(pages)}
            for hit in hits:
                if (hit.doc_id, hit.ordinal) in stored:
                    yield RetrievedPassage.of(stored[hit.doc_id, hit.ordinal], hit.score, 1)

    def not_found_message(self, number: int) -> str:
        """Return what was not found for a part, with the nearest pages."""
        part = self.parts[number]
        terms = [term for term in self.target(number).terms if not term.is_context and not term.is_everyday]
        absent = [term.words for term in terms if term.is_absent]
        missing = f"{part.answer_type.value} in answer to: {part.text}"
        if not absent and terms:
            missing += f" (no sentence contains enough of {', '.join(repr(term.words) for term in terms)})"
        elif absent:
            missing += f" (no passage found mentions {', '.join(map(repr, absent))})"
        pages = list(dict.fromkeys((passage.doc_id, passage.page + 1) for passage, _ in self.passages))[:_NEAREST]
        near = "; ".join(f"{doc_id} page {page}" for doc_id, page in pages)
        return f"{missing}; nearest: {near}" if near else missing


_NEAREST = 2


def _filing_period(identity: Identity) -> FilingPeriod:
    results = identity.results
    return (
        FilingPeriod(results.fiscal_year, results.quarter)
        if results
        else FilingPeriod(identity.fiscal_year, identity.quarter)
    )


_OF_A_SUBJECT = FIGURES | {AnswerType.CAUSE, AnswerType.SENTENCE, AnswerType.VERDICT}


def _best_sentences(target: AnswerTarget, reader: _PassageReader, told: Sequence[Candidate]) -> list[Candidate]:
    """Return the best sentences for one part, best first, close to those of earlier parts.

    Empty for a question without a subject, unless it is about a report, since any sentence would match.
    """
    telling = any(not (term.is_context or term.is_everyday) for term in target.terms)
    of_a_report = bool(target.intent.forms or target.intent.dates)
    if not (told or of_a_report or telling) and target.part.answer_type in _OF_A_SUBJECT:
        return []
    found = [
        replace(each, score=each.score * _proximity_weight(each, told))
        for each in candidates_of(target, reader.passages)
    ]
    found.sort(key=lambda each: (-round(each.score, 9), each.place, each.position))
    if reader.considers is not None and found:
        least = _WORTH_OF_ANOTHER * found[0].score
        found = [each for each in found if each.score >= least and reader.considers(each.text)]
    most = _MOST.get(target.part.answer_type, 1)
    return list(_without_repetition(found, 1 if told else most))


def _proximity_weight(candidate: Candidate, told: Sequence[Candidate]) -> float:
    """Return the weight of a sentence's place for a further part: another filing may be about something else."""
    if not told:
        return 1.0
    places = {(each.passage.doc_id, each.passage.page) for each in told}
    if candidate.passage.doc_id not in {doc_id for doc_id, _ in places}:
        return _ELSEWHERE
    near = any(
        doc_id == candidate.passage.doc_id and abs(page - candidate.passage.page) <= 1 for doc_id, page in places
    )
    return _NEAR_BY if near else 1.0


_ELSEWHERE, _NEAR_BY = 0.7, 1.4


def _without_repetition(found: Iterable[Candidate], most: int) -> Iterator[Candidate]:
    """Yield the first few sentences without repetition and with sufficient scores; a list or name is yielded alone."""
    chosen: list[Candidate] = []
    for each in found:
        if not _may_be_quoted(each):
            continue
        if chosen and (each.score < _WORTH_OF_THE_BEST * chosen[0].score or each.alone):
            continue
        if chosen and each.passage.doc_id != chosen[0].passage.doc_id:
            continue
        if any(_repeats(each, other) for other in chosen):
            continue
        if chosen and sum(len(other.text) for other in (*chosen, each)) > _MAX_ANSWER_LENGTH:
            continue
        chosen.append(each)
        if each.alone or len(chosen) == most:
            break
    yield from chosen


def _may_be_quoted(one: Candidate) -> bool:
    """Return whether the text and its surroundings contain no instructions to the reader."""
    text = one.passage.text
    if not signs_of_injection(text):
        return True
    return " ".join(one.text.split()) in " ".join(remove_instructions(text).split())


def _repeats(one: Candidate, other: Candidate) -> bool:
    first, second = set(stems_in(one.text)), set(stems_in(other.text))
    overlap = one.place == other.place and one.position <= other.last and other.position <= one.last
    return overlap or len(first & second) > _ALIKE * min(len(first), len(second))


def _further_part_answers(told: Sequence[Candidate], target: AnswerTarget, reader: _PassageReader) -> list[Candidate]:
    """Return the answer to a further part after earlier ones: the same sentence, or one directly after it."""
    own = [term for term in target.terms if not term.is_context]
    own = own or (
        [] if target.part.answer_type in FIGURES or target.part.answer_type is AnswerType.DATE else list(target.terms)
    )
    for first in told:
        if target.part.answer_type is AnswerType.SENTENCE and not own:
            break
        if _answers_part(first.text, first.text, own, target) and not (first.alone and len(first.text) < _SHORT):
            return [first]
        for following in first.following[:_NEAR]:
            if _answers_part(following, f"{first.text} {following}", own or target.terms, target):
                further = replace(first, text=following, following=())
                return [further] if _may_be_quoted(further) else []
    return []


_SHORT = 60


def _answers_part(text: str, around: str, own: Sequence[Term], target: AnswerTarget) -> bool:
    if not matches_type(text, target.part) or (target.part.answer_type is AnswerType.VERDICT and not own):
        return False
    if target.part.answer_type in FIGURES and not matches_period(text, target, None):
        return False
    return not own or coverage(own, stems_in(text), stems_in(around)) >= _OWN_WORDS_OF_A_FURTHER_PART


def _answer_sentences(chosen: Sequence[Candidate], new: Sequence[Candidate], target: AnswerTarget) -> str:
    """Return the requested fact, then the sentences with it, without repetition."""
    led = leading_fact(chosen[0].text, target.part) if len(chosen) == 1 and not chosen[0].alone else ""
    text = " ".join(each.text for each in new)
    if not text:
        return f"{led}." if led else ""
    return f"{led}: {text}" if led else text
