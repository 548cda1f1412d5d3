"""Whether an answer can be used, and what is said to a model whose answer cannot."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.models.call import Call, Finish, Message, OutputT
from fin_agent.models.errors import (
    EmptyReplyError,
    ModelError,
    RefusedByModelError,
    TruncatedReplyError,
    UnusableReplyError,
)
from fin_agent.models.json_replies import UnreadableError, read_value
from fin_agent.models.keys import redacted
from fin_agent.models.received import Received
from fin_agent.models.schemas import instruction
from fin_agent.models.usage import Usage

_MOST_SHOWN = 400
"""Characters of what is wrong."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an answer cannot be used."""

    kind: type[ModelError]
    what: str
    remedy: str = "The rules' result may serve, or a larger model"
    broke_off: bool = False
    """Whether it came to no end: the same is asked again."""

    def error(self, subject: str, usage: Usage, *, corrected: bool = True) -> ModelError:
        """The error to raise; `corrected` says that a correction was asked for."""
        told = f"two replies could not be used: {self.what}" if corrected else f"the reply cannot be used: {self.what}"
        return self.kind(told, subject=subject, remedy=self.remedy, usage=usage)


def judged(call: Call[OutputT], answer: Received) -> tuple[OutputT | None, Fault | None]:
    """The value where one is wanted, and what is wrong."""
    if answer.refusal or answer.finish is Finish.FILTERED:
        said = f" ({redacted(answer.refusal)})" if answer.refusal else ""
        return None, Fault(RefusedByModelError, f"the model, or a filter before it, declined to answer{said}")
    if answer.tools:
        named = redacted(", ".join(answer.tools))
        return None, Fault(UnusableReplyError, f"the model called a tool ({named}), and none was offered")
    cut_off = answer.finish is Finish.LENGTH
    remedy = "Allow more output tokens for this role; a model that reasons needs them for its thoughts as well"
    if not answer.text.strip():
        if cut_off:
            what = "the limit of tokens was reached before anything was said"
            return None, Fault(TruncatedReplyError, what, remedy)
        return None, Fault(EmptyReplyError, "the reply is empty")
    if call.output is None:
        if cut_off:
            return None, Fault(TruncatedReplyError, "the reply was cut off by the limit of tokens", remedy)
        return None, None
    try:
        value = read_value(answer.text, call.output, whole=cut_off)
    except UnreadableError as failure:
        if cut_off:
            return None, Fault(TruncatedReplyError, f"the reply was cut off by the limit of tokens ({failure})", remedy)
        return None, Fault(UnusableReplyError, str(failure))
    wrong = None if call.check is None else call.check(value)
    return (value, None) if wrong is None else (None, Fault(UnusableReplyError, wrong))


def correction(call: Call[OutputT], answer: Received, fault: Fault) -> tuple[Message, ...]:
    """What follows the messages of the call when it is made once more.

    The reply itself is not shown again: it may repeat what a filing says, and that stands between marks or nowhere.
    """
    if fault.broke_off:
        return ()
    wanted = "Reply anew, in words." if call.output is None else f"Reply anew. {instruction(call.output)}"
    shorter = " Be briefer: the reply must end before the limit." if fault.kind is TruncatedReplyError else ""
    tools = " Call no tools: there are none." if answer.tools else ""
    what = "it was declined" if fault.kind is RefusedByModelError else " ".join(fault.what.split())[:_MOST_SHOWN]
    return (("user", f"A reply before this one could not be used: {what}.{shorter}{tools} {wanted}"),)
