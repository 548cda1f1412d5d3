"""The prompts of the chat models' roles: one Markdown file each, loaded by name, replaceable by the user."""

from fin_agent.prompts.injection_signs import Sign, SignKind, orders_in, signs_of_injection, without_orders
from fin_agent.prompts.prompt import FilledPrompt, Prompt, PromptError, load_prompt, prompts
from fin_agent.prompts.untrusted_text import Quoted, Report, as_quoted

__all__ = [
    "FilledPrompt",
    "Prompt",
    "PromptError",
    "Quoted",
    "Report",
    "Sign",
    "SignKind",
    "as_quoted",
    "load_prompt",
    "orders_in",
    "prompts",
    "signs_of_injection",
    "without_orders",
]
