"""The answer, as written by `ask --json` and `batch`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError

from fin_agent.errors import QuestionError, how_to_install
from fin_agent.evidence.evidence import TraceStep
from fin_agent.evidence.intent import OutputUnit
from fin_agent.evidence.slot_ledger import Entry

if TYPE_CHECKING:
    import pandas

    from fin_agent.workspace import Workspace


BoxSides = tuple[float, float, float, float]
ItemT = TypeVar("ItemT")


class AnswerValue(BaseModel, frozen=True):
    """The answer's value in `unit` and its text; value and unit are null for an answer in words."""

    value: float | None = None
    unit: OutputUnit | None = None
    text: str


class Citation(BaseModel, frozen=True):
    """The source of a figure or sentence; `page` is 0-based, `box` in points from the top left."""

    doc_id: str
    page: int
    text: str
    box: BoxSides | None = None


class PagePlace(BaseModel, frozen=True):
    """A page of a filing; 0-based."""

    doc_id: str
    page: int


class PassagePlace(BaseModel, frozen=True):
    """A passage of a page."""

    doc_id: str
    page: int
    text: str


class Retrieved(BaseModel, frozen=True):
    """The search results, each list best first over all rounds."""

    documents: tuple[str, ...] = ()
    pages: tuple[PagePlace, ...] = ()
    passages: tuple[PassagePlace, ...] = ()


class RoleUsage(BaseModel, frozen=True):
    """Usage of one role with one model; cached replies cost nothing."""

    role: str
    model: str
    calls: int
    cached_calls: int = 0
    """Calls served from cached replies; not included in `calls` or in the token counts."""
    input_tokens: int
    cached_input_tokens: int = 0
    """Input tokens that the provider served from its own cache."""
    output_tokens: int
    dollars: float | None = None
    """None if the price is unknown."""


class Usage(BaseModel, frozen=True):
    """Usage of models in a run; all zero for the rules analyst."""

    model_calls: int = 0
    cached_calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = 0.0
    """None if the price of a model is unknown."""
    approximate: bool = False
    """Whether some tokens are estimated because a server did not report them."""
    roles: tuple[RoleUsage, ...] = ()
    left_out: tuple[str, ...] = ()
    """Calls skipped because a budget did not allow them."""


class Artifact(BaseModel):
    """The typed result of a tool for code, next to the text for a model."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    def from_artifact(cls, artifact: object) -> Self:
        """Validate the artifact of a tool's message, which is a dict after a checkpoint.

        Raises:
            QuestionError: The artifact belongs to another tool.
        """
        try:
            return cls.model_validate(artifact)
        except ValidationError as failure:
            what = f"this is not an artifact of the type {cls.__name__}: {failure.errors()[0]['msg']}"
            remedy = "Give `message.artifact` of the tool that makes it; fin_agent.tools.artifacts has the others"
            raise QuestionError(what, remedy=remedy) from None


class _SourceWorkspace:
    """The workspace that produced an answer, in the same process.

    Copies of an answer drop it, and comparison of answers ignores it.
    """

    def __init__(self, workspace: Workspace | None = None) -> None:
        self.workspace = workspace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SourceWorkspace)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[_SourceWorkspace], tuple[()]]:
        return _SourceWorkspace, ()


class Answer(Artifact):
    """An answer with its sources, or a refusal that lists what is missing."""

    id: str | None = None
    """The id given to the question."""
    question: str
    """The question as asked."""
    answer: AnswerValue
    """The text and, for a figure, its value and unit."""
    refused: bool = False
    """Whether the question is not answered; `missing` lists the reasons."""
    missing: tuple[str, ...] = ()
    """What was searched for and not found."""
    ask_back: str | None = None
    """A model's question to the user, if the question has several readings and is therefore not answered."""
    citations: tuple[Citation, ...] = ()
    """The source of every figure and sentence."""
    retrieved: Retrieved = Retrieved()
    """Filings, pages and passages found, each best first."""
    ledger: tuple[Entry, ...] = ()
    """The required figures, each with the fact that provides it, the reason, and conflicting figures."""
    program: str | None = None
    """The Python program that computed the value."""
    assumptions: tuple[str, ...] = ()
    """How words of the question were interpreted: definitions, fiscal years."""
    rounds: int = 0
    """Number of search rounds."""
    seconds: float = 0.0
    """Time to answer; the only field that differs between equal runs."""
    usage: Usage = Usage()
    """Calls of models, tokens, dollars."""
    warnings: tuple[str, ...] = ()
    """Requests to a model that rules handled in its place, and disagreements between model and rules."""
    trace: tuple[TraceStep, ...] = ()
    """The input, decisions and reasons of each step."""
    _source_workspace: _SourceWorkspace = PrivateAttr(default_factory=_SourceWorkspace)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the required figures as a data frame (extra `pandas`).

        Returns:
            One row for each figure, with its source; pages and lines count from 1.

        Raises:
            QuestionError: pandas is not installed.
        """
        rows = []
        for entry in self.ledger:
            slot, figure = entry.slot, entry.figure
            source: dict[str, object] = dict.fromkeys(_FIGURE_COLUMNS)
            if figure is not None:
                printed = (float(figure.value), figure.unit, float(figure.printed), figure.label)
                values = (*printed, figure.doc_id, figure.page + 1, figure.line + 1)
                source = dict(zip(_FIGURE_COLUMNS, values, strict=True))
            whose = {"company": slot.company_name, "figure": slot.label, "period": slot.period}
            rows.append(whose | source | {"why": entry.reason})
        return data_frame(rows)

    def to_excel(self, path: Path | str) -> None:
        """Write a workbook in which the program is formulas and each input has its source (extra `excel`).

        Args:
            path: The file to write.

        Raises:
            FinAgentError: XlsxWriter is not installed.
            WriteError: The file cannot be written.
        """
        from fin_agent.atomic_write import atomic_write
        from fin_agent.presentation.exports import answer_workbook  # imported on use: it depends on this module

        atomic_write(Path(path), answer_workbook([self]))

    def _bind_workspace(self, workspace: Workspace) -> Self:
        """Attach the workspace, so that a notebook can draw the answer's pages; return the answer."""
        self._source_workspace = _SourceWorkspace(workspace)
        return self

    def _repr_html_(self) -> str:
        """Return the view in a notebook; pages are drawn only for answers of `ask` in the same process."""
        from fin_agent.presentation.exports import answer_html

        return answer_html(self, self._source_workspace.workspace)


