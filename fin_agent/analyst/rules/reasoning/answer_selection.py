"""Select answers in words: for each part of a question the best sentence, list or name, or what was not found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from textwrap import shorten

from fin_agent.analyst.reasoning_result import Reasoning
from fin_agent.analyst.rules.reasoning.answer_candidates import (
    LAST_OF_COVER,
    AnswerTarget,
    Candidate,
    DatedPassages,
    FilingPeriod,
    asks_transactions,
    before_the_cause,
    candidates_beside,
    candidates_of,
    closest_sentences,
    has_listed_prefix,
    long_forms_in,
    movement_directions,
)
from fin_agent.analyst.rules.reasoning.question_parts import (
    FIGURES,
    AnswerType,
    QuestionPart,
    cover_attribute,
    parts_of,
    unanswerable_reason,
)
from fin_agent.analyst.rules.reasoning.table_answers import answers_from_tables, outlook_answer, registered_securities
from fin_agent.analyst.rules.reasoning.term_coverage import mark_absent_terms, stems_in, terms_of
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.index.protocol import FilingIndex, PageKey, StoredPassage
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.words import patterns
from fin_agent.prompts import remove_instructions, signs_of_injection
from fin_agent.vocabulary.identity import Form

_FILINGS, _FURTHER = 4, 40
"""Number of filings searched in addition to the evidence, and of their passages read."""
_MOST = dict.fromkeys((AnswerType.CAUSE, AnswerType.LIST, AnswerType.STATUS), 3) | dict.fromkeys(
    (AnswerType.SENTENCE, AnswerType.VERDICT, AnswerType.DEFINITION, AnswerType.TERMS, AnswerType.CONDITION), 2
)
"""Sentences of an answer by type; one for a fact."""
_WORTH_OF_THE_BEST, _WORTH_OF_ANOTHER = 0.85, 0.4
_MOST_DEALS, _WORTH_OF_ANOTHER_DEAL = 5, 0.6
"""Of what was bought or sold each is told once, and each is an answer."""
_MAX_ANSWER_LENGTH = 1100
_ALIKE = 0.7
_NEXT_TO = 2
"""Sentences from one to another of the same subject, which need not be named again."""
_NEAREST, _NEAR_ENOUGH, _MAX_NEAR = 2, 0.4, 450
"""Sentences shown where none answers, their least score, and characters shown of each."""
_OF_A_SUBJECT = FIGURES | {AnswerType.CAUSE, AnswerType.SENTENCE, AnswerType.VERDICT, AnswerType.PRACTICE}
_OF_A_SUBJECT |= {AnswerType.TERMS, AnswerType.STATUS}


def reason(
    intent: Intent,
    evidence: Sequence[Evidence],
    index: FilingIndex,
    lexicon: Lexicon,
    filings: Mapping[str, Sequence[str]] | None = None,
    considers: Callable[[str], bool] | None = None,
) -> Reasoning:
    """Answer each part of a question from the evidence and filings, with citations.

    Each of several companies is answered from its own filings. Parts without an answer are named; if the first part has
    none, only what was searched for is returned. `filings` are those of each company by key, best first; `considers`
    accepts sentences, and is offered those that score at least two fifths of the best.
    """
    never = unanswerable_reason(intent.core, of_company=bool(intent.companies))
    if never:
        return Reasoning(text="", citations=(), missing=(never,))
    own = filings or {}
    if len(intent.companies) < 2:
        every = [each for found in own.values() for each in found]
        return _Answers(intent, evidence, index, lexicon, every, considers).reasoning()
    answers: dict[str, Reasoning] = {}
    for company in intent.companies:
        listed = own.get(company.key, ())
        kept = [each for each in evidence if each.passage.doc_id in listed]
        of_one = intent.model_copy(update={"companies": (company,)})
        answers[company.name] = _Answers(of_one, kept, index, lexicon, listed, considers).reasoning()
    missing = tuple(f"{name}: {lacking}" for name, one in answers.items() for lacking in one.missing)
    told = [f"{name}: {one.text}" for name, one in answers.items() if one.text]
    if not told:
        return Reasoning(text="", citations=(), missing=missing)
    return Reasoning(
        text=" ".join([*told, *(f"Not found: {lacking}." for lacking in missing)]),
        citations=tuple(cited for one in answers.values() for cited in one.citations),
        read=tuple(sorted({page for one in answers.values() for page in one.read})),
    )


class _Answers:
    """The answers to the parts of a question about one company, from the evidence and its filings, best first."""

    def __init__(
        self,
        intent: Intent,
        evidence: Sequence[Evidence],
        index: FilingIndex,
        lexicon: Lexicon,
        filings: Sequence[str],
        considers: Callable[[str], bool] | None,
    ) -> None:
        figure = intent.asks_figure or (intent.names_metric and has_listed_prefix("expected", intent.core))
        counted = intent.measure if intent.numeric and not intent.beside else ""
        parts = parts_of(intent.core, figure=figure, counted=counted)
        self._parts = [each for part in parts for each in _of_each_measure(part, lexicon)]
        self._intent, self._lexicon, self._considers = intent, lexicon, considers
        self._evidence, self._index, self._filings = evidence, index, filings
        self._terms = terms_of(self._parts, intent, index, lexicon)
        self._stored: dict[tuple[str, int], StoredPassage] = {}

    def reasoning(self) -> Reasoning:
        """Return the answer to each part; only what was searched for if the first part has none."""
        if self._intent.ambiguous:
            return Reasoning(text="", citations=(), missing=self._intent.unsupported)
        if self._intent.beside:
            return self._beside_answer()
        found = self._from_tables()
        if found is not None and not any(signs_of_injection(cited.text) for cited in found.citations):
            return found
        told: dict[str, Candidate] = {}
        pieces: list[str] = []
        unanswered: list[str] = []
        for number, part in enumerate(self._parts):
            target = self._target(number)
            most = 1 if told else _MOST.get(part.answer_type, 1)
            beside = _beside(target, self._around(told.values()))
            chosen = beside or _best_candidates(target, self.passages, self._considers, most)
            if not chosen and number == 0:
                missing = (*self._intent.unsupported, self._not_found_message(target))
                return Reasoning(text="", citations=(), missing=missing)
            before = "\n".join(told)
            new = {each.text: each for each in chosen if each.text not in before}
            if not any((beside, new, chosen and part.answer_type in FIGURES)):
                unanswered.append(part.text)
            pieces += [*new, *(target.unsaid() if new else ())]
            told |= new
        pieces += [f"Not found: {'; '.join(unanswered)}."] if unanswered else []
        return _quoted(" ".join(pieces), {text: each.passage for text, each in told.items()})

    def _around(self, told: Iterable[Candidate]) -> list[tuple[RetrievedPassage, str]]:
        """Return each text told with its passage, and with those of its page and of the next, where it may go on."""
        quotes = [(one.passage, one.text) for one in told]
        for of, text in tuple(quotes):
            pages = [of.on_page, PageKey(of.doc_id, of.page + 1)]
            quotes += [(RetrievedPassage.of(each, 0.0, 1), text) for each in self._index.passages(pages)]
        return quotes

    def _beside_answer(self) -> Reasoning:
        """Return the answer to a request that follows another, from what was quoted for that one and around it."""
        passages = [kept.passage for kept in self._evidence]
        quotes = [(passage, quote) for quote in self._intent.beside for passage in passages]
        found = [_beside(self._target(number), quotes)[:1] for number in range(len(self._parts))]
        if not all(found):
            return Reasoning(text="", citations=())
        chosen = {each.text: each.passage for one in found for each in one}
        return _quoted(" ".join(chosen), chosen)

    def _from_tables(self) -> Reasoning | None:
        """Return an answer from a cover, a table or the outlook of a release; None if none of them has one."""
        found = registered_securities(self._intent, self._evidence, self._index, self._filings)
        first, *others = (set(stems_in(part.text)) for part in self._parts)
        if found is None and all(one <= first for one in others):  # `which closed the most, and how many did it close`
            found = answers_from_tables(self._intent, self._target(0).terms, self._evidence, self._index)
        return outlook_answer(self._target(0), self.passages) if found is None else found

    def _target(self, number: int) -> AnswerTarget:
        """Return one part of the question with its terms."""
        terms = mark_absent_terms(self._terms[number], self._stems_read)
        return AnswerTarget(self._intent, self._parts[number], terms, self._lexicon, self._long_forms)

    @cached_property
    def _long_forms(self) -> dict[str, frozenset[str]]:
        """The names that what was read gives in short."""
        return long_forms_in(passage.text for passage, _ in self.passages)

    @cached_property
    def _stems_read(self) -> frozenset[str]:
        """The stems of everything read."""
        return frozenset(stems_in("\n".join(passage.text for passage, _ in self.passages)))

    @cached_property
    def passages(self) -> list[tuple[RetrievedPassage, FilingPeriod]]:
        """(passage, period of its filing), evidence first, without duplicates."""
        cards = {kept.passage.doc_id: kept.card.identity for kept in self._evidence if kept.card}
        years = {doc_id: FilingPeriod(of.fiscal_year, of.quarter) for doc_id, of in cards.items()}
        found = {kept.passage.key: kept.passage for kept in self._evidence}
        one_report = bool(self._intent.dates) and Form.EIGHT_K in self._intent.forms  # the first one found
        also = [doc_id for doc_id in years if doc_id in self._filings]
        filings = [] if one_report else list(dict.fromkeys([*self._filings[:_FILINGS], *also]))
        for doc_id in filings:
            identity = self._index.filing(doc_id).identity
            of = identity.results or identity
            years[doc_id] = FilingPeriod(of.fiscal_year, of.quarter)
        for searched in self._in_turn(filings, years):
            for passage in self._searched(searched):
                found.setdefault(passage.key, passage)
        if cover_attribute(self._intent.core):
            covers = [PageKey(doc_id, page) for doc_id in filings for page in range(LAST_OF_COVER + 1)]
            for stored in self._index.passages(covers):
                cover = RetrievedPassage.of(stored, 0.0, 1)
                found.setdefault(cover.key, cover)
        return [(passage, years.get(passage.doc_id, FilingPeriod())) for passage in found.values()]

    def _in_turn(self, filings: Sequence[str], years: Mapping[str, FilingPeriod]) -> Iterator[Sequence[str]]:
        """Yield the filings of the periods asked about, of a forecast those of the year before, then all filings."""
        asked = {period.fiscal_year for period in self._intent.periods}
        announced = {year - 1 for year in asked if has_listed_prefix("expected", self._intent.core)}
        for some in (asked, announced):
            if own := [doc_id for doc_id in filings if years[doc_id].year in some]:
                yield own
        if filings:
            yield filings

    def _searched(self, filings: Sequence[str]) -> Iterator[RetrievedPassage]:
        terms = [term for terms in self._terms for term in terms if not term.is_context]
        words = [term.words for term in terms]
        usual = [word for term in terms for word in term.usual or (term.words,)]
        every = [*words, *(phrase for term in terms for phrase in term.phrases)]
        for searched in dict.fromkeys(tuple(dict.fromkeys(some)) for some in (words, usual, every)):
            hits = self._index.search_passages(searched, doc_ids=filings, limit=_FURTHER)
            unread = list(dict.fromkeys(hit.key for hit in hits if (hit.doc_id, hit.ordinal) not in self._stored))
            self._stored |= {(each.doc_id, each.passage.ordinal): each for each in self._index.passages(unread)}
            for hit in hits:
                if (hit.doc_id, hit.ordinal) in self._stored:
                    yield RetrievedPassage.of(self._stored[hit.doc_id, hit.ordinal], hit.score, 1)

    def _not_found_message(self, target: AnswerTarget) -> str:
        """Return what was not found for a part, with the nearest sentences, or the nearest pages if there are none."""
        terms = [term for term in target.terms if not term.is_context and not term.is_everyday]
        absent = [term.words for term in terms if term.is_absent]
        missing = f"{target.part.answer_type.value} in answer to: {target.part.text}"
        if absent:
            missing += f" (no passage found mentions {', '.join(map(repr, absent))})"
        elif terms:
            missing += f" (no sentence contains enough of {', '.join(repr(term.words) for term in terms)})"
        found = sorted(closest_sentences(target, self.passages), key=lambda each: (-round(each.score, 9), each.place))
        close = _without_repetition((each for each in found if each.score >= _NEAR_ENOUGH), _NEAREST)
        said = [f"{_page_name(each.passage)}: “{shorten(each.text, _MAX_NEAR, placeholder=' …')}”" for each in close]
        pages = dict.fromkeys(_page_name(passage) for passage, _ in self.passages)
        near = "; ".join(said or list(pages)[:_NEAREST])
        return f"{missing}; nearest: {near}" if near else missing


def _page_name(of: RetrievedPassage) -> str:
    return f"{of.doc_id} page {of.page + 1}"


def _of_each_measure(part: QuestionPart, lexicon: Lexicon) -> Iterator[QuestionPart]:
    """Yield a part that asks the same of two things once for each: `guidance for sales and income`."""
    text = part.text
    if part.answer_type in FIGURES and (two := patterns("answer_patterns")["for each"].fullmatch(text)):
        yield from (replace(part, text=f"{two['lead']} {two[one]}{two['rest']}") for one in ("one", "other"))
        return
    found = lexicon.mentions(text) if has_listed_prefix("expected", text) else ()
    places = sorted({(one.start, one.end) for one in found})
    pairs = [(one, other) for one, other in pairwise(places) if stems_in(text[one[1] : other[0]]) == ()]
    if part.answer_type not in FIGURES or len(pairs) != 1 or " and " not in text[pairs[0][0][1] : pairs[0][1][0]]:
        yield part
        return
    ((start, end), (second, last)), *_ = pairs
    yield replace(part, text=text[:end] + text[last:])
    yield replace(part, text=text[:start] + text[second:])


def _quoted(text: str, passages: Mapping[str, RetrievedPassage]) -> Reasoning:
    """Return an answer with its citations: each text that it quotes, and the passage that has it."""
    cited = (Citation(doc_id=of.doc_id, page=of.page, text=quote, box=of.box) for quote, of in passages.items())
    pages = tuple(sorted({passage.on_page for passage in passages.values()}))
    return Reasoning(text=text, citations=tuple(cited), read=pages)


def _best_candidates(
    target: AnswerTarget, passages: DatedPassages, considers: Callable[[str], bool] | None, most: int
) -> list[Candidate]:
    """Return at most `most` candidates for one part, best first; reasons are in printed order.

    Empty for a question without a subject, unless it is about a report, since any sentence would match.
    """
    of_a_report = bool(target.intent.forms or target.intent.dates)
    telling = target.telling_terms
    if target.part.answer_type in FIGURES | {AnswerType.CAUSE}:
        telling = [term for term in telling if not any(movement_directions(term.words))]  # `how much did it rise`
    if not (of_a_report or telling) and target.part.answer_type in _OF_A_SUBJECT:
        return []
    found = sorted(candidates_of(target, passages), key=lambda each: (-round(each.score, 9), each.place, each.position))
    if considers is not None and found:
        least = _WORTH_OF_ANOTHER * found[0].score
        found = [each for each in found if each.score >= least and considers(each.text)]
    chosen = _deals_in(found) if asks_transactions(target.part) else _without_repetition(found, most)
    if target.part.answer_type is AnswerType.CAUSE:
        chosen = [each for each in chosen if _is_as_much_about(each, chosen[0], target)]
        places = list(dict.fromkeys(each.place for each in chosen))
        chosen.sort(key=lambda each: (places.index(each.place), each.position))
    return chosen


def _deals_in(found: Sequence[Candidate]) -> list[Candidate]:
    """Return the best candidate for each thing that was bought or sold, by its name."""
    parties = ((patterns("answer_patterns")["transaction"].search(each.text), each) for each in reversed(found))
    of_each = {deal["party"]: each for deal, each in parties if deal is not None}
    return _without_repetition(sorted(of_each.values(), key=found.index), _MOST_DEALS, _WORTH_OF_ANOTHER_DEAL)


def _is_as_much_about(one: Candidate, best: Candidate, target: AnswerTarget) -> bool:
    """Return whether a reason beside the best names all of the subject that this one names, or stands next to it."""
    next_to = one.passage.key == best.passage.key and abs(one.position - best.position) <= _NEXT_TO
    own, said = target.stems_in(before_the_cause(one.text)), target.stems_in(before_the_cause(best.text))
    return next_to or all(term.coverage_in(own) for term in target.telling_terms if term.coverage_in(said))


def _beside(target: AnswerTarget, quotes: Sequence[tuple[RetrievedPassage, str]]) -> list[Candidate]:
    """Return the best answer in what was quoted before and around it; none if nothing there answers."""
    found = sorted(candidates_beside(target, quotes), key=lambda each: (-round(each.score, 9), each.place))
    return list(filter(_may_be_quoted, found))[:1]


def _without_repetition(found: Iterable[Candidate], most: int, worth: float = _WORTH_OF_THE_BEST) -> list[Candidate]:
    """Return the first few candidates of one filing that score nearly as high as the best; a list or name alone."""
    chosen: list[Candidate] = []
    for each in filter(_may_be_quoted, found):
        if chosen:
            apart = each.alone or each.passage.doc_id != chosen[0].passage.doc_id
            long = sum(len(other.text) for other in (*chosen, each)) > _MAX_ANSWER_LENGTH
            if apart or long or each.score < worth * chosen[0].score:
                continue
            if any(_repeats(each, other) for other in chosen):
                continue
        chosen.append(each)
        if each.alone or len(chosen) == most:
            break
    return chosen


def _may_be_quoted(one: Candidate) -> bool:
    """Return whether the text and its surroundings contain no instructions to the reader."""
    text, words = one.passage.text, " ".join(one.text.split())
    return not signs_of_injection(text) or words in " ".join(remove_instructions(text).split())


def _repeats(one: Candidate, other: Candidate) -> bool:
    first, second = set(stems_in(one.text)), set(stems_in(other.text))
    return len(first & second) > _ALIKE * min(len(first), len(second))
