"""What to search for, written by a chat model beside the rules' query: words only, never another company or year."""

from __future__ import annotations

import re
from dataclasses import replace

from fin_agent.analyst.model.desk import Desk
from fin_agent.analyst.model.grounding import on_a_line
from fin_agent.analyst.model.question_replies import QueryReply
from fin_agent.analyst.model.wanted import intent_lines
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.evidence.plan import Plan
from fin_agent.models.call import Role
from fin_agent.models.settings import Preset
from fin_agent.retrieval.query import Query
from fin_agent.retrieval.terms import search_terms

_MOST_TERMS = 24
_WORD = re.compile(r"[^\W\d_][\w&'’-]*")


class QueryWriter:
    """Adds a model's words to a query. Companies, periods, forms and slots stay those of the rules."""

    def __init__(self, desk: Desk, preset: Preset) -> None:
        self._desk = desk
        self._preset = preset

    def query(self, base: Query, intent: Intent, plan: Plan, ledger: Ledger | None, complementary: str) -> Query:
        """The query of a round: in the first that of the rules, later with what the complementary question asks for.

        The preset `thorough` has a model's words in every round.
        """
        if ledger is None and self._preset is not Preset.THOROUGH:
            return base
        if ledger is not None and intent.numeric and not intent.beyond_rules and base.slots:
            return base  # the figures lacking say better what to look for
        asked = on_a_line(complementary)
        reply = self._written(intent, plan, ledger, asked) if self._preset is Preset.THOROUGH else None
        words = " ".join((asked, *((reply.query, *reply.terms) if reply is not None else ())))
        terms = search_terms(_WORD.findall(words))[:_MOST_TERMS]
        if not terms:
            return base
        if ledger is None:
            return replace(base, expansions=_joined(base.expansions, terms))
        return replace(base, text=asked or base.text, terms=_joined(terms, base.terms))

    def _written(self, intent: Intent, plan: Plan, ledger: Ledger | None, asked: str) -> QueryReply | None:
        return self._desk.asked(
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
