"""From a function of typed arguments to a LangChain tool: text and artifact, sync and async, errors as messages."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel, ValidationError

from fin_agent.errors import FinAgentError
from fin_agent.tools.arguments import Arguments

Given = TypeVar("Given", bound=Arguments)
Run = Callable[[Given], tuple[str, BaseModel]]
"""What a model reads, and what code gets."""

_MOST_PROBLEMS = 5


def made_tool(name: str, description: str, arguments: type[Given], run: Run[Given]) -> BaseTool:
    """The tool; what it raises reaches the model as a message with what to do next, never as a traceback."""

    def called(**given: object) -> tuple[str, BaseModel]:
        try:
            return run(arguments.model_validate(given))
        except FinAgentError as error:
            raise ToolException(_said(name, str(error))) from error
        except (ToolException, ValidationError, GraphBubbleUp):
            raise
        except Exception as error:  # an agent's run must not end because a tool failed; the log has where
            logging.getLogger("fin_agent").exception("the tool %s failed", name)
            raise ToolException(
                _said(name, f"it broke ({type(error).__name__}). Try other arguments, or do without it.")
            ) from error

    return StructuredTool(
        name=name,
        description=description,
        args_schema=arguments,
        func=called,
        response_format="content_and_artifact",
        handle_tool_error=True,
        handle_validation_error=lambda error: _do_not_fit(name, arguments, error),
    )


def _said(name: str, what: str) -> str:
    return f"{name} could not do this: {what}"


def _do_not_fit(name: str, arguments: type[Arguments], error: object) -> str:
    """Which arguments are wrong, and how; what was given is not repeated."""
    assert isinstance(error, ValidationError), error
    problems = []
    for each in error.errors(include_url=False, include_input=False)[:_MOST_PROBLEMS]:
        where = ".".join(str(part) for part in each["loc"]) or "arguments"
        problems.append(f"{where}: {each['msg']}")
    takes = ", ".join(arguments.model_fields)
    return _said(
        name, f"the arguments do not fit ({'; '.join(problems)}). It takes: {takes}. Call it again with these mended."
    )
