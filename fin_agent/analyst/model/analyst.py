"""The analyst that calls chat models, on top of the rules: it rewords questions, judges passages and answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from textwrap import dedent

from fin_agent.analyst.events import record_warning
from fin_agent.analyst.model.cited_answers import Reasoner
from fin_agent.analyst.model.grounding import numbers_not_in, printable_line
from fin_agent.analyst.model.llm_judges import judging_values, ranking_fault
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.prompt_context import is_contained, known_lines, passages_for_curation, quoted_passages
from fin_agent.analyst.model.replies import CurationReply, IntentReply, ListwiseReply, QueryReply, VerificationReply
from fin_agent.analyst.reasoning_result import AnsweredCuration, Reasoning
from fin_agent.analyst.rules.analyst import RulesAnalyst, is_computable
from fin_agent.analyst.rules.words_to_intent import foreign_currency_requests, market_price_requests, period_spans
from fin_agent.answering.answer import gives_verdict
from fin_agent.answering.answer_composition import numeric_answer
from fin_agent.answering.numerals import NumeralKind, numerals_in
from fin_agent.answering.sandbox import MontySandbox, ProgramExecutor
from fin_agent.errors import QuestionError, SandboxError
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Curation, Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan, missing_slots
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.evidence.tournament.tournament import Brief, Verdict, repair_ranking
from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.text_normalization import bare_words, mask_spans
from fin_agent.lexicon.words import finds, listed, word_lists
from fin_agent.models.settings import Preset
from fin_agent.prompts import Quoted
from fin_agent.query.lexer import lex
from fin_agent.query.nearest_figure import everyday_words
from fin_agent.query.question_to_intent import known_names
from fin_agent.retrieval.fact_terms import words_of
from fin_agent.retrieval.nearest_figure import synonyms_of
from fin_agent.retrieval.search_query import EVERYTHING, Query, RankedPassage, Scope
from fin_agent.retrieval.search_terms import search_terms, stems_of
from fin_agent.vocabulary.dates import MONTHS
from fin_agent.vocabulary.identity import Form
from fin_agent.workspace import Workspace

PROMPTS = ("intent", "query_rewrite", "judge", "curation", "reasoning", "verification")
_MAX_TERMS = 24
_MAX_RANKED = 20
_MAX_MISSING = 6
_MAX_LENGTH = 240
"""Characters of an objection, a reason, a missing item or a question."""
_MAX_QUESTIONS, _MAX_WORDING_LENGTH, _MAX_SEARCH_TERMS, _MAX_COMPANIES = 4, 400, 16, 20
"""Of a question that a model rewords: the questions, their characters, the search terms, and the companies shown."""
_OF_FORMULAS = "0 100 365 360 2 4 12"
_FORMS = re.compile("|".join(map(re.escape, Form)))
_KEPT = "the model keeps it"
_NOT_WHAT_IS_ASKED = "what is asked: the figures that rules computed are something else"


class ModelAnalyst(RulesAnalyst):
    """The roles with a chat model. Every role falls back to the rules, with a warning in the journal.

    Figures of the ledger are always computed by the rules' program; a model says whether the result is what was
    asked, and calculates itself only with numbers that it quotes. Companies and periods that are not in the index are
    refused without a model.
    """

    has_free_judging = False
    """Each judging is a call."""

    def __init__(
        self,
        client: ModelClient,
        workspace: Workspace,
        *,
        preset: Preset = Preset.DEFAULT,
        most_evidence: int = 10,
        executor: ProgramExecutor | None = None,
    ) -> None:
        """Load the prompts. Raises PromptError if a prompt of the user is not valid."""
        client.require(*PROMPTS)
        super().__init__(workspace, most_evidence=most_evidence, reads_alone=False)
        self._client = client
        self._preset = preset
        self._executor = executor or MontySandbox()
        self._reasoner = Reasoner(client, workspace, self._executor)

    def intent(self, question: str, before: Intent | None = None) -> Intent:
        """See RulesAnalyst.intent: a model rewords questions that rules cannot parse.

        A wording must not add companies or years, nor lines unrelated to the question. What rules cannot parse in it
        either is left for the model to answer.
        """
        intent = super().intent(question, before)
        if is_computable(intent):
            return intent
        open_points = _unread_words(intent)
        may_ask = self._preset is not Preset.FAST and not intent.unknown_companies
        reply = None
        if may_ask and (open_points or not intent.unsupported):
            known = intent.companies or self._workspace.directory.companies[:_MAX_COMPANIES]
            reply = self._client.ask(
                "intent",
                IntentReply,
                lambda reply: self._reply_fault(reply, intent),
                question=intent.question,
                companies="\n".join(company.name for company in known),
            )
        reply = reply or IntentReply()
        read = self._read_rewording(intent, reply.questions)
        if read is None:
            read = intent.model_copy(update={"unsupported": (), "beyond_rules": open_points}) if open_points else intent
        terms = search_terms(word for word in bare_words(reply.search) if word[0].isalpha())[:_MAX_SEARCH_TERMS]
        asked_back = printable_line(reply.ask_back or "")[:_MAX_WORDING_LENGTH]
        expansions = tuple(dict.fromkeys((*read.expansions, *terms)))
        return read.model_copy(update={"expansions": expansions, "ask_back": asked_back})

    def _reply_fault(self, reply: IntentReply, intent: Intent) -> str | None:
        if not any(map(str.strip, (*reply.questions, reply.ask_back or ""))):
            return "`questions` contains no question"
        years = years_in(intent.question) | {period.fiscal_year for period in intent.periods}
        years |= {year - 1 for year in years} | {year + 1 for year in years}
        keys = {company.key for company in intent.companies}
        chooses = not reply.ask_back and len(self._workspace.directory.companies) > 1  # a model may not choose
        for each in (*reply.questions, reply.ask_back or ""):
            others = sorted(years_in(each) - years)
            if others and each != reply.ask_back:  # the year may be what is asked back
                return f"a question names {others[0]}, which the question asked does not"
            named = {mention.company for mention in self._workspace.directory.mentions(each)}
            beside = sorted(company.name for company in named if company.key not in keys)
            if beside and (keys or chooses):
                return f"a question is of {beside[0]}, which the question asked does not name"
            bare = _FORMS.sub(" ", mask_spans(each, period_spans(each)))
            numbers = numbers_not_in(bare, f"{intent.question} {expand_abbreviations(intent.question)} {_OF_FORMULAS}")
            if numbers:
                return f"a question has {', '.join(numbers)}, which the question asked does not"
        return None

    def _read_rewording(self, intent: Intent, questions: Sequence[str]) -> Intent | None:
        """Return the intent of the wording by rules; None if they do not parse it completely."""
        asked = [printable_line(each)[:_MAX_WORDING_LENGTH] for each in questions if each.strip()][:_MAX_QUESTIONS]
        by_rules = super().intent
        try:
            read = list(map(by_rules, asked))
        except QuestionError:
            return None
        if not read or not all(map(is_computable, read)):
            return None
        for one in read:
            if strange := self._unrelated_line(one, intent):
                told = f"the model reads the question as {one.question!r}; {strange!r} has nothing to do with it"
                record_warning(told)
                return None
        if lost := self._omitted_words(intent, asked):
            record_warning(f"the model reads the question as {'; '.join(asked)!r}, which omits {lost!r}")
            return None
        told = f"the model reads the question as: {'; '.join(asked)}"
        if len(read) == 1:
            same = {"question": intent.question, "decimals": intent.decimals, "assumed": (*read[0].assumed, told)}
            return read[0].model_copy(update={**same, "unit": read[0].unit or intent.unit})
        several = {"asks": tuple(asked), "unsupported": (), "beyond_rules": _unread_words(intent)}
        return intent.model_copy(update={**several, "assumed": (*intent.assumed, told)})

    def _omitted_words(self, intent: Intent, questions: Sequence[str]) -> str:
        """Return a year or essential word of the question that the wordings omit, which would change its meaning."""
        said = " ".join((*questions, *map(expand_abbreviations, questions)))
        dated = any(month[:3] in intent.question.lower() for month in MONTHS)
        for year in sorted(years_in(intent.question) - years_in(said)):
            if not dated or not {year - 1, year + 1} & years_in(said):
                return str(year)
        spoken_of = words_of(f"{said} {self._terms_of_filings(said)}")
        spoken_of = spoken_of.union(everyday_words(), *(synonyms_of().get(word, ()) for word in spoken_of))
        tokens = lex(expand_abbreviations(intent.question), known_names(self._workspace)).tokens
        essential = (one.text for one in tokens if one.type in _ESSENTIAL_TOKENS)
        texts = (text for each in essential for text in listed("measure_words", "conditions").split(each))
        return next((text for text in texts if words_of(text) and words_of(text).isdisjoint(spoken_of)), "")

    def _terms_of_filings(self, text: str) -> str:
        """Return the words of filings for those of a text."""
        lexicon = self._workspace.lexicon
        named = (one.id for one in lexicon.mentions(text))
        return " ".join((*lexicon.filing_terms(text), *lexicon.expand((text, *named))))

    def _unrelated_line(self, read: Intent, intent: Intent) -> str:
        """Return a line of a wording that the question does not mention, in its words or those of filings.

        For `advertising expense` the question must contain `advertising`; for a name without distinctive words, such as
        `net income`, all of it.
        """
        asked = f"{intent.question} {expand_abbreviations(intent.question)}"
        spoken_of = set(stems_of(self._terms_of_filings(asked)))
        lists = word_lists("measure_words")
        of_any, of_many = (set(stems_of(" ".join(sorted(lists[name])))) for name in ("of any row", "of many measures"))
        for line in read.query.lines() if read.query is not None else ():
            stems = set(stems_of(line.words)) - of_any
            known = (stems - of_many) & spoken_of if stems - of_many else stems <= spoken_of
            if not known:
                return line.words
        return ""

    def split_asks(self, intent: Intent) -> Sequence[str]:
        """See RulesAnalyst.split_asks: requests that rules read; a model answers all others at once."""
        return intent.asks or (intent.question,)

    def query(self, intent: Intent, plan: Plan, ledger: Ledger | None, complementary: str = "") -> Query:
        """See RulesAnalyst.query: after the first round, extended by the model's complementary question.

        Companies and periods that it names take precedence over those of the question. With `thorough`, a model writes
        words to search for in every round.
        """
        base = super().query(intent, plan, ledger)
        if ledger is not None and intent.numeric and not intent.beyond_rules and base.slots:
            return base  # missing figures are a better query
        asked = printable_line(complementary) if ledger is not None else ""
        words = f"{asked} {self._search_words(intent, ledger, asked)}"
        terms = search_terms(word for word in bare_words(words) if word[0].isalpha())[:_MAX_TERMS]
        if not terms:
            return base
        if ledger is None:
            return replace(base, expansions=tuple(dict.fromkeys((*base.expansions, *terms))))
        base = replace(base, text=asked or base.text, terms=tuple(dict.fromkeys((*terms, *base.terms))))
        try:
            named = super().intent(asked)
        except QuestionError:
            return base
        return replace(
            base,
            companies=tuple(company.key for company in named.companies) or base.companies,
            periods=named.periods or base.periods,
            dates=named.dates or base.dates,
            forms=named.forms or base.forms,
        )

    def _search_words(self, intent: Intent, ledger: Ledger | None, missing: str) -> str:
        """Return the words that a model would search for, with `thorough` only."""
        if self._preset is not Preset.THOROUGH:
            return ""
        reply = self._client.ask(
            "query_rewrite",
            QueryReply,
            lambda reply: None if search_terms(reply.query.split()) else "`query` has no words to search for",
            question=intent.question,
            wanted=known_lines(intent, ledger),
            missing=missing or "nothing: this is the first search",
        )
        return " ".join((reply.query, *reply.terms)) if reply is not None else ""

    def ranked(
        self, intent: Intent, plan: Plan, query: Query, passages: Sequence[RankedPassage]
    ) -> Sequence[RankedPassage]:
        """See RulesAnalyst.ranked: `thorough` ranks twenty pages by cards unless rules can compute."""
        best: dict[PageKey, RankedPassage] = {}
        for each in passages:
            best.setdefault(each.stored.key, each)
        first = list(best.values())[:_MAX_RANKED]
        if self._preset is not Preset.THOROUGH or is_computable(intent) or len(first) < 2:
            return passages
        brief = Brief(intent, plan, query, self._workspace.directory.owners)
        values = judging_values(brief, [Card.model_validate_json(each.stored.card) for each in first])
        check = partial(ranking_fault, cards=len(first))
        reply = self._client.ask("judge", ListwiseReply, check, **values, count=str(len(first)))
        if reply is None:
            return passages
        order = repair_ranking([Verdict(place.card - 1) for place in reply.ranking], len(first))
        return [*(first[verdict.at] for verdict in order), *(each for each in passages if each not in first)]

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
        """See RulesAnalyst.curate: at most one call per round, which also answers.

        If the ledger is full, a shorter call holds the computed result against the question; only what it objects to
        is read for. With `thorough`, each round has a separate call that only judges.
        """
        base = super().curate(intent, plan, passages, documents, cards, scope)
        to_read = self._workspace.index.passages(base.to_read)
        if any((each.doc_id, each.passage.ordinal) not in dropped for each in to_read):
            return base
        if not self._accepts_result(intent, plan, base):
            base = base.model_copy(update={"beyond_rules": (_NOT_WHAT_IS_ASKED,)})
            intent = intent.model_copy(update={"beyond_rules": (*intent.beyond_rules, _NOT_WHAT_IS_ASKED)})
        curation = self._curated(base, intent, plan, passages, scope, dropped)
        if isinstance(curation, AnsweredCuration) and curation.reasoning.text:
            self._check_against_rules(curation.reasoning, intent, base.kept or curation.kept, documents)
        return curation

    def _curated(
        self,
        base: Curation,
        intent: Intent,
        plan: Plan,
        passages: Sequence[RetrievedPassage],
        scope: Scope,
        dropped: Collection[tuple[str, int]],
    ) -> Curation:
        """Return the model's decision if the rules' curation `base` leaves something open; `base` if the model fails.

        One call judges new passages together with those kept before, and answers if it can (HiREC, Algorithm 1). What
        it drops is dropped for good.
        """
        if intent.beyond_rules:  # rules cannot compute the whole question, even if they have all figures
            base = base.model_copy(update={"answerable": False, "missing": intent.beyond_rules})
        thorough = self._preset is Preset.THOROUGH
        computed = intent.numeric and base.answerable and not thorough
        tied = intent.numeric and not (
            intent.beyond_rules or base.answerable or missing_slots(plan, intent, base.ledger)
        )
        if not passages or self._preset is Preset.FAST or computed or tied:  # tied: incomparable figures, or a draw
            return base
        by_rules = {evidence.passage.key: evidence for evidence in base.kept}
        latest = max(each.round for each in passages)  # passages of earlier rounds were kept, and are shown again
        ordered = sorted(passages, key=lambda each: (each.round == latest, each.key not in by_rules))
        shown = passages_for_curation(ordered, self._workspace, scope, dropped)
        evidence = [by_rules.get(each.key) or Evidence(passage=each, why=_KEPT, by_model=True) for each in shown]
        curation = (self._judge_passages if thorough else self._answer_from_passages)(base, intent, evidence)
        return curation if curation is base else self._final(curation, shown, passages)

    def _final(
        self, curation: Curation, shown: Sequence[RetrievedPassage], passages: Sequence[RetrievedPassage]
    ) -> Curation:
        """Return the curation with the passages that are dropped for good.

        These are passages that were shown and not kept, passages contained in them, and pages of which nothing is kept.
        """
        chosen = {each.passage.key: each for each in curation.kept}
        gone = [each for each in shown if each.key not in chosen]
        held = {each.passage.on_page for each in curation.kept}
        pages = dict.fromkeys(each.on_page for each in gone if each.on_page not in held)
        others = [each for each in passages if each not in shown and each.key not in chosen]
        within = [each for each in others if any(is_contained(each, one) for one in gone)]
        of_pages = [(one.doc_id, one.passage.ordinal) for one in self._workspace.index.passages([*pages])]
        dropped = dict.fromkeys([*(each.key for each in gone), *of_pages, *(each.key for each in within)])
        judged = []
        for each in curation.judged:
            kept = chosen.get((each.doc_id, each.ordinal))
            why = kept.why if kept is not None else f"the model does not keep it; {each.why}"
            judged.append(each.model_copy(update={"kept": kept is not None, "why": why}))
        return curation.model_copy(update={"judged": tuple(judged), "dropped": tuple(dropped)})

    def _answer_from_passages(self, base: Curation, intent: Intent, evidence: Sequence[Evidence]) -> Curation:
        """Return the answer with its passages; otherwise what is missing, and the passages to read again."""
        rounds = max(each.passage.round for each in evidence) - 1
        searched = f"{rounds} time{'s' if rounds > 1 else ''}, with what was missing then" if rounds else ""
        found = self._reasoner.answer(intent, evidence, known_lines(intent, base.ledger, searched))
        if found is None:
            return base
        reasoning = found.reasoning or Reasoning(text="", citations=(), missing=found.reported_missing)
        cited = {PageKey(each.doc_id, each.page) for each in reasoning.citations}
        again = [evidence[place] for place in found.keep]
        kept = [each for each in evidence if each.passage.on_page in cited or each in again]
        # Search for the missing part of an answer; the answer is used if nothing more is found.
        whole = found.reasoning is not None and not (found.reported_missing and found.complementary)
        answer = base.model_copy(
            update={
                "kept": tuple(kept[: self._most_evidence]),
                "answerable": whole,
                "missing": () if whole else found.reported_missing,
                "complementary_question": "" if whole else found.complementary,
            }
        )
        read = tuple(dict.fromkeys(each.passage.on_page for each in evidence))
        return AnsweredCuration(**dict(answer), reasoning=reasoning.model_copy(update={"read": read}))

    def _judge_passages(self, base: Curation, intent: Intent, evidence: Sequence[Evidence]) -> Curation:
        """Return the passages that the model keeps, and whether they are enough.

        If rules can compute the answer, it is answerable, and the passages with its figures are kept.
        """
        shown = [each.passage for each in evidence]
        reply = self._client.ask(
            "curation",
            CurationReply,
            lambda reply: _curation_fault(reply, len(shown)),
            question=intent.question,
            wanted=known_lines(intent, base.ledger),
            passages=quoted_passages(shown, self._workspace),
            most=str(self._most_evidence),
        )
        if reply is None:
            return base
        computed = intent.numeric and base.answerable
        kept = {each.passage.key: each for each in base.kept} if computed else {}
        for each in _kept(reply, evidence):
            kept.setdefault(each.passage.key, each)
        limit = max(self._most_evidence, len(base.kept))
        update: dict[str, object] = {"kept": tuple(kept.values())[:limit]}
        if computed or reply.answerable:
            update |= {"answerable": True, "missing": (), "complementary_question": ""}
            return base.model_copy(update=update)
        # A refusal states no figure, so no missing item with a number that nothing shown contains.
        known = " ".join([intent.question, *map(str, base.ledger.empty), *(each.text for each in shown)])
        told = filter(None, dict.fromkeys(printable_line(each)[:_MAX_LENGTH] for each in reply.missing))
        missing = tuple(each for each in told if not numbers_not_in(each, known))[:_MAX_MISSING]
        asked = printable_line(reply.complementary_question or "")[:_MAX_LENGTH]
        update |= {"answerable": False, "missing": missing or base.missing or ("what the model did not find",)}
        update["complementary_question"] = asked or base.complementary_question
        return base.model_copy(update=update)

    def _accepts_result(self, intent: Intent, plan: Plan, curation: Curation) -> bool:
        """Return whether a model finds that the result computed by rules is what is asked, if there is a result."""
        if self._preset is Preset.FAST or not self.can_compute(intent, answerable=curation.answerable):
            return True
        beside = intent.parts or intent.claim or intent.selection or intent.further
        if intent.expression in self._workspace.lexicon.metrics and not beside:
            return True  # one metric by its own name, with no word left: nothing to misread
        try:
            program = self.program(intent, plan, curation.ledger, curation.kept)
            result = numeric_answer(intent, plan, program, self._executor.run(program.code).value)
        except (ValueError, SandboxError):
            return True  # the program's own node says so
        lines = dedent(program.code.partition("\n")[2])  # a heading `def ...` looks like an instruction planted there
        reply = self._client.ask(
            "verification",
            VerificationReply,
            question=intent.question,
            figures=[Quoted(f"{lines}\nThe answer: {result.text}", "computed from figures of the filings")],
        )
        difference = printable_line(reply.difference or "")[:_MAX_LENGTH] if reply is not None else ""
        if difference:
            record_warning(f"the model does not accept {result.text!r}: {difference}")
        return not difference

    def can_compute(self, intent: Intent, *, answerable: bool) -> bool:
        """See RulesAnalyst.can_compute: if rules can, whatever the model."""
        return intent.numeric and answerable and not intent.beyond_rules

    def can_answer_in_words(self, intent: Intent) -> bool:
        """See RulesAnalyst.can_answer_in_words: any figure, with a quote that contains it."""
        return True

    def reason(self, intent: Intent, evidence: Sequence[Evidence], filings: Sequence[str] = ()) -> Reasoning:
        """See RulesAnalyst.reason: the model's words, as far as its quotes support them.

        If the model reports that the passages lack the answer, so does the result. Rules answer only if it gives no
        usable reply; a different figure of theirs is reported.
        """
        nothing = Reasoning(text="", citations=())
        if self._preset is not Preset.DEFAULT:  # there, the call that judged the passages has answered, or failed
            if not evidence:
                return nothing
            found = self._reasoner.answer(intent, evidence, known_lines(intent, None))
            if found is not None and found.reasoning is not None:
                return self._check_against_rules(found.reasoning, intent, evidence, filings)
            if found is not None:
                return nothing.model_copy(update={"missing": found.reported_missing})
        if intent.numeric:  # for a figure that they compute, rules have no words: they would refuse as well
            return nothing
        own = super().reason(intent, [each for each in evidence if not each.by_model] or evidence, filings)
        if own.text:
            record_warning("rules quote the answer in place of the model")
        return own

    def _check_against_rules(
        self, reasoning: Reasoning, intent: Intent, evidence: Sequence[Evidence], filings: Sequence[str]
    ) -> Reasoning:
        """Return the model's answer, with a warning if rules read another figure in their own passages."""
        held_against = [each for each in evidence if not each.by_model] or evidence
        if not intent.asks_figure or intent.numeric or reasoning.program is not None:
            for told in self.conflicting_reasons(intent, reasoning.text, held_against, filings):
                record_warning(told)
            return reasoning
        own = super().reason(intent, held_against, filings)
        one, other = _figures(reasoning.text), _figures(own.text)
        if one and other and one.isdisjoint(other):
            record_warning(f"rules read another figure: {own.text[:200]}")
        return reasoning

    def comment(self, intent: Intent, evidence: Sequence[Evidence], computed: str, program: str) -> Reasoning | None:
        """See RulesAnalyst.comment: the model's judgement, with numbers quoted from the result or the passages."""
        settled = gives_verdict(computed) or not finds(intent.core, "yes or no")
        if self._preset is Preset.FAST or (settled and not finds(intent.question, "if not useful")):
            return None
        known = f"{known_lines(intent, None)}\n- computed by:\n{program}"
        found = self._reasoner.answer(intent, evidence, known, computed)
        if found is not None and found.reasoning is None:
            record_warning(f"the model gives no judgement ({'; '.join(found.reported_missing)})")
        return None if found is None else found.reasoning


