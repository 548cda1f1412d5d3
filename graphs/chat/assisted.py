"""Stub."""
from __future__ import annotations
from langchain_core.messages import BaseMessage
def is_correction(message: BaseMessage) -> bool:
    return bool(message.additional_kwargs.get("fin_agent_correction"))
def converse(*a):
    raise NotImplementedError
def check_figures(*a):
    raise NotImplementedError
