"""From a filled prompt to a call of a chat model."""

from __future__ import annotations

from collections.abc import Callable

from fin_agent.analyst.journal import flagged
from fin_agent.models.call import Call, OutputT, PromptIdentity, Role
from fin_agent.prompts import FilledPrompt
from fin_agent.prompts.prompt import prompt_roles


def call_of(
    filled: FilledPrompt,
    role: Role | None = None,
    output: type[OutputT] | None = None,
    max_output_tokens: int | None = None,
    *,
    check: Callable[[OutputT], str | None] | None = None,
) -> Call[OutputT]:
    """The call that says what a prompt says: its system part as the system, its user part as the user.

    The role is the prompt's own where none is named. `check` tells what is wrong with a value of the right type. Signs
    of injection in the material, and what was taken out of it, are noted in the journal.
    """
    for report in filled.reports:
        flagged(f"{filled.name}: {report}")
    return Call(
        role=role or prompt_roles()[filled.name].name,
        messages=(("system", filled.system), ("user", filled.user)),
        prompt=PromptIdentity(filled.name, filled.version),
        output=output,
        max_output_tokens=max_output_tokens,
        check=check,
    )
