"""What of a conversation is sent to a model: whole turns, within a budget, the last ones first."""

from __future__ import annotations

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from fin_agent.graphs.chat.assistant import sent_history
from fin_agent.graphs.chat.state import ChatLimits
from fin_agent.models.tokens import approximate_tokens


def turn(number: int, result: str = "a figure", *, answered: bool = True) -> list[AnyMessage]:
    call = {"name": "page_search", "args": {"query": f"q{number}"}, "id": f"c{number}"}
    said: list[AnyMessage] = [
        HumanMessage(f"question {number}"),
        AIMessage("", tool_calls=[call]),
        ToolMessage(result, tool_call_id=f"c{number}"),
    ]
    return [*said, AIMessage(f"reply {number}")] if answered else said


def test_the_current_turn_is_whole_and_earlier_results_are_shortened() -> None:
    long = "line of a table 1,234\n" * 400
    sent = sent_history([*turn(1, long), *turn(2, long, answered=False)], ChatLimits())
    texts = [str(message.text) for message in sent.messages]
    assert texts[-1] == long and texts[0] == "question 1" and not sent.left_out
    assert approximate_tokens(texts[2]) < 430 and texts[2].endswith("call the tool again for all of it]")


def test_a_turn_that_was_cancelled_is_not_sent() -> None:
    sent = sent_history([*turn(1), *turn(2, answered=False), *turn(3, answered=False)], ChatLimits())
    assert [message.text for message in sent.messages if isinstance(message, HumanMessage)] == [
        "question 1",
        "question 3",
    ]


def test_where_there_is_no_room_the_oldest_turns_become_lines() -> None:
    messages = [message for number in range(40) for message in turn(number, "words of a page " * 60)]
    limits = ChatLimits(history_tokens=1_500, earlier_result_tokens=200)
    sent = sent_history([*messages, HumanMessage("and now?")], limits)
    asked = [str(message.text) for message in sent.messages if isinstance(message, HumanMessage)]
    left = sent.left_out.split("\n")
    assert asked[-2:] == ["question 39", "and now?"] and 3 < len(asked) < 12
    assert left[0] == "Asked: question 0 Replied: reply 0" and len(left) + len(asked) == 41
    assert sum(approximate_tokens(str(message.text)) for message in sent.messages) < 1_500


def test_every_tool_call_that_is_sent_has_its_result() -> None:
    messages = [message for number in range(12) for message in turn(number, "words " * 300)]
    sent = sent_history([*messages, HumanMessage("?")], ChatLimits(history_tokens=900))
    calls = [call["id"] for each in sent.messages if isinstance(each, AIMessage) for call in each.tool_calls]
    results = [each.tool_call_id for each in sent.messages if isinstance(each, ToolMessage)]
    assert calls == results