def _figures(text: str) -> set[Decimal]:
    """Return the figures of a text as printed, without single digits."""
    figures = (each for each in numerals_in(text) if each.kind in (NumeralKind.AMOUNT, NumeralKind.PERCENT))
    return {abs(each.value) for each in figures if len(each.printed) > 1}


def _kept(reply: CurationReply, evidence: Sequence[Evidence]) -> Iterator[Evidence]:
    """Yield the passages that a reply keeps, with its reasons."""
    for each in reply.kept:
        if 1 <= each.passage <= len(evidence):
            own = evidence[each.passage - 1]
            reasons = ("" if own.by_model else own.why, printable_line(each.reason)[:_MAX_LENGTH] or _KEPT)
            yield own.model_copy(update={"why": "; ".join(filter(None, reasons))})


def _curation_fault(reply: CurationReply, passages: int) -> str | None:
    numbers = [each.passage for each in reply.kept]
    if numbers and not any(1 <= number <= passages for number in numbers):
        return f"it keeps passages {', '.join(str(number)[:9] for number in numbers[:5])}; there are 1 to {passages}"
    if reply.answerable and not numbers:
        return "it says that the question can be answered but selects no passage"
    return None


_ESSENTIAL_TOKENS = frozenset({"PHRASE", "PART", "STATISTIC", "EXCEPT"})
"""Types of essential words: lines, parts, conditions, a median."""


def years_in(text: str) -> set[int]:
    """Return the years that a text names."""
    parsed = parse_periods(expand_abbreviations(text))
    named = {mention.fiscal_year for mention in parsed.mentions} | {mention.date.year for mention in parsed.dates}
    return named.union(parsed.years)


def _unread_words(intent: Intent) -> tuple[str, ...]:
    """Return what rules do not understand of a question and a model might; without what no filing states."""
    if market_price_requests(intent.core) or foreign_currency_requests(intent.question):
        return ()
    return intent.unsupported
