"""The tools that an agent is given to read filings with, over one index."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool, ToolException
from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from fin_agent.config import Settings
from fin_agent.errors import FinAgentError
from fin_agent.models.callers import Callers
from fin_agent.tools import arguments as take
from fin_agent.tools import operations, wording
from fin_agent.tools.context import FEWEST_TOKENS, USUAL_TOKENS, ToolContext, opened_workspace
from fin_agent.workspace import Workspace

Given = TypeVar("Given", bound=take.Arguments)
Found = TypeVar("Found", bound=BaseModel)
_MOST_PROBLEMS = 5


class FinAgentToolkit(BaseToolkit):
    """Eight tools over an index of filings, for any agent that takes LangChain tools.

    Each gives text for the model, within `max_tokens`, and a typed artifact (`fin_agent.tools.artifacts`; an Answer of
    `answer_question`). What filings say is quoted between marks, as data. The tools are safe to share between threads
    and can be awaited.

    Given to an agent: `create_agent("openai:gpt-5.4", toolkit.get_tools())`.

    >>> from pathlib import Path
    >>> from fin_agent import FinAgentToolkit
    >>> tools = FinAgentToolkit(index=Path("my-index")).get_tools()
    >>> [tool.name for tool in tools][:3]
    ['list_filings', 'document_search', 'page_search']
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True, extra="forbid")

    index: Path | None = Field(
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
    max_tokens: int = Field(default=USUAL_TOKENS, ge=FEWEST_TOKENS, description="of one result as a model reads it")
    counted_as: str = Field(default="", description="model by which tokens are counted: `openai:gpt-5.4`")

    _context: ToolContext = PrivateAttr()

    def model_post_init(self, context: object) -> None:
        """Open the index. Raises FilingIndexError, StrategyError, ModelSetupError; ValueError where two are given."""
        self._context = ToolContext.of(
            opened_workspace(self.index, self.workspace),
            self.settings,
            doc_ids=self.doc_ids,
            max_tokens=self.max_tokens,
            counted_as=self.counted_as,
            callers=self.callers,
        )

    def get_tools(self) -> list[BaseTool]:
        """The tools, those that find before those that read and compute."""
        context = self._context
        budget = wording.Budget(context.max_tokens, context.counter)

        def read_page(given: take.ReadPageArguments) -> tuple[str, BaseModel]:
            read = operations.pages_read(context, given)
            return wording.pages_read_told(read, budget, given.from_line), read

        def tool(
            name: str,
            description: str,
            arguments: type[Given],
            operation: Callable[[Given], Found],
            told: Callable[[Found, wording.Budget], str],
        ) -> BaseTool:
            def run(given: Given) -> tuple[str, BaseModel]:
                found = operation(given)
                return told(found, budget), found

            return made_tool(name, description, arguments, run)

        return [
            tool(
                "list_filings",
                "List the SEC filings that are indexed: id, company, form, fiscal period, number of pages. Use it to "
                "see which companies and periods there are before searching.",
                take.ListFilingsArguments,
                partial(operations.filings_listed, context),
                wording.listing_told,
            ),
            tool(
                "document_search",
                "Find the filings that can answer something, best first. Use it where it is not clear which filing to "
                "look into; then search the pages of those found.",
                take.DocumentSearchArguments,
                partial(operations.documents_found, context),
                wording.filings_told,
            ),
            tool(
                "page_search",
                "Find the pages that hold something (a statement, a figure, a policy, an event), best first, each with "
                "its best passage as printed. Narrow by company, form and fiscal_year: filings of other years look "
                "almost the same.",
                take.PageSearchArguments,
                partial(operations.pages_found, context),
                wording.pages_told,
            ),
            tool(
                "fact_search",
                "Find figures in tables by what their line is called (label, headings, column, part), for a company "
                "and period: any printed line, also of one segment, product or region, or each of them. It says which "
                "words no line has, and where several lines fit alike.",
                take.FactSearchArguments,
                partial(operations.facts_found, context),
                wording.facts_told,
            ),
            made_tool(
                "read_page",
                "Read whole pages of one filing as printed. Use it before citing a figure: what stands beside it says "
                "its unit, its period and what it is of.",
                take.ReadPageArguments,
                read_page,
            ),
            tool(
                "card_extraction",
                "Describe the passages on pages of one filing: what they do, their metrics, periods, units, warnings, "
                "and every figure read in them with its exact amount, scale and period. Use it to get figures without "
                "misreading a table.",
                take.CardExtractionArguments,
                partial(operations.cards_made, context),
                wording.cards_told,
            ),
            tool(
                "python_execution",
                "Run a Python program in a sandbox and get what its solution() returns. Use it for all arithmetic. "
                "With sources, it says of each number in the program which figure of the filings it is, and which "
                "have no source.",
                take.PythonExecutionArguments,
                partial(operations.program_run, context),
                wording.run_told,
            ),
            tool(
                "answer_question",
                "Answer a question over the filings at once: searches, reads, computes and gives the answer with its "
                "figures, pages and program, or refuses and says what is missing. Try it first for figures, ratios, "
                "growth and comparisons.",
                take.AnswerQuestionArguments,
                partial(operations.question_answered, context),
                wording.answer_told,
            ),
        ]

    @property
    def context(self) -> ToolContext:
        """What the tools work with, for what serves them further."""
        return self._context


def made_tool(
    name: str, description: str, arguments: type[Given], run: Callable[[Given], tuple[str, BaseModel]]
) -> BaseTool:
    """A tool of a function that gives the text for a model and the artifact for code.

    What it raises reaches the model as a message with what to do next, never as a traceback.
    """

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


def _do_not_fit(name: str, arguments: type[take.Arguments], error: object) -> str:
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
