"""A chat model of your own as the analyst: behind your gateway, on your hardware, or anything else that takes messages.

Run `make demo` first, then `.venv/bin/python examples/chat_model_of_your_own.py`. FIN_AGENT_INDEX names another index.
What it replies is held against the passages: a quote that is not there, or a number without a source, does not count.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from fin_agent import AnswerContext, Callers, ModelSettings, Workspace, answer_question
from fin_agent.models import Preset

INDEX = Path(os.environ.get("FIN_AGENT_INDEX", ".fin-agent/demo-index"))
QUESTION = "Which patent suit did Harborlight settle in 2024?"


def gateway(system: str, user: str) -> str:
    """Stands for the request to your server. This one quotes the sentence that shares most words with the question."""
    question = set(re.findall(r"[a-z]{4,}", re.findall(r"<question-\w+>(.*?)</question", user, re.S)[0].lower()))
    quotes = [
        (len(question & set(sentence.lower().split())), int(number), " ".join(sentence.split()[:30]).rstrip("."))
        for number, passage in re.findall(r'<passage-\w+ number="(\d+)"[^>]*>(.*?)</passage', user, re.S)
        for sentence in re.split(r"(?<=\.)\s(?=[A-Z])|\n(?=[A-Z])", passage)
    ]
    _, number, quote = max(quotes, key=lambda each: each[0])
    sentence = {"text": f"The filing says: {quote}.", "citations": [{"passage": number, "quote": quote}]}
    return json.dumps({"sentences": [sentence], "answer": f"{quote}.", "verdict": "none"})


class HouseModel(BaseChatModel):
    """All that LangChain asks of a chat model: messages in, a message out, and a name for its kind."""

    served: str = "house-large"

    @property
    def _llm_type(self) -> str:
        return "house"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        said = {
            kind: "\n".join(str(each.text) for each in messages if each.type == kind) for kind in ("system", "human")
        }
        reply = AIMessage(gateway(said["system"], said["human"]), response_metadata={"model_name": self.served})
        return ChatResult(generations=[ChatGeneration(message=reply)])


if __name__ == "__main__":
    # `fast` asks a model only for what rules cannot do; a budget holds for each question.
    settings = ModelSettings(preset=Preset.FAST)
    callers = Callers.with_model(HouseModel(), settings, name="house:house-large")
    context = AnswerContext.from_settings(Workspace.open(INDEX), callers=callers)
    answer = answer_question(QUESTION, context)
    print(answer.answer.text)
    for cited in answer.citations:
        print(f"  {cited.doc_id} page {cited.page + 1}: {cited.text!r}")
    for used in answer.usage.roles:
        print(f"  {used.role} by {used.model}: {used.calls} call, {used.input_tokens:,} tokens read")
    for warning in answer.warnings:
        print(f"  Warning: {warning}")
