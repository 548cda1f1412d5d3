"""The answer, in the shape that `ask --json` and `batch` write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from fin_agent.errors import QuestionError, how_to_install
from fin_agent.evidence.intent import OutputUnit
from fin_agent.evidence.slot_ledger import Entry
from fin_agent.evidence.trace import TraceStep

if TYPE_CHECKING:
    import pandas

    from fin_agent.workspace import Workspace

BoxSides = tuple[float, float, float, float]


class AnswerValue(BaseModel):
    """What is answered: `value` is expressed in `unit`; both are null for an answer in words."""

    model_config = ConfigDict(frozen=True)

    value: float | None = None
    unit: OutputUnit | None = None
    text: str


class Citation(BaseModel):
    """Where a figure or sentence stands; `page` is 0-based, `box` in points from the top left."""

    model_config = ConfigDict(frozen=True)

    doc_id: str
    page: int
    text: str
    box: BoxSides | None = None
    printed_page: str | None = Field(default=None, exclude=True)
    """The number that the page itself prints, as far as it prints one; it is shown and not written."""


class PagePlace(BaseModel):
    """A page of a filing; 0-based."""

    model_config = ConfigDict(frozen=True)

    doc_id: str
    page: int


class PassagePlace(BaseModel):
    """A passage of a page."""

    model_config = ConfigDict(frozen=True)

    doc_id: str
    page: int
    text: str


class Retrieved(BaseModel):
    """What was found, each list best first over all rounds."""

    model_config = ConfigDict(frozen=True)

    documents: tuple[str, ...] = ()
    pages: tuple[PagePlace, ...] = ()
    passages: tuple[PassagePlace, ...] = ()


class RoleUsage(BaseModel):
    """What the calls of one role by one model took; those that an earlier reply served cost nothing."""

    model_config = ConfigDict(frozen=True)

    role: str
    model: str
    calls: int
    cached_calls: int = 0
    """Answered from kept replies: not among `calls`, and their tokens not among those beside."""
    input_tokens: int
    cached_input_tokens: int = 0
    """Of the input, what the provider had in its own cache."""
    output_tokens: int
    dollars: float | None = None
    """None where the price is not known."""


class Usage(BaseModel):
    """What a run cost in model calls; all zero for the rules analyst."""

    model_config = ConfigDict(frozen=True)

    model_calls: int = 0
    cached_calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = 0.0
    """None where the price of a model is not known."""
    approximate: bool = False
    """Whether some tokens are our own count, because a server told none."""
    roles: tuple[RoleUsage, ...] = ()
    left_out: tuple[str, ...] = ()
    """Calls that were not made because a budget did not allow them."""


class Artifact(BaseModel):
    """What a tool hands to code beside what a model reads."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    def from_artifact(cls, artifact: object) -> Self:
        """The artifact of a tool's message as its type: a checkpoint gives back a dict.

        Raises QuestionError where it is the artifact of another tool.
        """
        try:
            return cls.model_validate(artifact)
        except ValidationError as failure:
            raise QuestionError(
                f"this is not an artifact of the type {cls.__name__}: {failure.errors()[0]['msg']}",
                remedy="Give `message.artifact` of the tool that makes it; fin_agent.tools.artifacts has the others",
            ) from None


class _SourceWorkspace:
    """The workspace that was asked, in the process that asked it.

    Copies of an answer do not carry it, and it plays no part when answers are compared.
    """

    def __init__(self, workspace: Workspace | None = None) -> None:
        self.workspace = workspace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SourceWorkspace)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[_SourceWorkspace], tuple[()]]:
        return _SourceWorkspace, ()


