"""The prompts of the chat models' roles: one Markdown file each, loaded by name, replaceable by the user."""

from fin_agent.prompts.loading import Prompt, PromptError, load_prompt
from fin_agent.prompts.material import quoted_passages, quoted_question

__all__ = ["Prompt", "PromptError", "load_prompt", "quoted_passages", "quoted_question"]
