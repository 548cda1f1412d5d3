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
from fin_agent.errors import FinAgentError
from fin_agent.models.callers_by_role import Callers
from fin_agent.tools import arguments as take
from fin_agent.tools import result_formatting, tool_implementations
from fin_agent.tools.context import MIN_TOKENS, USUAL_TOKENS, ToolContext, open_workspace
from fin_agent.tools.errors import ToolInputError
from fin_agent.workspace import Workspace

Given = TypeVar("Given", bound=take.Arguments)


class ToolDescription(NamedTuple):
    """A tool: what a model is told of it, its function, and how its result is formatted."""

    name: str
    description: str
    arguments: type[take.Arguments]
    operation: Callable[[ToolContext, Any], BaseModel]
    format_result: Callable[..., str]

    def run(self, context: ToolContext, budget: result_formatting.OutputBudget, given: Any) -> tuple[str, BaseModel]:
        """Return the result as a model reads it, and for code."""
        found = self.operation(context, given)
        begins = {"from_line": given.from_line} if isinstance(given, take.ReadPageArguments) else {}
        return self.format_result(found, budget, **begins), found


TOOLS = (
    ToolDescription(
        "list_filings",
        "List which SEC filings, companies and periods are indexed. Arguments narrow here as in the other "
        "tools: by company, kind of filing, fiscal year, quarter, or ids of filings.",
        take.ListFilingsArguments,
        tool_implementations.list_filings,
        result_formatting.format_listing,
    ),
    ToolDescription(
        "document_search",
        "Find the filings that can answer something, best first, where it is not clear which to look into.",
        take.DocumentSearchArguments,
        tool_implementations.find_documents,
        result_formatting.format_filings,
    ),
    ToolDescription(
        "page_search",
        "Find the pages that say something (a policy, risk, event, reason, statement), best first, each with "
        "its best passage as printed. Narrow by company and fiscal_year: filings of other years look alike.",
        take.PageSearchArguments,
        tool_implementations.find_pages,
        result_formatting.format_pages,
    ),
    ToolDescription(
        "fact_search",
        "Find single figures in tables by what their line is called, also of one segment, product or region, "
        "or of each of them. Says which words no line has.",
        take.FactSearchArguments,
        tool_implementations.find_figures,
        result_formatting.format_facts,
    ),
    ToolDescription(
        "read_page",
        "Read whole pages of one filing as printed, to check or cite what stands there.",
        take.ReadPageArguments,
        tool_implementations.read_pages,
        result_formatting.format_page_text,
    ),
    ToolDescription(
        "card_extraction",
        "Describe the passages on pages of one filing: what each does, its metrics, periods, units, and every "
        "figure with exact amount and scale.",
        take.CardExtractionArguments,
        tool_implementations.make_cards,
        result_formatting.format_cards,
    ),
    ToolDescription(
        "python_execution",
        "Run a Python program in a sandbox, for all arithmetic with figures you have read. With sources, says "
        "which of its numbers are figures of the filings.",
        take.PythonExecutionArguments,
        tool_implementations.run_program,
        result_formatting.format_program_run,
    ),
    ToolDescription(
        "answer_question",
        "Answer a whole question over the filings, with figures, pages and program, or say what is missing. "
        "Try it first for figures, ratios, growth, comparisons and reasons.",
        take.AnswerQuestionArguments,
        tool_implementations.answer_tool_question,
        result_formatting.format_answer,
    ),
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

        Raises:
            ValueError: Both `index` and `workspace` are given.
            FilingIndexError: The index cannot be opened.
            StrategyError: The strategy lacks a requirement.
            ModelSetupError: A chat model cannot be set up.
        """
        self._context = ToolContext.of(
            open_workspace(self.index, self.workspace),
            self.settings,
            doc_ids=self.doc_ids,
            max_tokens=self.max_tokens,
            callers=self.callers,
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
        budget = result_formatting.OutputBudget(self._context.max_tokens)
        described: set[str] = set()
        return [
            make_tool(
                prefix + tool.name,
                tool.description,
                tool.arguments,
                partial(tool.run, self._context, budget),
                described,
            )
            for tool in TOOLS
            if named is None or tool.name in named
        ]

    @property
    def context(self) -> ToolContext:
        """The context of the tools, for servers that build on it."""
        return self._context


def make_tool(
    name: str,
    description: str,
    arguments: type[Given],
    run: Callable[[Given], tuple[str, BaseModel]],
    described: set[str] | None = None,
) -> BaseTool:
    """Build a tool from a function that returns text for the model and an artifact for code.

    An exception reaches the model as a message with a remedy, never as a traceback. `described` are shared arguments
    that tools before it describe.
    """
    failed = f"{name} could not do this: "

    def called(**given: object) -> tuple[str, BaseModel]:
        try:
            return run(arguments.model_validate(given))
        except FinAgentError as error:
            raise ToolException(f"{failed}{error}") from error
        except (ToolException, ValidationError, GraphBubbleUp):
            raise
        except Exception as error:  # an agent's run must not end because a tool failed; the log has where
            logging.getLogger("fin_agent").exception("the tool %s failed", name)
            broke = f"it broke ({type(error).__name__}). Try other arguments, or do without it."
            raise ToolException(f"{failed}{broke}") from error

    def invalid(error: Any) -> str:
        takes = ", ".join(arguments.model_fields)
        problems = take.problems_in(error)
        return f"{failed}the arguments do not fit ({problems}). It takes: {takes}. Call it again with these corrected."

    return StructuredTool(
        name=name,
        description=description,
        args_schema=take.short_schema(arguments, set() if described is None else described),
        func=called,
        response_format="content_and_artifact",
        handle_tool_error=True,
        handle_validation_error=invalid,
    )
