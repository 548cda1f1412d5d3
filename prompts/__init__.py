"""Prompts for the roles of chat models: one Markdown file per role, loaded by name and replaceable by the user."""

from fin_agent.prompts.injection_signs import Sign, SignKind, find_instructions, remove_instructions, signs_of_injection
from fin_agent.prompts.prompt import FilledPrompt, Prompt, PromptError, load_prompt, prompts
from fin_agent.prompts.untrusted_text import Quoted, quoted_text

__all__ = [
    "FilledPrompt", "Prompt", "PromptError", "Quoted", "Sign", "SignKind", "find_instructions",
    "load_prompt", "prompts", "quoted_text", "remove_instructions", "signs_of_injection",
]  # fmt: skip
