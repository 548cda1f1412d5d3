"""The analyst that needs no model: all roles by rules over lexicon, tables and facts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from fin_agent.analyst.reasoning_result import Reasoning
from fin_agent.analyst.rules.curation import Bench, build_query, curate_by_figures, curate_by_words
from fin_agent.analyst.rules.reasoning.answer_selection import reason
from fin_agent.analyst.rules.reasoning.question_parts import FIGURES, AnswerType, parts_of
from fin_agent.analyst.rules.words_to_intent import MAX_QUESTION_LENGTH
from fin_agent.answering.program import Program, write_program
from fin_agent.answering.sentence_binding import differs_from_quotes
from fin_agent.errors import QuestionError
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Curation, Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.evidence.plan import Plan, build_plan
from fin_agent.evidence.report_selection import named_reports
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.text_normalization import collapse_spaces
from fin_agent.lexicon.words import finds
from fin_agent.query.lexer import periods_in
from fin_agent.query.question_sentences import as_claim, with_what_is_explained
from fin_agent.query.question_splitting import (
    asks_only_difference,
    asks_something,
    attribute_asks,
    candidate_splits,
    is_told,
    moves_only_first,
    split_requests,
    with_whole_named,
)
from fin_agent.query.question_to_intent import (
    context_of_asks,
    figures_are_printed,
    inherited_context,
    intent_of_question,
    with_nearest_figure,
)
from fin_agent.query.tree import Axis, Kind, Line, NamedFormula
from fin_agent.retrieval.search_query import EVERYTHING, Query, RankedPassage, Scope
from fin_agent.workspace import Workspace

_MAX_JOINTS = 4
_MAX_WARNING_LENGTH = 300


class RulesAnalyst:
    """The reasoning roles of a run by rules: reads a question, judges evidence and writes the answer.

    Deterministic: the same question over the same index gives the same result.
    """

    has_free_judging = True
    """Whether judging passages again is free of cost, even if a round found no new ones."""

    def __init__(self, workspace: Workspace, *, most_evidence: int = 10, reads_alone: bool = True) -> None:
        """Set the index; `reads_alone` allows the nearest figure for questions that rules cannot parse."""
        self._workspace = workspace
        self._reads_alone = reads_alone
        self._most_evidence = most_evidence

    def intent(self, question: str, before: Intent | None = None) -> Intent:
        """Map the question to an intent; what it leaves out is taken from that `before`. Raises QuestionError."""
        # Repeated spaces carry no meaning, and slow down patterns.
        asked = question if len(question) > MAX_QUESTION_LENGTH else collapse_spaces(question, MAX_QUESTION_LENGTH)
        try:
            read = intent_of_question(with_what_is_explained(as_claim(asked)), self._workspace, before)
            read = with_nearest_figure(read, self._workspace) if self._reads_alone else read
            return read.model_copy(update={"question": question})
        except RecursionError:
            raise QuestionError(
                "the question nests its parts too deeply", subject=question[:60], remedy="Ask for one thing at a time"
            ) from None

    def split_asks(self, intent: Intent) -> Sequence[str]:
        """Return the requests to answer one by one; only one for a question that is answered as a whole."""
        several = split_requests(expand_abbreviations(with_what_is_explained(intent.question)))
        if self._is_read_as_one(intent, several):
            return (intent.question,)
        asks: list[str] = []
        by_figures: list[bool] = []
        """Whether figures answer each of them."""
        before, lead = context_of_asks(intent), ""
        for ask in several:
            if asks and is_told(ask, before.query):
                continue
            whole = self.intent(f"{lead}{ask}", before)
            found = self._split_ask(f"{lead}{ask}", whole, before)
            if not found and not asks_something(ask):
                lead = f"{lead}{ask.strip(' ?')}, "  # an introduction to the next ask: `Coke or Pepsi - who ...`
                continue
            if found:
                asks += [text for text, _ in found]
            elif by_figures[-1:] == [False]:
                asks[-1] = f"{asks[-1].rstrip(' ?')}, and {ask}"  # requests in words are answered together
            elif asks and asks_only_difference(ask):
                continue  # the compared figures answer it
            else:
                asks.append(f"{lead}{ask}")
            by_figures += [bool(found)] * (len(asks) - len(by_figures))
            before, lead = inherited_context(found[-1][1] if found else whole, before), ""
        as_one = is_computable(intent) and not _compares_asks(intent, several)
        enough = all(by_figures) if as_one else any(by_figures)
        # With a lead that is left, what stands behind the last request belongs to it.
        return tuple(asks) if asks and enough and not lead else (intent.question,)

    @staticmethod
    def _is_read_as_one(intent: Intent, requests: Sequence[str]) -> bool:
        """Return whether a question with several requests was read completely."""
        if not intent.numeric or intent.unsupported or intent.query is None:
            return False
        if (
            _is_nearest_figure(intent)
            or moves_only_first(intent.question)
            or _lists_attributes(intent.question, intent)
        ):
            return False
        kind, figures, part = intent.query.kind, len(intent.query.measures), intent.query.only_part
        of_another = part is not None and part.lower() not in requests[0].lower()
        if kind is Kind.CHANGE and len(requests) > 1 and (figures > 1 or of_another):
            return False  # `What was the margin, and how did costs change?`: only one of the asks is about a change
        if _compares_asks(intent, requests):
            return False
        return kind is not Kind.VALUE or figures >= len(requests)

    def _split_ask(self, ask: str, whole: Intent, before: Intent) -> Sequence[tuple[str, Intent]]:
        """Return an ask with its intent if it parses as figures, or the two that it joins: `growth + margin`."""
        if len(before.companies) == len(before.periods) == 1:
            told = with_whole_named(ask, before.query, before.companies[0].name, str(before.periods[0]))
            if told != ask:
                whole = self.intent(told)
                return [(told, whole)] if is_computable(whole) else ()
        near, lists = _is_nearest_figure(whole), _lists_attributes(ask, whole)
        if is_computable(whole) and not near and not lists and not moves_only_first(ask):
            return [(ask, whole)]
        listed = self._split_attributes(ask, whole, before)
        joined = () if near or lists or len(listed) > 1 else self._split_at_joint(ask, whole, before)
        return joined or listed

    def _split_at_joint(self, ask: str, whole: Intent, before: Intent) -> Sequence[tuple[str, Intent]]:
        """Return the two asks that an ask joins, if figures answer both."""
        apart = whole.query.unread if whole.query is not None else ()
        moved = moves_only_first(ask)
        splits = candidate_splits(ask, signs_only=not apart and not moved)[:_MAX_JOINTS]
        if "=" in ask or not (moved or self._apply_to_one(apart, ask, [second for _, second in splits])):
            return ()  # `average`, `total` and the like apply to both
        for first, second in splits:
            one = self.intent(first, before)
            other = self.intent(second, inherited_context(one, before)) if is_computable(one) else None
            if other is not None and is_computable(other):
                return [(first, one), (second, other)]
        return ()

    def _apply_to_one(self, apart: Sequence[str], ask: str, seconds: Sequence[str]) -> bool:
        """Return whether what was not understood is of one of two asks.

        `The biggest by sales and the biggest by income`, `the smallest segment by sales and its margin`.
        """
        directory = self._workspace.directory
        refers = any(second.lower().startswith(("its ", "their ")) for second in seconds)
        return (
            all(periods_in(words) or directory.mentions(words) for words in apart)
            or len(apart) > len(set(apart))
            or (refers and not finds(ask, "in sum", "question_words"))
            or (bool(apart) and all(any(second.startswith(one) for second in seconds) for one in apart))
        )

    def _split_attributes(self, ask: str, whole: Intent, before: Intent) -> Sequence[tuple[str, Intent]]:
        """Return the attributes that an ask lists, each with its subject, if figures answer all of them.

        Else the ask as it was read.
        """
        of_one = finds(ask, "in sum", "question_words") or _is_printed_joint(ask, whole)
        for asks in () if of_one else attribute_asks(ask):
            found: list[tuple[str, Intent]] = []
            for one in asks:
                read = self.intent(one, inherited_context(found[-1][1], before) if found else before)
                if not is_computable(read) or not figures_are_printed(read, self._workspace):
                    break
                found.append((one, read))
            if len({read.expression for _, read in found}) == len(asks):
                return found
        return [(ask, whole)] if is_computable(whole) else ()

    def plan(self, intent: Intent) -> Plan:
        """Return the figures required by a numeric intent, and how they are combined."""
        return build_plan(intent, self._workspace.lexicon, self._workspace.years)

    def query(self, intent: Intent, plan: Plan, ledger: Ledger | None, complementary: str = "") -> Query:
        """Return the query of a round: everything at first, then what the ledger lacks and `complementary` asks for."""
        return build_query(intent, plan, ledger, self._workspace)

    def ranked(
        self, intent: Intent, plan: Plan, query: Query, passages: Sequence[RankedPassage]
    ) -> Sequence[RankedPassage]:
        """Return the passages of the first search in reading order."""
        return passages

    def curate(
        self,
        intent: Intent,
        plan: Plan,
        passages: Sequence[RetrievedPassage],
        documents: Sequence[str],
        cards: Sequence[Card] = (),
        scope: Scope = EVERYTHING,
        dropped: Collection[tuple[str, int]] = (),
    ) -> Curation:
        """Select the evidence among new and earlier passages, best first, and decide whether it is sufficient.

        `documents` are ids of filings, preferred ones first; `cards` replace those of the index for some passages.
        Keys of passages in `dropped` must not be read again; rules drop none.
        """
        bench = Bench(intent, plan, passages, self._workspace, self._most_evidence, cards)
        return curate_by_figures(bench, documents, scope) if plan.slots() else curate_by_words(bench)

    def can_compute(self, intent: Intent, *, answerable: bool) -> bool:
        """Return whether to try a program when no further search follows; otherwise words answer, or nothing does."""
        return intent.numeric and answerable

    def can_answer_in_words(self, intent: Intent) -> bool:
        """Return whether `reason` may answer if no program does.

        Of known measures, only counts (employees) are taken from running text.
        """
        metric = self._workspace.lexicon.metrics.get(intent.expression)
        counts = metric is not None and metric.unit == "count" and len(intent.companies) == 1
        return not intent.numeric or (counts and intent.relation is Relation.EACH)

    def program(self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]) -> Program:
        """Write the program that computes the answer from the ledger's figures.

        Raises ValueError if the known figures are insufficient.
        """
        return write_program(plan, ledger, intent)

    def reason(self, intent: Intent, evidence: Sequence[Evidence], filings: Sequence[str] = ()) -> Reasoning:
        """Answer in words from the evidence, with citations; further `filings`, best first, may be read."""
        return self._reasoned(intent, evidence, filings, None)

    def conflicting_reasons(
        self, intent: Intent, said: str, evidence: Sequence[Evidence] = (), filings: Sequence[str] = ()
    ) -> list[str]:
        """Return warnings about reasons in the filings that an answer to a question for reasons omits.

        A false reason planted in a filing is isolated from those that the filing gives. `said` is the answer; further
        `filings`, best first, are read.
        """
        if all(part.answer_type is not AnswerType.CAUSE for part in parts_of(intent.core)):
            return []

        def is_another(sentence: str) -> bool:
            return differs_from_quotes(sentence, said, intent.question)

        found = self._reasoned(intent, evidence, filings, is_another)
        return [
            f"page {cited.page + 1} of {cited.doc_id} gives another reason: {cited.text[:_MAX_WARNING_LENGTH]}"
            for cited in found.citations
        ]

    def _reasoned(
        self,
        intent: Intent,
        evidence: Sequence[Evidence],
        filings: Sequence[str],
        considers: Callable[[str], bool] | None,
    ) -> Reasoning:
        owners, known = self._workspace.directory.owners, self._workspace.directory.identities
        named = () if intent.report is None else named_reports(intent.report, {one: known[one] for one in filings})
        if named:
            filings = named
            evidence = [each for each in evidence if each.passage.doc_id in named]
        if parts_of(intent.core)[0].answer_type in FIGURES:
            filings = [doc_id for doc_id in filings if self._may_report(doc_id, intent)]
            evidence = [each for each in evidence if self._may_report(each.passage.doc_id, intent)]
        own = {
            company.key: [doc_id for doc_id in filings if owners.get(doc_id) == company.key]
            for company in intent.companies
        }
        return reason(intent, evidence, self._workspace.index, self._workspace.lexicon, own, considers)

    def _may_report(self, doc_id: str, intent: Intent) -> bool:
        """Return whether a filing is of a year near those asked about: a sentence of another says how it was then."""
        identity = self._workspace.directory.identities.get(doc_id)
        of = identity.fiscal_year if identity is not None else None
        years = {*(one.fiscal_year for one in intent.periods), *(one.year for one in intent.dates)}
        return of is None or not years or any(year - 1 <= of <= year + 2 for year in years)

    def comment(self, intent: Intent, evidence: Sequence[Evidence], computed: str, program: str) -> Reasoning | None:
        """Judge a result, `computed` in words by `program`; None, since rules check bounds in the result itself."""
        return None


def _lists_attributes(ask: str, whole: Intent) -> bool:
    """Return whether lines are listed behind one with a colon: `Acme's warranty reserve: additions, payments`."""
    subject, colon, _ = ask.partition(": ")
    measures = whole.query.measures if whole.query is not None else ()
    first = measures[0] if len(measures) > 1 else None
    return bool(colon) and isinstance(first, Line | NamedFormula) and first.words in subject


def _is_nearest_figure(intent: Intent) -> bool:
    """Return whether a single printed figure was found for a question that no grammar reads."""
    return 'table="figure:' in intent.expression


def _is_printed_joint(ask: str, intent: Intent) -> bool:
    """Return whether words that an ask joins by `and` are joined so in the name of the figure that was found."""
    words = ask.lower().split()
    printed = " ".join(line.words.lower() for line in intent.query.lines()) if intent.query is not None else ""
    joined = (" ".join(words[at - 1 : at + 2]) for at, word in enumerate(words) if word == "and")
    return any(each in printed for each in joined)


def _compares_asks(intent: Intent, requests: Sequence[str]) -> bool:
    """Return whether measures of several asks were taken for what is compared: `the biggest, and how much is due`."""
    query = intent.query
    compared = query is not None and query.axis is Axis.MEASURES and query.comparison is not None
    return compared and asks_something(requests[0]) and not all(map(asks_only_difference, requests[1:]))


def is_computable(intent: Intent) -> bool:
    """Return whether rules can compute the whole answer, if the filings print the figures."""
    return intent.numeric and not intent.unsupported and not intent.unknown_companies
