"""The tools that an agent is given to read filings with, over one index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_core.tools import BaseTool, BaseToolkit
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from fin_agent.config import Settings, index_folder
from fin_agent.models.callers import Callers
from fin_agent.tools import arguments as take
from fin_agent.tools import wording
from fin_agent.tools.answering import question_answered
from fin_agent.tools.computing import program_run
from fin_agent.tools.context import FEWEST_TOKENS, USUAL_TOKENS, ToolContext
from fin_agent.tools.making import made_tool
from fin_agent.tools.reading import cards_made, filings_listed, pages_read
from fin_agent.tools.searching import documents_found, pages_found
from fin_agent.tools.telling import Budget
from fin_agent.workspace import Workspace

_Result = tuple[str, BaseModel]


class FinAgentToolkit(BaseToolkit):
    """Seven tools over an index of filings, for any agent that takes LangChain tools.

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
        if self.index is not None and self.workspace is not None:
            raise ValueError("give `index` or `workspace`, not both")
        workspace = self.workspace or Workspace.open(index_folder(self.index))
        self._context = ToolContext.of(
            workspace,
            self.settings,
            doc_ids=self.doc_ids,
            max_tokens=self.max_tokens,
            counted_as=self.counted_as,
            callers=self.callers,
        )

    def get_tools(self) -> list[BaseTool]:
        """The tools, those that find before those that read and compute."""
        return [
            made_tool("list_filings", _LIST_FILINGS, take.ListFilingsArguments, self._list_filings),
            made_tool("document_search", _DOCUMENT_SEARCH, take.DocumentSearchArguments, self._document_search),
            made_tool("page_search", _PAGE_SEARCH, take.PageSearchArguments, self._page_search),
            made_tool("read_page", _READ_PAGE, take.ReadPageArguments, self._read_page),
            made_tool("card_extraction", _CARD_EXTRACTION, take.CardExtractionArguments, self._card_extraction),
            made_tool("python_execution", _PYTHON_EXECUTION, take.PythonExecutionArguments, self._python_execution),
            made_tool("answer_question", _ANSWER_QUESTION, take.AnswerQuestionArguments, self._answer_question),
        ]

    @property
    def context(self) -> ToolContext:
        """What the tools work with, for what serves them further."""
        return self._context

    @property
    def _budget(self) -> Budget:
        return Budget(self._context.max_tokens, self._context.counter)

    def _list_filings(self, given: take.ListFilingsArguments) -> _Result:
        listed = filings_listed(self._context, given, given.limit)
        return wording.listing_told(listed, self._budget), listed

    def _document_search(self, given: take.DocumentSearchArguments) -> _Result:
        found = documents_found(self._context.searching, given.query, given, given.limit)
        return wording.filings_told(found, self._budget), found

    def _page_search(self, given: take.PageSearchArguments) -> _Result:
        found = pages_found(self._context.searching, given.query, given, given.limit, given.pages)
        return wording.pages_told(found, self._budget), found

    def _read_page(self, given: take.ReadPageArguments) -> _Result:
        read = pages_read(self._context, given.doc_id, given.pages)
        return wording.pages_read_told(read, self._budget, given.from_line), read

    def _card_extraction(self, given: take.CardExtractionArguments) -> _Result:
        made = cards_made(self._context, given.doc_id, given.pages)
        return wording.cards_told(made, self._budget), made

    def _python_execution(self, given: take.PythonExecutionArguments) -> _Result:
        run = program_run(self._context, given.code, given.sources, given.question)
        return wording.run_told(run, self._budget), run

    def _answer_question(self, given: take.AnswerQuestionArguments) -> _Result:
        answer = question_answered(self._context, given.question, given)
        return wording.answer_told(answer, self._budget), answer


_LIST_FILINGS = (
    "List the SEC filings that are indexed: id, company, form, fiscal period, number of pages. Use it to see which "
    "companies and periods there are before searching."
)
_DOCUMENT_SEARCH = (
    "Find the filings that can answer something, best first. Use it where it is not clear which filing to look into; "
    "then search the pages of those found."
)
_PAGE_SEARCH = (
    "Find the pages that hold something (a statement, a figure, a policy, an event), best first, each with its best "
    "passage as printed. Narrow by company, form and fiscal_year: filings of other years look almost the same."
)
_READ_PAGE = (
    "Read whole pages of one filing as printed. Use it before citing a figure: what stands beside it says its unit, "
    "its period and what it is of."
)
_CARD_EXTRACTION = (
    "Describe the passages on pages of one filing: what they do, their metrics, periods, units, warnings, and every "
    "figure read in them with its exact amount, scale and period. Use it to get figures without misreading a table."
)
_PYTHON_EXECUTION = (
    "Run a Python program in a sandbox and get what its solution() returns. Use it for all arithmetic. With sources, "
    "it says of each number in the program which figure of the filings it is, and which have no source."
)
_ANSWER_QUESTION = (
    "Answer a question over the filings at once: searches, reads, computes and gives the answer with its figures, "
    "pages and program, or refuses and says what is missing. Try it first for figures, ratios, growth and comparisons."
)
