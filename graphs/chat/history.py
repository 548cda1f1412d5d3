"""The conversation as it is sent to a model: whole turns only, earlier tool results shortened, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage

from fin_agent.graphs.chat.state import ChatLimits, Turn, is_correction
from fin_agent.models.tokens import MESSAGE_TOKENS, TokenCounter

_SHORTENED = "\n[... shortened: call the tool again for all of it]"
_LONGEST_SUMMARY = 240


@dataclass(frozen=True, slots=True)
class SentHistory:
    """What is sent, and in words what of the conversation is not."""

    messages: tuple[BaseMessage, ...]
    left_out: str


def sent_history(
    messages: Sequence[AnyMessage], limits: ChatLimits, counter: TokenCounter, turns: Sequence[Turn] | None = None
) -> SentHistory:
    """The current turn as it is, and of those before as many as there is room for, the last ones first.

    What got no reply is left out: it was cancelled; so is a draft that none of `turns` ended, whose figures nobody
    checked. Tool results of earlier turns are shortened; where there is still no room, their tool calls go, then whole
    turns, of which a line is kept.
    """
    segments = segments_of(messages)
    if not segments:
        return SentHistory((), "")
    *before, current = segments
    whole = [segment for segment in before if is_answered(segment, turns)]
    room = limits.history_tokens - _tokens(current, counter)
    sent: list[BaseMessage] = []
    left_out: list[str] = []
    for segment in reversed(whole):
        fitting = next(
            (
                form
                for form in (_shortened(segment, limits.earlier_result_tokens, counter), _bare(segment))
                if not left_out and _tokens(form, counter) <= room
            ),
            None,
        )
        if fitting is None:
            left_out.append(_summary(segment))
            continue
        room -= _tokens(fitting, counter)
        sent = [*fitting, *sent]
    return SentHistory((*sent, *current), "\n".join(reversed(left_out)))


def segments_of(messages: Sequence[AnyMessage]) -> list[list[BaseMessage]]:
    """Turn by turn: each begins with what a person says."""
    segments: list[list[BaseMessage]] = []
    for message in messages:
        if isinstance(message, HumanMessage) and not is_correction(message):
            segments.append([])
        if segments:
            segments[-1].append(message)
    return segments


def is_answered(segment: Sequence[BaseMessage], turns: Sequence[Turn] | None) -> bool:
    """Whether it ends with a reply: that of one of `turns`, where these are given."""
    last = segment[-1]
    if not isinstance(last, AIMessage) or last.tool_calls:
        return False
    return turns is None or any(turn.asked == segment[0].text and turn.said in last.text for turn in turns)


def _bare(segment: Sequence[BaseMessage]) -> list[BaseMessage]:
    """What was asked and replied, without the tools."""
    return [segment[0], segment[-1]]


def _shortened(segment: Sequence[BaseMessage], tokens: int, counter: TokenCounter) -> list[BaseMessage]:
    return [_short_result(each, tokens, counter) if isinstance(each, ToolMessage) else each for each in segment]


def _short_result(message: ToolMessage, tokens: int, counter: TokenCounter) -> ToolMessage:
    text = str(message.text)
    if counter.count(text) <= tokens:
        return message
    # Marks of quotations that would be cut in two go with what stands between them.
    kept = text
    while kept and counter.count(kept) > tokens:
        kept = kept[: int(len(kept) * 0.8)]
    kept = kept.rpartition("\n")[0] or kept
    return message.model_copy(update={"content": f"{kept}{_SHORTENED}"})


def _summary(segment: Sequence[BaseMessage]) -> str:
    return f"Asked: {_line(segment[0])} Replied: {_line(segment[-1])}"


def _line(message: BaseMessage) -> str:
    line = " ".join(message.text.split())
    return line if len(line) <= _LONGEST_SUMMARY else f"{line[: _LONGEST_SUMMARY - 1]}…"


def _tokens(messages: Sequence[BaseMessage], counter: TokenCounter) -> int:
    calls = [str(call["args"]) for each in messages if isinstance(each, AIMessage) for call in each.tool_calls]
    texts = [*(each.text for each in messages), *calls]
    return sum(MESSAGE_TOKENS + counter.count(text) for text in texts)
