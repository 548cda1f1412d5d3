"""The answer graph node by node: see what each left, change the search or drop a passage, go on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from fin_agent.answering.answer import Answer
from fin_agent.errors import QuestionError
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.trace import TraceStep
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import AnswerGraph, answer_builder
from fin_agent.graphs.answer.program_of_thought import showing_programs
from fin_agent.graphs.answer.search_nodes import reworded
from fin_agent.graphs.answer.state import EDITED, AnswerState, QuestionInput, typed_state

BEFORE_SEARCH = frozenset({"search_documents"})
WITH_PASSAGES = frozenset(
    {
        "filter_passages",
        "check_answerability",
        "ask_complementary_question",
        "answer_with_program",
        "answer_with_reasoning",
    }
)
"""Nodes before which passages were read, or kept, that may be dropped."""


class SteppedRun:
    """A run that stops after every node, and before each program. Its states are kept in memory while it lasts."""

    def __init__(self, question: str, context: AnswerContext, *, doc_ids: Sequence[str] = ()) -> None:
        """Nothing is run yet. Raises FilingIndexError where a filing named is not indexed."""
        for doc_id in doc_ids:
            context.workspace.index.filing(doc_id)
        self._given: Any = QuestionInput(question=question)
        if doc_ids:
            self._given["doc_ids"] = list(doc_ids)
        self._context = replace(context, analyst=showing_programs(context.analyst))
        builder: Any = answer_builder(AnswerContext, lambda given: given)
        compiled = builder.compile(checkpointer=InMemorySaver(), interrupt_after="*", name="answer")
        self._graph = cast(AnswerGraph, compiled)
        self._seconds = 0.0
        self._config: RunnableConfig = {"configurable": {"thread_id": "stepped"}}

    def advance(self) -> TraceStep | None:
        """Run up to the end of a node, and tell what it did; None where a program waits to be allowed.

        Raises what nodes raise.
        """
        given, self._given = self._given, None
        if self.program is not None:
            given = Command(resume=True)
        known = len(self.state.get("trace", ()))
        started = time.perf_counter()
        self._graph.invoke(given, self._config, context=self._context)
        self._seconds += time.perf_counter() - started
        trace = self.state.get("trace", [])
        return trace[-1] if len(trace) > known else None

    @property
    def state(self) -> AnswerState:
        """What the nodes left so far."""
        return typed_state(self._graph.get_state(self._config).values)[0]

    @property
    def next(self) -> str | None:
        """The node that follows; None at the end."""
        following = self._graph.get_state(self._config).next
        return following[0] if following else None

    @property
    def program(self) -> str | None:
        """The program that waits to be run."""
        waiting = [each for task in self._graph.get_state(self._config).tasks for each in task.interrupts]
        return str(waiting[0].value["program"]) if waiting else None

    @property
    def answer(self) -> Answer | None:
        """The answer, at the end; its seconds are those of the nodes."""
        answer = self.state.get("answer") if self.next is None else None
        return None if answer is None else answer.model_copy(update={"seconds": round(self._seconds, 4)})

    @property
    def passages(self) -> list[RetrievedPassage]:
        """What `drop` counts: the passages read, or once the filter has judged them those kept."""
        state = self.state
        if self.next == "filter_passages":
            known = {evidence.passage.key for evidence in state["evidence"]}
            new = [passage for passage in state["passages"] if passage.key not in known]
            return [*(evidence.passage for evidence in state["evidence"]), *new]
        return [evidence.passage for evidence in state.get("evidence", [])]

    def search_for(self, words: str) -> None:
        """Search for other words in the round that follows. Raises QuestionError without a round or words."""
        if self.next not in BEFORE_SEARCH:
            raise QuestionError(
                "no search follows here", remedy="Change the words after rewrite_query or ask_complementary_question"
            )
        query = reworded(self.state["query"], words, self._context.workspace)
        self._edit({"query": query, "warnings": [f"{EDITED}query"]})

    def drop(self, number: int) -> RetrievedPassage:
        """Take out a passage, counted from 1; where the filter has judged it judges again. Raises QuestionError."""
        passages = self.passages
        if self.next not in WITH_PASSAGES or not 1 <= number <= len(passages):
            raise QuestionError(
                f"there is no passage {number} here", remedy="Name one by its number, once they are read"
            )
        dropped = passages[number - 1]
        state = self.state
        left = {
            "passages": [each for each in state["passages"] if each.key != dropped.key],
            "cards": [
                card for card in state.get("cards", []) if (card.identity.doc_id, card.identity.ordinal) != dropped.key
            ],
            "evidence": [each for each in state["evidence"] if each.passage.key != dropped.key],
            "warnings": [f"{EDITED}evidence ({dropped.doc_id} page {dropped.page + 1} was dropped)"],
        }
        self._edit(left, as_node="extract_cards")
        return dropped

    def _edit(self, values: dict[str, Any], as_node: str | None = None) -> None:
        self._graph.update_state(self._config, values, as_node=as_node)
