"""An OpenAI-compatible server for tests. It speaks the real protocol over HTTP on loopback, and fails as it is told."""

from tests.models.openai_server.exchange import (
    BrokenStream,
    ChatRequest,
    Cut,
    Dripping,
    Dropped,
    Failure,
    HttpError,
    Late,
    Logged,
    Raw,
    Reply,
    Said,
    Stalled,
    ToolCall,
)
from tests.models.openai_server.failures import ENDLESS, FAILURES, SLOW, SOUND, Chance, Failing, rate_limited
from tests.models.openai_server.server import KEY, MODELS, OpenAIServer

__all__ = [
    "ENDLESS",
    "FAILURES",
    "KEY",
    "MODELS",
    "SLOW",
    "SOUND",
    "BrokenStream",
    "Chance",
    "ChatRequest",
    "Cut",
    "Dripping",
    "Dropped",
    "Failing",
    "Failure",
    "HttpError",
    "Late",
    "Logged",
    "OpenAIServer",
    "Raw",
    "Reply",
    "Said",
    "Stalled",
    "ToolCall",
    "rate_limited",
]
