"""One who writes: text in, text out. What a chat model writes is searched with, never shown as true."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from fin_agent.errors import FinAgentError
from fin_agent.retrieval.strategies.names import StrategyError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

TEMPERATURE = 0.01
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST_WORDS = 3
_MOST_CHARACTERS = 4000


class Writer(Protocol):
    """Writes a text that a prompt asks for. Safe to share between threads."""

    def write(self, prompt: str) -> str:
        """The text. Raises WritingError where none can be had."""


class WritingError(FinAgentError):
    """A model gave no text."""


class ChatModelWriter:
    """Any LangChain chat model as a Writer; its temperature is that of the model given."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model

    def write(self, prompt: str) -> str:
        """See Writer.write."""
        try:
            return str(self._model.invoke(prompt).text)
        except Exception as failure:  # every provider raises errors of its own
            raise WritingError(
                f"the chat model failed ({type(failure).__name__}: {failure})",
                remedy="See whether its server, key and name are right",
            ) from failure


def load_writer(model: str) -> ChatModelWriter:
    """The chat model named as LangChain names them: `openai:gpt-4o-mini`, `ollama:llama3.1`.

    Raises StrategyError where LangChain or the provider's package is not installed, or the name says no provider.
    """
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as failure:
        raise StrategyError(
            "chat models need langchain, which is not installed",
            subject=f"chat model {model!r}",
            remedy='Install it: pip install "fin-agent[chat]"',
        ) from failure
    try:
        return ChatModelWriter(init_chat_model(model, temperature=TEMPERATURE))
    except ImportError as failure:
        raise StrategyError(
            f"its provider's package is not installed ({failure})",
            subject=f"chat model {model!r}",
            remedy="Install the package named",
        ) from failure
    except Exception as failure:  # a provider's own errors: no key, a name it does not know
        raise StrategyError(
            f"it cannot be used ({next(iter(str(failure).splitlines()), type(failure).__name__).rstrip('.')})",
            subject=f"chat model {model!r}",
            remedy="Give PROVIDER:MODEL, as openai:gpt-4o-mini, and the key that the provider asks for",
        ) from failure


def written(writer: Writer, prompt: str, notify: Callable[[str], None]) -> str:
    """What the writer wrote; empty, with a note of why, where that is nothing that can be searched with."""
    try:
        text = writer.write(prompt).strip()
    except WritingError as failure:
        notify(f"{failure.what}; the question itself is searched with")
        return ""
    if len(_WORD.findall(text)) < _FEWEST_WORDS:
        notify(f"the chat model wrote {text[:40]!r}, which is no text; the question itself is searched with")
        return ""
    return text[:_MOST_CHARACTERS]
