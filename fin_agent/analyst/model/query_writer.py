"""Search text written by a chat model: queries, hypothetical passages, sub-questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from fin_agent.analyst.model.grounding import printable_line
from fin_agent.analyst.model.model_client import ModelClient, prompt_to_call
from fin_agent.analyst.model.prompt_context import intent_lines
from fin_agent.analyst.model.replies import QueryReply, SubQuestionsReply
from fin_agent.errors import QuestionError
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.lexicon.text_normalization import bare_words
from fin_agent.models.call import Role
from fin_agent.models.caller import Caller
from fin_agent.models.callers_by_role import Callers
from fin_agent.models.settings import Preset
from fin_agent.prompts import FilledPrompt, Quoted, load_prompt
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.search_terms import search_terms

_MAX_TERMS = 24


class QueryWriter:
    """Adds a model's words to a query; names in its complementary question take precedence over the question's."""

    def __init__(self, client: ModelClient, preset: Preset, read: Callable[[str], Intent]) -> None:
        """Set the client; `read` parses a question by rules."""
        self._client = client
        self._preset = preset
        self._read = read

    def query(self, base: Query, intent: Intent, plan: Plan, ledger: Ledger | None, complementary: str) -> Query:
        """Return the query of a round: the rules' at first, later extended by the complementary question.

        With the preset `thorough`, a model writes words for every round.
        """
        if ledger is None and self._preset is not Preset.THOROUGH:
            return base
        if ledger is not None and intent.numeric and not intent.beyond_rules and base.slots:
            return base  # the missing figures are a better query
        asked = printable_line(complementary)
        reply = self._written_by_model(intent, plan, ledger, asked) if self._preset is Preset.THOROUGH else None
        words = " ".join((asked, *((reply.query, *reply.terms) if reply is not None else ())))
        terms = search_terms(word for word in bare_words(words) if word[0].isalpha())[:_MAX_TERMS]
        if not terms:
            return base
        if ledger is None:
            return replace(base, expansions=_joined(base.expansions, terms))
        found = replace(base, text=asked or base.text, terms=_joined(terms, base.terms))
        return self._narrow_scope(found, asked) if any(map(str.isalpha, asked)) else found

    def _narrow_scope(self, query: Query, asked: str) -> Query:
        """Return the query limited to the companies and periods that the complementary question names."""
        try:
            intent = self._read(asked)
        except QuestionError:
            return query
        return replace(
            query,
            companies=tuple(company.key for company in intent.companies) or query.companies,
            periods=intent.periods or query.periods,
            dates=intent.dates or query.dates,
            forms=intent.forms or query.forms,
        )

    def _written_by_model(self, intent: Intent, plan: Plan, ledger: Ledger | None, asked: str) -> QueryReply | None:
        return self._client.ask(
            Role.QUERY,
            "query_rewrite",
            QueryReply,
            lambda reply: None if search_terms(reply.query.split()) else "`query` has no words to search for",
            question=intent.question,
            wanted=intent_lines(intent, plan, ledger),
            missing=asked or "nothing: this is the first search",
        )


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


WRITING_ROLES = (Role.HYDE, Role.MULTI_HYDE, Role.THOUGHT)
_MOST_OF_TEXT = 2_000
"""Tokens of a text, including reasoning."""


class ModelWriter:
    """See `fin_agent.retrieval.strategies.protocol.Writer`; the model of each prompt's role writes it."""

    def __init__(self, callers: Callers) -> None:
        """Set up the callers. Raises ModelSetupError if a model of these roles cannot be set up."""
        self._callers = {role: callers.of(role) for role in WRITING_ROLES}

    def write(self, prompt: FilledPrompt) -> str:
        """See Writer.write."""
        call = prompt_to_call(prompt, max_output_tokens=_MOST_OF_TEXT)
        return self._callers[call.role].reply(call).text


_MOST_OF_QUESTIONS = 2_000
_MAX_QUESTION_LENGTH = 300
"""Characters of a question."""


class ModelSubQuestions:
    """Sub-questions by a model; the caller checks the names in them."""

    def __init__(self, caller: Caller, folder: Path | None = None) -> None:
        """Load the prompt; `folder` may contain the user's `sub_questions.md`. Raises PromptError."""
        self._caller = caller
        self._prompt = load_prompt("sub_questions", folder=folder)

    def questions(self, question: str, companies: Sequence[str], most: int) -> tuple[str, ...]:
        """Return at most `most` distinct questions. Raises ModelError.

        `companies` are names of the companies in the question, as indexed.
        """
        filled = self._prompt.filled(
            question=question,
            companies=[Quoted(company) for company in companies],
            most=str(most),
        )
        call = prompt_to_call(
            filled, output=SubQuestionsReply, max_output_tokens=_MOST_OF_QUESTIONS, check=_asks_something
        )
        reply, _ = self._caller.value(call)
        asked = (printable_line(each)[:_MAX_QUESTION_LENGTH] for each in reply.questions)
        return tuple(dict.fromkeys(each for each in asked if any(map(str.isalpha, each))))[:most]


def _asks_something(reply: SubQuestionsReply) -> str | None:
    return None if any(any(map(str.isalpha, each)) for each in reply.questions) else "it contains no question"
