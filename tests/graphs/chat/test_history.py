"""What of a conversation is sent to a model: questions and replies, within a budget, the last ones first."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage

from fin_agent.graphs.chat.assistant import sent_history
from fin_agent.graphs.chat.state import ChatLimits


def turn(number: int, result: str = "a figure", *, answered: bool = True) -> list[AnyMessage]:
    call = {"name": "page_search", "args": {"query": f"q{number}"}, "id": f"c{number}"}
    said: list[AnyMessage] = [
        HumanMessage(f"question {number}"),
        AIMessage("", tool_calls=[call]),
        ToolMessage(result, tool_call_id=f"c{number}"),
    ]
    return [*said, AIMessage(f"reply {number}")] if answered else said


def texts(sent: Sequence[BaseMessage]) -> list[str]:
    return [str(message.text) for message in sent]


def test_the_current_turn_is_whole_and_of_earlier_ones_the_question_and_the_reply() -> None:
    long = "line of a table 1,234\n" * 400
    sent = sent_history([*turn(1, long), *turn(2, long, answered=False)], ChatLimits())
    assert texts(sent) == ["question 1", "reply 1", "question 2", "", long]


def test_a_turn_that_was_cancelled_is_not_sent() -> None:
    sent = sent_history([*turn(1), *turn(2, answered=False), *turn(3, answered=False)], ChatLimits())
    assert [message.text for message in sent if isinstance(message, HumanMessage)] == ["question 1", "question 3"]


def test_where_there_is_no_room_the_oldest_turns_are_left_out() -> None:
    messages = [message for number in range(400) for message in turn(number)]
    sent = sent_history([*messages, HumanMessage("and now?")], ChatLimits(history_tokens=500))
    assert texts(sent)[-3:] == ["question 399", "reply 399", "and now?"]
    assert isinstance(sent[0], HumanMessage) and 20 < len(sent) < 200
    alone = sent_history([*messages, *turn(400, "words " * 800, answered=False)], ChatLimits(history_tokens=500))
    assert texts(alone)[0] == "question 400"