_FIGURE_COLUMNS = ("value", "unit", "printed", "label", "doc_id", "page_number", "line")


def data_frame(rows: Sequence[Mapping[str, object]]) -> pandas.DataFrame:
    """Return rows as a data frame. Raises QuestionError if pandas is not installed."""
    if find_spec("pandas") is None:
        raise QuestionError("data frames need pandas, which is not installed", remedy=how_to_install("pandas"))
    import pandas

    return pandas.DataFrame(list(rows))


def refusal_text(missing: Sequence[str], ask_back: str = "") -> str:
    """Return a paragraph that lists what is missing, or the question to the user."""
    if ask_back:
        return ask_back
    told = f"This cannot be answered from the indexed filings. Missing: {'; '.join(missing)}"
    return told if told.endswith(".") else f"{told}."


def gives_verdict(text: str) -> bool:
    """Return whether an answer begins with yes or no."""
    return bool(_VERDICT.match(text))


_VERDICT = re.compile(r"\W*(?:yes|no)\b", re.I)


def combine_answers(answers: Sequence[Answer], question: str, question_id: str | None = None) -> Answer:
    """Combine answers in order; a refused ask is named in the text, and its reason is in `missing`.

    `value` and `unit` are set if there is only one figure; otherwise the text states each figure.
    """
    found = [one for one in answers if not one.refused]
    missing = _each_once(one.missing for one in answers if one.refused)
    if found:
        texts = [f"Not found: {one.question.strip(' ?')}." if one.refused else one.answer.text for one in answers]
        figures = [one.answer for one in found if one.answer.value is not None]
        (only,) = figures if len(figures) == 1 and len(found) == 1 else (AnswerValue(text=""),)
        value = AnswerValue(value=only.value, unit=only.unit, text=" ".join(dict.fromkeys(texts)))
    else:
        value = AnswerValue(text=refusal_text(missing))
    programs = [one for one in found if one.program]  # each below its question if there are several
    told = (f"{fill(one.question, 96, **_COMMENT)}\n{one.program}" for one in programs)
    retrieved = [one.retrieved for one in answers]
    return Answer(
        id=question_id,
        question=question,
        answer=value,
        refused=not found,
        missing=missing,
        citations=_each_once(one.citations for one in answers),
        retrieved=Retrieved(
            documents=_each_once(one.documents for one in retrieved),
            pages=_each_once(one.pages for one in retrieved),
            passages=_each_once(one.passages for one in retrieved),
        ),
        ledger=tuple({entry.slot: entry for one in answers for entry in one.ledger}.values()),
        program=programs[0].program if len(programs) == 1 else "\n\n".join(told) or None,
        assumptions=_each_once(one.assumptions for one in found),
        rounds=max(one.rounds for one in answers),
        warnings=_each_once(one.warnings for one in answers),
        trace=tuple(chain.from_iterable(one.trace for one in answers)),
    )


def _each_once(lists: Iterable[Iterable[ItemT]]) -> tuple[ItemT, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


_COMMENT: Any = {"initial_indent": "# ", "subsequent_indent": "# "}
