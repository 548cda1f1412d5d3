"""For tests of what embeds this package: chat models that need no provider, and guards that forbid one.

- `ScriptedChatModel` says what a test tells it to, by turns, by role or by a function.
- `RecordedChatModel` keeps what a real model said, and says it again without a network.
- `RubbishChatModel` says rubbish in place of a part of another model's answers.
- `no_model_requests` forbids every other chat model, `loopback_only` every host but this machine.

>>> from fin_agent.testing import ScriptedChatModel, no_model_requests
>>> with no_model_requests():
...     ScriptedChatModel(["42"]).invoke("What is six times seven?").content
'42'
"""

from fin_agent.testing.guards import (
    ForbiddenConnectionError,
    ForbiddenModelRequestError,
    loopback_only,
    no_model_requests,
)
from fin_agent.testing.recorded import NotRecordedError, RecordedChatModel, RecordingError
from fin_agent.testing.rubbish import Rubbish, RubbishChatModel
from fin_agent.testing.scripted import ScriptedChatModel, ScriptError
from fin_agent.testing.stand_in import ModelCall, role_of

__all__ = [
    "ForbiddenConnectionError",
    "ForbiddenModelRequestError",
    "ModelCall",
    "NotRecordedError",
    "RecordedChatModel",
    "RecordingError",
    "Rubbish",
    "RubbishChatModel",
    "ScriptError",
    "ScriptedChatModel",
    "loopback_only",
    "no_model_requests",
    "role_of",
]
