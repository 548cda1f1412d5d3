"""The workspace: an open index with its lexicon, and the companies and fiscal years of its filings."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from fin_agent.config import Settings, index_folder
from fin_agent.index.opening import open_index
from fin_agent.index.protocol import FilingEntry, FilingIndex
from fin_agent.lexicon.company_mentions import CompanyDirectory
from fin_agent.lexicon.fiscal_periods import FiscalYears
from fin_agent.lexicon.lexicon import Lexicon, load_lexicon

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from fin_agent.answering.answer import Answer
    from fin_agent.graphs.answer.context import AnswerContext
    from fin_agent.tools.arguments import Arguments
    from fin_agent.tools.artifacts import DocumentsFound, FactsListed, PagesFound
    from fin_agent.tools.context import ToolContext

ArgumentsT = TypeVar("ArgumentsT", bound="Arguments")


def ask(
    question: str,
    index: Path | str | Workspace | None = None,
    *,
    filings: str | Sequence[str] | None = None,
    settings: Settings | None = None,
    model: str | BaseChatModel | None = None,
) -> Answer:
    """Answer a question from the filings of an index. The index stays open for the next question.

    Args:
        question: The question in English.
        index: A folder, the address of a cluster, or an open workspace. By default that of FIN_AGENT_INDEX, else the
            user's.
        filings: The `doc_id` or `doc_ids` to search; None for all filings.
        settings: How to search and with which models; `Settings()` if None.
        model: A chat model for what rules do not understand: by name (`openai:gpt-5.4`), or an instance.

    Returns:
        The answer, or a refusal that says what is missing.

    Raises:
        QuestionError: The question is empty or too long.
        FilingIndexError: There is no index, or a filing in `filings` is not indexed.
        ModelSetupError: The chat model cannot be set up.

    >>> import fin_agent
    >>> fin_agent.ask("What was Harborlight's net income in FY2023?", index="my-index").answer.text
    'Net income of Harborlight Instruments, Inc. for FY2023: $544 million.'
    """
    workspace = (
        index if isinstance(index, Workspace) else _cached_workspace(str(index_folder() if index is None else index))
    )
    return workspace.ask(question, filings=filings, settings=settings, model=model)


class Workspace:
    """An open index to ask and search. What is derived from its list of filings is cached until that list changes.

    >>> from fin_agent import Workspace
    >>> workspace = Workspace.open("my-index")
    >>> workspace.ask("What was Harborlight's net income in FY2023?", filings="harborlight_2023_10k").answer.value
    544.0
    >>> [(page.filing.doc_id, page.page_number) for page in workspace.search("Harborlight's suppliers", k=1).pages]
    [('harborlight_2024_10k', 3)]
    >>> fact = workspace.facts("accrued liabilities", company="Harborlight", fiscal_year=2023).facts[0]
    >>> fact.label, int(fact.amount), fact.scale, fact.doc_id, fact.page_number
    ('Accrued liabilities', 420, 1000000, 'harborlight_2023_10k', 11)
    >>> sorted(company.name for company in workspace.directory.by_key.values())[0]
    'Harborlight Instruments, Inc.'
    """

    def __init__(self, index: FilingIndex, lexicon: Lexicon | None = None) -> None:
        _collect_old_objects_rarely()
        self.index = index
        self.lexicon = lexicon or load_lexicon()
        self._answering: tuple[object, AnswerContext] | None = None
        self._derived: tuple[tuple[FilingEntry, ...], CompanyDirectory, Mapping[str, FiscalYears]] | None = None

    @classmethod
    def open(cls, place: Path | str | Workspace) -> Workspace:
        """Open the index in a folder, or on an Elasticsearch cluster.

        Args:
            place: A folder, an address (`https://host:9200/prefix`), or an open workspace, which is returned as it is.

        Returns:
            The workspace, for any number of questions and searches.

        Raises:
            FilingIndexError: There is no index at `place`, or it cannot be read.
        """
        return place if isinstance(place, Workspace) else cls(open_index(place))

    def ask(
        self,
        question: str,
        *,
        filings: str | Sequence[str] | None = None,
        settings: Settings | None = None,
        model: str | BaseChatModel | None = None,
    ) -> Answer:
        """Answer a question, or refuse it and say what is missing.

        Args:
            question: The question in English.
            filings: The `doc_id` or `doc_ids` to search; None for all filings.
            settings: How to search and with which models; `Settings()` if None.
            model: A chat model for what rules do not understand: by name (`openai:gpt-5.4`), or an instance.

        Returns:
            The answer, with its figures, citations, program, ledger and trace.

        Raises:
            QuestionError: The question is empty or too long.
            FilingIndexError: A filing in `filings` is not indexed.
            ModelSetupError: The chat model cannot be set up.
        """
        from fin_agent.graphs.answer import answer_question  # rooms above, loaded by whoever asks

        chosen = [filings] if isinstance(filings, str) else filings
        context = self._context(settings or Settings(), model)
        return answer_question(question, context, doc_ids=chosen)._bind_workspace(self)

    def search(
        self,
        query: str,
        *,
        level: Literal["page", "document"] = "page",
        k: int = 5,
        filings: str | Sequence[str] | None = None,
        company: str | None = None,
        form: str | None = None,
        fiscal_year: int | None = None,
        quarter: int | None = None,
    ) -> PagesFound | DocumentsFound:
        """Return the pages, or the filings, that fit a query best.

        Args:
            query: A question or search terms.
            level: `page`, or `document` for filings.
            k: How many to return.
            filings: The `doc_id` or `doc_ids` to search; None for all filings.
            company: Only filings of this company, by name or ticker.
            form: Only filings of this form: `10-K`, `10-Q`, `8-K`.
            fiscal_year: Only filings of this fiscal year, as the company names it.
            quarter: Only filings of this quarter, 1 to 4.

        Returns:
            The best `k`, best first, each with its place.

        Raises:
            ToolInputError: A filter matches nothing; the message says what can be given instead.
        """
        from fin_agent.tools.arguments import DocumentSearchArguments, PageSearchArguments
        from fin_agent.tools.errors import ToolInputError
        from fin_agent.tools.tool_implementations import find_documents, find_pages

        given: dict[str, object] = {"query": query, "k": k, "company": company, "form": form, "quarter": quarter}
        given |= {"fiscal_year": fiscal_year}
        if level == "document":
            return find_documents(*self._tool_input(DocumentSearchArguments, filings, given))
        if level != "page":
            raise ToolInputError(f"there is no level {level!r}", remedy="Give page or document")
        return find_pages(*self._tool_input(PageSearchArguments, filings, given))

    def facts(
        self,
        phrase: str,
        *,
        company: str | None = None,
        fiscal_year: int | None = None,
        quarter: int | None = None,
        part: str | None = None,
        each: str | None = None,
        filings: str | Sequence[str] | None = None,
        k: int = 10,
    ) -> FactsListed:
        """Find figures of tables by the words of their line.

        Args:
            phrase: What the line is called: `accrued liabilities`.
            company: Only figures of this company, by name or ticker.
            fiscal_year: Only figures of this fiscal year, as the company names it.
            quarter: Only figures of this quarter, 1 to 4.
            part: Only figures of this segment, product or region.
            each: A kind of part (`segment`, `region`, `product`): every part of that kind.
            filings: The `doc_id` or `doc_ids` to search; None for all filings.
            k: How many figures to return.

        Returns:
            The best `k` figures, best first, and whether the first one is certain.

        Raises:
            ToolInputError: A filter matches nothing; the message says what can be given instead.
        """
        from fin_agent.tools.arguments import FactSearchArguments
        from fin_agent.tools.tool_implementations import find_figures

        given: dict[str, object] = {"phrase": phrase, "company": company, "fiscal_year": fiscal_year}
        given |= {"quarter": quarter, "part": part, "each": each, "k": k}
        return find_figures(*self._tool_input(FactSearchArguments, filings, given))

    def _tool_input(
        self, kind: type[ArgumentsT], filings: str | Sequence[str] | None, given: Mapping[str, object]
    ) -> tuple[ToolContext, ArgumentsT]:
        """Return the context of a tool over this index, and its arguments. Raises ToolInputError."""
        from fin_agent.tools.arguments import validate_arguments
        from fin_agent.tools.context import ToolContext

        doc_ids = [filings] if isinstance(filings, str) else filings
        arguments = validate_arguments(kind, {**given, "doc_ids": doc_ids})
        return ToolContext.of(self, Settings(), answers=False), arguments

    def _context(self, settings: Settings, model: str | BaseChatModel | None) -> AnswerContext:
        """Return the answer context, built anew if settings or model differ from the last call."""
        from fin_agent.graphs.answer.context import AnswerContext

        kept = self._answering  # one read: another thread may replace it meanwhile
        if kept is None or kept[0] != (settings, model):
            kept = self._answering = (settings, model), AnswerContext.with_model(self, settings, model)
        return kept[1]

    @property
    def directory(self) -> CompanyDirectory:
        """The companies of the index."""
        return self._current()[1]

    @property
    def years(self) -> Mapping[str, FiscalYears]:
        """The fiscal years of each company, as its filings name them, by company key."""
        return self._current()[2]

    def _current(self) -> tuple[tuple[FilingEntry, ...], CompanyDirectory, Mapping[str, FiscalYears]]:
        entries = self.index.entries()
        derived = self._derived  # one read: another thread may replace it meanwhile
        if derived is None or derived[0] is not entries:
            directory = CompanyDirectory((entry.doc_id, entry.identity) for entry in entries)
            identities = directory.identities
            years = {
                company.key: FiscalYears.of(company.name, (identities[doc_id] for doc_id in company.doc_ids))
                for company in directory.companies
            }
            derived = self._derived = entries, directory, years
        return derived


@lru_cache(maxsize=8)
def _cached_workspace(place: str) -> Workspace:
    return Workspace.open(place)


def _collect_old_objects_rarely() -> None:
    """Let Python look through its oldest objects less often, unless the program has set how often.

    What is kept of an index are hundreds of thousands of objects without cycles; looking through them takes tenths of a
    second, several times in a hundred questions.
    """
    young, middle, old = gc.get_threshold()
    if old == _OLD_BY_DEFAULT:
        gc.set_threshold(young, middle, _OLD)


_OLD_BY_DEFAULT, _OLD = 10, 1000
"""Collections of the middle generation before one of the oldest."""
