"""The LangChain tools with which an agent reads filings, over one index."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool, ToolException
from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from fin_agent.config import Settings
from fin_agent.errors import FinAgentError, validation_problems
from fin_agent.lexicon.words import load_yaml
from fin_agent.models.caller import Callers
from fin_agent.tools import arguments as take
from fin_agent.tools import result_formatting as form
from fin_agent.tools import tool_implementations as do
from fin_agent.tools.context import MIN_TOKENS, USUAL_TOKENS, ToolContext, open_workspace
from fin_agent.tools.errors import ToolInputError
from fin_agent.workspace import Workspace

Given = TypeVar("Given", bound=take.Arguments)


class ToolDescription(NamedTuple):
    """A tool: its function, and how its result is formatted for a model."""

    name: str
    arguments: type[take.Arguments]
    operation: Callable[[ToolContext, Any], BaseModel]
    format_result: Callable[..., str]

    def run(self, context: ToolContext, budget: int, given: Any) -> tuple[str, BaseModel]:
        """Return the result as a model reads it, and for code."""
        found = self.operation(context, given)
        begins = {"from_line": given.from_line} if isinstance(given, take.ReadPageArguments) else {}
        return self.format_result(found, budget, **begins), found


TOOLS = (
    ToolDescription("list_filings", take.ListFilingsArguments, do.list_filings, form.format_listing),
    ToolDescription("document_search", take.DocumentSearchArguments, do.find_documents, form.format_filings),
    ToolDescription("page_search", take.PageSearchArguments, do.find_pages, form.format_pages),
    ToolDescription("fact_search", take.FactSearchArguments, do.find_figures, form.format_facts),
    ToolDescription("read_page", take.ReadPageArguments, do.read_pages, form.format_page_text),
    ToolDescription("card_extraction", take.CardExtractionArguments, do.make_cards, form.format_cards),
    ToolDescription("python_execution", take.PythonExecutionArguments, do.run_program, form.format_program_run),
    ToolDescription("answer_question", take.AnswerQuestionArguments, do.answer_tool_question, form.format_answer),
)
TOOL_NAMES = tuple(tool.name for tool in TOOLS)


class FinAgentToolkit(BaseToolkit):
    """Eight tools over an index of filings, for any agent that uses LangChain tools.

    Each returns text for the model, within `max_tokens`, and a typed artifact (`fin_agent.tools.artifacts`; an Answer
    for `answer_question`). Text of filings is quoted between marks, as data. The tools are safe to share between
    threads and can be awaited.

    Use with an agent: `create_agent("openai:gpt-5.4", toolkit.get_tools())`.

    >>> from pathlib import Path
    >>> from fin_agent import FinAgentToolkit
    >>> tools = FinAgentToolkit(index=Path("my-index")).get_tools()
    >>> [tool.name for tool in tools][:3]
    ['list_filings', 'document_search', 'page_search']
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True, extra="forbid")

    index: Path | str | None = Field(
        default=None, description="folder of the index; FIN_AGENT_INDEX or the user's own if not given"
    )
    workspace: Workspace | None = Field(default=None, description="an index that is open already, in place of `index`")
    settings: Settings = Field(
        default_factory=Settings, description="how is searched and answered, and by which models"
    )
    doc_ids: Sequence[str] | None = Field(default=None, description="the only filings that may be read")
    callers: Callers | None = Field(
        default=None, description="chat models that answer, in place of those that the settings name"
    )
    max_tokens: int = Field(default=USUAL_TOKENS, ge=MIN_TOKENS, description="of one result as a model reads it")

    _context: ToolContext = PrivateAttr()

    def model_post_init(self, context: object) -> None:
        """Open the index.

        Raises ValueError if both `index` and `workspace` are given, FilingIndexError if the index cannot be opened,
        StrategyError if the strategy lacks a requirement, and ModelSetupError if a chat model cannot be set up.
        """
        self._context = ToolContext.of(
            open_workspace(self.index, self.workspace), self.settings, doc_ids=self.doc_ids, callers=self.callers
        )

    def get_tools(self, *, include: Collection[str] | None = None, prefix: str = "") -> list[BaseTool]:
        """Return the tools: search tools first, then those that read and compute.

        Args:
            include: Names of the tools to return; None for all.
            prefix: Prepended to each tool's name, to distinguish it from other tools.

        Returns:
            LangChain tools, safe to share between threads.

        Raises:
            ToolInputError: No tool has a name in `include`.
        """
        named = [include] if isinstance(include, str) else include
        unknown = sorted(set(named or ()) - set(TOOL_NAMES))
        if unknown:
            raise ToolInputError(
                f"there is no tool {' or '.join(map(repr, unknown))}", remedy=f"There are: {', '.join(TOOL_NAMES)}"
            )
        budget, described = self.max_tokens, set[str]()
        return [
            make_tool(tool.name, tool.arguments, partial(tool.run, self._context, budget), described, prefix=prefix)
            for tool in TOOLS
            if named is None or tool.name in named
        ]

    @property
    def context(self) -> ToolContext:
        """The context of the tools, for servers that build on it."""
        return self._context


def make_tool(
    name: str,
    arguments: type[Given],
    run: Callable[[Given], tuple[str, BaseModel]],
    described: set[str] | None = None,
    *,
    prefix: str = "",
) -> BaseTool:
    """Build a tool from a function that returns text for the model and an artifact for code.

    An exception reaches the model as a message with a remedy, never as a traceback. `described` are shared arguments
    that tools before it describe.
    """
    called_as = prefix + name
    failed = f"{called_as} could not do this: "

    def called(**given: object) -> tuple[str, BaseModel]:
        try:
            return run(arguments.model_validate(given))
        except FinAgentError as error:
            raise ToolException(f"{failed}{error}") from error
        except (ToolException, ValidationError, GraphBubbleUp):
            raise
        except Exception as error:  # an agent's run must not end because a tool failed; the log has where
            logging.getLogger("fin_agent").exception("the tool %s failed", called_as)
            broke = f"it broke ({type(error).__name__}). Try other arguments, or do without it."
            raise ToolException(f"{failed}{broke}") from error

    def invalid(error: Any) -> str:
        takes = ", ".join(arguments.model_fields)
        problems = validation_problems(error, "arguments", take.MAX_PROBLEMS)
        return f"{failed}the arguments do not fit ({problems}). It takes: {takes}. Call it again with these corrected."

    return StructuredTool(
        name=called_as,
        description=load_yaml("descriptions", __package__)[name],
        args_schema=take.short_schema(arguments, set() if described is None else described),
        func=called,
        response_format="content_and_artifact",
        handle_tool_error=True,
        handle_validation_error=invalid,
    )
