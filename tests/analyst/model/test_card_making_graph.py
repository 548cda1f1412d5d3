"""The answer graph with cards by a chat model: made before passages are judged, and told on the trace."""

from __future__ import annotations

import json
from typing import cast

import pytest

from fin_agent.config import Settings
from fin_agent.evidence.cards.card import ClaimRole
from fin_agent.evidence.evidence import TraceStep
from fin_agent.graphs.answer import AnswerContext, answer_question, build_graph
from fin_agent.graphs.answer.state import AnswerState
from fin_agent.models import ModelSetupError
from fin_agent.tools.arguments import CardExtractionArguments
from fin_agent.tools.context import ToolContext
from fin_agent.tools.tool_implementations import make_cards
from fin_agent.workspace import Workspace
from tests.analyst.model.conftest import Script

QUESTION = "Which patent suit did Harborlight settle in 2024?"
GOOD = json.dumps({"role": "tells-event", "uses": ["lookup"], "sketch": "The settlement of a patent suit"})


def extraction(trace: tuple[TraceStep, ...]) -> TraceStep:
    return next(step for step in trace if step.node == "extract_cards")


def last_state(context: AnswerContext) -> AnswerState:
    *_, last = build_graph().stream({"question": QUESTION}, context=context, stream_mode="values")
    return cast(AnswerState, last)


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[Script]:
    """The model that the setting names, as soon as one is put in."""
    models: list[Script] = []
    monkeypatch.setattr("fin_agent.models.caller.load_chat_model", lambda name, **_: models[0].caller.model)
    return models


def asking(workspace: Workspace) -> AnswerContext:
    return AnswerContext.by_rules(workspace, Settings(card_model="some:model"))


def test_the_passages_to_be_judged_get_their_cards_from_the_model(
    workspace: Workspace, loaded: list[Script], script: type[Script]
) -> None:
    loaded.append(script(GOOD))
    context = asking(workspace)
    answer = answer_question(QUESTION, context)
    plain = answer_question(QUESTION, AnswerContext.by_rules(workspace))
    assert answer.answer == plain.answer and not answer.refused
    step = extraction(answer.trace)
    assert step.summary == "5 cards, 5 by the chat model, 0 by rules"
    assert len(loaded[0].prompts) == 5 * answer.rounds
    assert all("tells-event" in line for line in step.details)
    assert extraction(plain.trace).summary == "5 cards"
    state = last_state(context)
    assert {card.sketch for card in state["cards"]} == {"The settlement of a patent suit"}
    assert {card.role for card in state["cards"]} == {ClaimRole.TELLS_EVENT}


def test_cards_that_fell_back_are_counted_with_the_reason(
    workspace: Workspace, loaded: list[Script], script: type[Script]
) -> None:
    loaded.append(script(GOOD, "rubbish", "more rubbish", GOOD.replace("settlement", "77th settlement"), GOOD))
    answer = answer_question(QUESTION, asking(workspace))
    step = extraction(answer.trace)
    assert step.summary == "5 cards, 4 by the chat model, 1 by rules"
    (note,) = [line for line in step.details if " passage " in line]
    assert "left out the sketch, for numbers not in the passage: 77" in note
    (warning,) = answer.warnings
    assert warning.startswith("the card-abstraction of the model could not be had: two replies could not be used")


def test_a_model_that_cannot_be_reached_changes_no_answer(
    workspace: Workspace, loaded: list[Script], silent: Script
) -> None:
    loaded.append(silent)
    answer = answer_question(QUESTION, asking(workspace))
    assert answer.answer == answer_question(QUESTION, AnswerContext.by_rules(workspace)).answer
    step = extraction(answer.trace)
    assert step.summary == "5 cards, 0 by the chat model, 5 by rules"
    assert len(loaded[0].prompts) == 1, "it is left alone for a while"
    assert "the key is refused" in answer.warnings[0] or "refused" in answer.warnings[0]


def test_a_model_that_cannot_be_loaded_is_told_before_any_question(workspace: Workspace) -> None:
    with pytest.raises(ModelSetupError, match="no such model"):
        AnswerContext.by_rules(workspace, Settings(card_model="no such model"))


def test_the_tool_takes_a_maker(workspace: Workspace, loaded: list[Script], script: type[Script]) -> None:
    loaded.append(script(GOOD))
    given = CardExtractionArguments(doc_id="harborlight_2024_10k", pages="5")
    by_rules, by_model = (
        make_cards(ToolContext.of(workspace, settings), given).cards
        for settings in (Settings(), Settings(card_model="some:model"))
    )
    assert [card.identity for card in by_model] == [card.identity for card in by_rules]
    assert {card.sketch for card in by_model} == {"The settlement of a patent suit"}
