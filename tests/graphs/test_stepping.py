"""A run that stops after every node, is changed on the way, and goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer
from fin_agent.errors import FilingIndexError, QuestionError
from fin_agent.graphs.answer import AnswerContext
from fin_agent.graphs.answer.stepping import SteppedRun

LOOKUP = "What were Quillmark's merchandise inventories at the end of fiscal 2023?"
TWO_ROUNDS = "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?"


def finish(run: SteppedRun) -> Answer:
    while run.next is not None or run.answer is None:
        run.advance()
    return run.answer


def until(run: SteppedRun, node: str, round_number: int = 1) -> None:
    """Up to before a node."""
    run.advance()
    while run.next != node or run.state["round"] != round_number:
        run.advance()


@pytest.mark.parametrize("question", [LOOKUP, TWO_ROUNDS, "What risks does Harborlight name about its suppliers?"])
def test_without_a_change_it_answers_as_any_run(
    context: AnswerContext, ask: Callable[[str], Answer], question: str
) -> None:
    stepped = finish(SteppedRun(question, context))
    assert stepped.model_copy(update={"seconds": 0}) == ask(question).model_copy(update={"seconds": 0})


def test_it_stops_after_each_node_and_before_the_program(context: AnswerContext) -> None:
    run = SteppedRun(LOOKUP, context)
    told = []
    while (step := run.advance()) is not None:
        told.append(step.node)
    assert (told[0], told[-1]) == ("rewrite_query", "check_answerability")
    assert run.program is not None
    assert "return inventories_fy2023" in run.program
    assert run.answer is None
    last = run.advance()
    assert last is not None
    assert last.node == "answer_with_program"
    assert run.program is None


def test_other_words_are_searched_for_in_the_companies_of_the_round(context: AnswerContext) -> None:
    run = SteppedRun(TWO_ROUNDS, context)
    until(run, "search_documents", 2)
    before = run.state["query"]
    run.search_for("suppliers of raw materials")
    after = run.state["query"]
    assert (after.text, after.companies, after.periods) == (
        "suppliers of raw materials",
        before.companies,
        before.periods,
    )
    run.advance()
    run.advance()
    pages = run.state["pages"]
    assert pages[0].key.page == 2
    answer = finish(run)
    assert "edited from outside of the run: query" in answer.warnings


def test_a_dropped_passage_fills_no_slot_and_is_told_of(context: AnswerContext) -> None:
    run = SteppedRun(LOOKUP, context)
    until(run, "check_answerability")
    assert run.state["answerable"]
    holding = run.passages[0]
    assert run.drop(1) == holding
    assert run.next == "filter_passages"
    run.advance()
    (entry, *_) = run.state["ledger"].entries
    assert entry.figure is None or (entry.figure.doc_id, entry.figure.page) != (holding.doc_id, holding.page)
    answer = finish(run)
    assert any("was dropped" in warning for warning in answer.warnings)


def test_what_is_not_there_cannot_be_changed(context: AnswerContext) -> None:
    run = SteppedRun(LOOKUP, context)
    until(run, "search_pages")
    with pytest.raises(QuestionError, match="no search follows here"):
        run.search_for("inventories")
    with pytest.raises(QuestionError, match="there is no passage 1 here"):
        run.drop(1)
    until_read = run
    while until_read.next != "filter_passages":
        until_read.advance()
    with pytest.raises(QuestionError, match="there is no passage 6 here"):
        run.drop(6)
    with pytest.raises(FilingIndexError):
        SteppedRun(LOOKUP, context, doc_ids=["no such filing"])