class Answer(Artifact):
    """An answer with everything that shows where it comes from, or a refusal that says what is missing."""

    id: str | None = None
    """That the question was given."""
    question: str
    """As it was asked."""
    answer: AnswerValue
    """In words, and of a figure its value and unit."""
    refused: bool = False
    """Whether nothing is answered; `missing` says why."""
    missing: tuple[str, ...] = ()
    """What was looked for and is not there."""
    ask_back: str | None = None
    """What a model asks the person, where the question can be meant in several ways and is therefore not answered."""
    citations: tuple[Citation, ...] = ()
    """Where every figure and sentence stands."""
    retrieved: Retrieved = Retrieved()
    """Filings, pages and passages found, each best first."""
    ledger: tuple[Entry, ...] = ()
    """The figures that the answer needs, each with the fact that fills it, why, and what disagrees."""
    program: str | None = None
    """The Python that computed the value."""
    assumptions: tuple[str, ...] = ()
    """How words of the question were taken: definitions, fiscal years."""
    rounds: int = 0
    """Of search."""
    seconds: float = 0.0
    """That answering took; the one part that differs from run to run."""
    usage: Usage = Usage()
    """Calls of models, tokens, dollars."""
    warnings: tuple[str, ...] = ()
    """What was asked of a model and done by rules instead, and where model and rules disagree."""
    trace: tuple[TraceStep, ...] = ()
    """What each step saw, kept and dropped, and why."""
    _source_workspace: _SourceWorkspace = PrivateAttr(default_factory=_SourceWorkspace)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the figures that the answer needs as a data frame (extra `pandas`).

        Returns:
            One row for each figure, with its source; pages and lines count from 1.

        Raises:
            QuestionError: pandas is not installed.
        """
        rows = [
            {
                "company": entry.slot.company_name,
                "figure": entry.slot.label,
                "period": entry.slot.period,
                "value": None if entry.figure is None else float(entry.figure.value),
                "unit": None if entry.figure is None else entry.figure.unit,
                "printed": None if entry.figure is None else float(entry.figure.printed),
                "label": None if entry.figure is None else entry.figure.label,
                "doc_id": None if entry.figure is None else entry.figure.doc_id,
                "page_number": None if entry.figure is None else entry.figure.page + 1,
                "line": None if entry.figure is None else entry.figure.line + 1,
                "why": entry.reason,
            }
            for entry in self.ledger
        ]
        return data_frame(rows)

    def to_excel(self, path: Path | str) -> None:
        """Write a workbook in which the program is formulas and each input names its source (extra `excel`).

        Args:
            path: The file to write.

        Raises:
            ExportError: XlsxWriter is not installed.
            WriteError: The file cannot be written.
        """
        from fin_agent.atomic_write import atomic_write
        from fin_agent.presentation.workbook import answer_workbook  # a room above, loaded by whoever asks

        atomic_write(Path(path), answer_workbook([self]))

    def _bind_workspace(self, workspace: Workspace) -> Self:
        """The same answer, whose pages a notebook can draw: those of the workspace that was asked."""
        self._source_workspace = _SourceWorkspace(workspace)
        return self

    def _repr_html_(self) -> str:
        """As a notebook shows it: the sentence, the figures, the program, the page with its figures framed.

        Pages are drawn where `Workspace.ask` or `fin_agent.ask` gave the answer, in the same process.
        """
        from fin_agent.presentation.report import answer_html

        return answer_html(self, self._source_workspace.workspace)


def data_frame(rows: Sequence[Mapping[str, object]]) -> pandas.DataFrame:
    """Rows as a data frame. Raises QuestionError where pandas is not installed."""
    if find_spec("pandas") is None:
        raise QuestionError("data frames need pandas, which is not installed", remedy=how_to_install("pandas"))
    import pandas

    return pandas.DataFrame(list(rows))


def refusal_text(missing: Sequence[str], ask_back: str = "") -> str:
    """One paragraph that says what is missing; or what is asked back."""
    if ask_back:
        return ask_back
    told = f"This cannot be answered from the indexed filings. Missing: {'; '.join(missing)}"
    return told if told.endswith(".") else f"{told}."


def gives_verdict(text: str) -> bool:
    """Whether an answer begins with yes or no."""
    return bool(_VERDICT.match(text))


_VERDICT = re.compile(r"\W*(?:yes|no)\b", re.I)
