"""For tests of what embeds this package: chat models that need no provider, and guards that forbid one.

- `ScriptedChatModel` says what a test tells it to, by turns, by role or by a function.
- `no_model_requests` forbids every other chat model, `loopback_only` every host but this machine.

>>> from fin_agent.testing import ScriptedChatModel, no_model_requests
>>> with no_model_requests():
...     ScriptedChatModel(["42"]).invoke("What is six times seven?").content
'42'
"""

from fin_agent.testing.network_guards import (
    ForbiddenConnectionError,
    ForbiddenModelRequestError,
    loopback_only,
    no_model_requests,
)
from fin_agent.testing.scripted_model import ScriptedChatModel, ScriptError
from fin_agent.testing.stand_in_base import ModelCall, role_of

__all__ = [
    "ForbiddenConnectionError",
    "ForbiddenModelRequestError",
    "ModelCall",
    "ScriptError",
    "ScriptedChatModel",
    "loopback_only",
    "no_model_requests",
    "role_of",
]
