"""Support for testing applications that embed this package: a chat model that needs no provider.

>>> from fin_agent.testing import ScriptedChatModel
>>> ScriptedChatModel(["42"]).invoke("What is six times seven?").content
'42'
"""

from fin_agent.testing.scripted_model import ModelCall, ScriptedChatModel, ScriptError

__all__ = ["ModelCall", "ScriptError", "ScriptedChatModel"]
