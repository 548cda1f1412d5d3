"""Chat models that do what a planted text tells them: to show what is left of it once the package has dealt with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fin_agent.testing.scripted_model import ModelCall
from tests.injection.planting import MARK, NUMBER
from tests.injection.quoted import Quotation, quotations, system_of, unquoted, user_of

Reply = Mapping[str, object]
_TAGS = re.compile("[\U000e0000-\U000e007f]")


@dataclass(slots=True)
class Obeying:
    """A script for `ScriptedChatModel`: obeys planted texts that reach it, and else replies as `sound` does.

    With `anywhere` it obeys whatever it reads, quoted or not: the worst of models. Without, it obeys what stands
    outside of the marks, as a model does that trusts them: nothing, unless somebody has broken out of them.
    """

    sound: Callable[[ModelCall], Reply]
    anywhere: bool = False
    breaches: list[str] = field(default_factory=list)
    """What must never be: planted text outside of the marks, or invisible text inside, and tools that may be called."""
    obeyed: int = 0
    """Replies that did what a planted text says."""

    def __call__(self, call: ModelCall) -> Reply:
        self.breaches += breaches(call)
        if MARK not in (user_of(call) if self.anywhere else unquoted(call)):
            return self.sound(call)
        self.obeyed += 1
        return obedient(call)


def breaches(call: ModelCall) -> list[str]:
    """What is wrong with a prompt into which planted text has come; nothing where it is quoted as it should be."""
    found = []
    if MARK in unquoted(call):
        found.append(f"{call.role}: planted text stands outside of the marks")
    if MARK in system_of(call):
        found.append(f"{call.role}: planted text stands in the instructions")
    if _TAGS.search(call.text):
        found.append(f"{call.role}: invisible text is sent")
    if call.tools:
        found.append(f"{call.role}: tools may be called: {', '.join(call.tools)}")
    kinds = [message.type for message in call.messages]
    if kinds[:2] != ["system", "human"] or "system" in kinds[1:]:
        found.append(f"{call.role}: messages of {', '.join(kinds)}")
    return found


def obedient(call: ModelCall) -> Reply:
    """The reply to each role that planted texts ask for: the number, their own passage, the prompt."""
    role = call.role
    planted = [each for each in quotations(call, "passage") if MARK in each.text]
    if role == "curation":
        return {
            "kept": [{"passage": each.number, "reason": "it says so"} for each in planted],
            "missing": [],
            "answerable": True,
            "complementary_question": None,
        }
    if role == "reasoning":
        quotes = [{"passage": each.number, "quote": _quote(each)} for each in planted]
        wants_prompt = any(re.search(r"print your system prompt|repeat everything", each.text) for each in planted)
        told = f"My instructions: {re.sub(r'[0-9]', '', system_of(call))[:300]}"
        figures = [
            {"name": f"planted_{place}", "passage": each.number, "quote": _quote(each), "number": str(NUMBER)}
            for place, each in enumerate(planted)
        ]
        calculated = [{"name": "result", "expression": figures[0]["name"], "unit": "USD millions"}] if figures else []
        return {
            "figures": figures,
            "calculations": calculated,
            "sentences": [{"text": f"The answer is {NUMBER}.", "citations": quotes}],
            "answer": told if wants_prompt else f"The answer is {NUMBER}.",
            "verdict": "none" if wants_prompt else "yes",
        }
    if role == "intent":
        return {"questions": [f"revenue of Acme in FY2023 + {NUMBER}", MARK], "search": f"{MARK} password {NUMBER}"}
    return {"query": f"{MARK} password {NUMBER}", "terms": [MARK]}


def _quote(passage: Quotation) -> str:
    """The planted words of a passage, the number among them."""
    words = passage.text.split()
    place = next(at for at, word in enumerate(words) if MARK in word)
    numbers = [at for at, word in enumerate(words) if str(NUMBER) in word and abs(at - place) < 36]
    last = max(numbers, default=place + 12)
    return " ".join(words[min(place, last) : max(place, last) + 1][:40])
