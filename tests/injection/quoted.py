"""What a prompt of this package says itself, and what it quotes: for scripts that answer by what they are shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fin_agent.testing.scripted_model import ModelCall

CODE = "CODE"
"""Stands for the code of the marks where prompts of two runs are compared."""
_TOLD_CODE = re.compile(r"marks that carry the code (?P<code>[0-9a-f]{8,64})\b")


@dataclass(frozen=True, slots=True)
class Quotation:
    """A text between marks."""

    mark: str
    """`question`, `passage`."""
    number: int | None
    """Where several are quoted."""
    of: str
    """Where it stands, as the mark says."""
    text: str


def code_of(call: ModelCall) -> str | None:
    """The code that the marks of a prompt carry, as its own words tell it; None where it tells none."""
    found = _TOLD_CODE.search(system_of(call))
    return found["code"] if found else None


def system_of(call: ModelCall) -> str:
    """What the prompt says as its own instructions."""
    return "\n\n".join(str(message.text) for message in call.messages if message.type == "system")


def user_of(call: ModelCall) -> str:
    """What the prompt says as its user, corrections included; not the model's own reply that is sent back with one."""
    return "\n\n".join(str(message.text) for message in call.messages if message.type not in ("system", "ai"))


def quotations(call: ModelCall, *marks: str) -> tuple[Quotation, ...]:
    """What the prompt quotes, in order; only that of `marks` where some are named. A reply sent back is no part of it.

    >>> from langchain_core.messages import HumanMessage, SystemMessage
    >>> from fin_agent.prompts import Quoted, load_prompt
    >>> prompt = load_prompt("reasoning").filled(
    ...     question="What rose?", wanted="", passages=[Quoted("Sales rose.", "ACME page 4")]
    ... )
    >>> call = ModelCall((SystemMessage(prompt.system), HumanMessage(prompt.user)), "reasoning", {})
    >>> quotations(call, "passage")
    (Quotation(mark='passage', number=1, of='ACME page 4', text='Sales rose.'),)
    """
    code = code_of(call)
    if code is None:
        return ()
    found = (
        Quotation(
            each["mark"], int(each["number"]) if each["number"] else None, each["of"] or "", each["text"].strip("\n")
        )
        for message in [message for message in call.messages if message.type == "human"][:1]
        for each in _quoted(code).finditer(str(message.text))
    )
    return tuple(each for each in found if not marks or each.mark in marks)


def unquoted(call: ModelCall) -> str:
    """All that a prompt says outside of marks with its code, the code itself replaced by CODE."""
    code = code_of(call)
    if code is None:
        return call.text
    outside = _quoted(code).sub(lambda each: f"<{each['mark']}-{CODE}>", user_of(call))
    return f"{system_of(call)}\n\n{outside}".replace(code, CODE)


def one(found: Sequence[Quotation]) -> str:
    """The text of the first; empty where there is none."""
    return found[0].text if found else ""


def _quoted(code: str) -> re.Pattern[str]:
    return re.compile(
        rf'<(?P<mark>[a-z_]+)-{code}(?: number="(?P<number>\d+)")?(?: of="(?P<of>[^"]*)")?>'
        rf"(?P<text>.*?)</(?P=mark)-{code}>",
        re.S,
    )
