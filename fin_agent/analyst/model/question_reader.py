"""A chat model rewords questions that rules cannot parse; the rules parse its wording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fin_agent.analyst.events import record_warning
from fin_agent.analyst.model.grounding import numbers_not_in, printable_line
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.replies import IntentReply
from fin_agent.analyst.rules.words_to_intent import foreign_currency_requests, market_price_requests, period_spans
from fin_agent.errors import QuestionError
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.text_normalization import bare_words, mask_spans
from fin_agent.lexicon.words import listed, word_lists
from fin_agent.models.settings import Preset
from fin_agent.query.lexer import lex
from fin_agent.query.nearest_figure import everyday_words
from fin_agent.query.question_to_intent import known_names
from fin_agent.retrieval.fact_terms import words_of
from fin_agent.retrieval.nearest_figure import synonyms_of
from fin_agent.retrieval.search_terms import search_terms, stems_of
from fin_agent.vocabulary.dates import MONTHS
from fin_agent.workspace import Workspace

_MAX_QUESTIONS = 4
_MAX_LENGTH = 400
_MAX_TERMS = 16
_MAX_COMPANIES = 20
_OF_FORMULAS = "0 100 365 360 2 4 12"


@dataclass(frozen=True, slots=True)
class QuestionReader:
    """Has a model reword the questions that rules do not parse completely."""

    client: ModelClient
    workspace: Workspace
    preset: Preset
    read: Callable[[str], Intent]
    """Parses a question by rules."""

    def complete(self, intent: Intent) -> Intent:
        """Return the intent; if rules did not parse the question completely, that of the model's wording.

        A wording must not add companies or years, nor lines unrelated to the question. What rules cannot parse in it
        either is left for the model to answer.
        """
        if is_computable(intent):
            return intent
        open_points = _unread_words(intent)
        may_ask = self.preset is not Preset.FAST and not intent.unknown_companies
        reply = None
        if may_ask and (open_points or not intent.unsupported):
            known = intent.companies or self.workspace.directory.companies[:_MAX_COMPANIES]
            reply = self.client.ask(
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
        terms = search_terms(word for word in bare_words(reply.search) if word[0].isalpha())[:_MAX_TERMS]
        asked_back = printable_line(reply.ask_back or "")[:_MAX_LENGTH]
        expansions = tuple(dict.fromkeys((*read.expansions, *terms)))
        return read.model_copy(update={"expansions": expansions, "ask_back": asked_back})

    def _reply_fault(self, reply: IntentReply, intent: Intent) -> str | None:
        if not any(map(str.strip, (*reply.questions, reply.ask_back or ""))):
            return "`questions` contains no question"
        years = years_in(intent.question) | {period.fiscal_year for period in intent.periods}
        years |= {year - 1 for year in years} | {year + 1 for year in years}
        keys = {company.key for company in intent.companies}
        chooses = not reply.ask_back and len(self.workspace.directory.companies) > 1  # a model may not choose
        for each in (*reply.questions, reply.ask_back or ""):
            others = sorted(years_in(each) - years)
            if others and each != reply.ask_back:  # the year may be what is asked back
                return f"a question names {others[0]}, which the question asked does not"
            named = {mention.company for mention in self.workspace.directory.mentions(each)}
            beside = sorted(company.name for company in named if company.key not in keys)
            if beside and (keys or chooses):
                return f"a question is of {beside[0]}, which the question asked does not name"
            bare = mask_spans(each, period_spans(each))
            numbers = numbers_not_in(bare, f"{intent.question} {expand_abbreviations(intent.question)} {_OF_FORMULAS}")
            if numbers:
                return f"a question has {', '.join(numbers)}, which the question asked does not"
        return None

    def _read_rewording(self, intent: Intent, questions: Sequence[str]) -> Intent | None:
        """Return the intent of the wording by rules; None if they do not parse it completely."""
        asked = [printable_line(each)[:_MAX_LENGTH] for each in questions if each.strip()][:_MAX_QUESTIONS]
        try:
            read = [self.read(each) for each in asked]
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
        tokens = lex(expand_abbreviations(intent.question), known_names(self.workspace)).tokens
        essential = (one.text for one in tokens if one.type in _ESSENTIAL_TOKENS)
        texts = (text for each in essential for text in listed("measure_words", "conditions").split(each))
        return next((text for text in texts if words_of(text) and words_of(text).isdisjoint(spoken_of)), "")

    def _terms_of_filings(self, text: str) -> str:
        """Return the words of filings for those of a text."""
        lexicon = self.workspace.lexicon
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


_ESSENTIAL_TOKENS = frozenset({"PHRASE", "PART", "STATISTIC", "EXCEPT"})
"""Types of essential words: lines, parts, conditions, a median."""


def is_computable(intent: Intent) -> bool:
    """Return whether rules can compute the whole answer, if the filings print the figures."""
    return intent.numeric and not intent.unsupported and not intent.unknown_companies


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
