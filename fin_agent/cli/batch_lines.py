"""The questions of a batch: a file of JSON Lines, each a question or told what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError

from fin_agent.errors import QuestionError

_SHOWN = 60
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class AskedQuestion(BaseModel):
    """A line of the input; other fields are left alone."""

    model_config = ConfigDict(frozen=True)

    question: Annotated[StrictStr, Field(pattern=r"\S")]
    id: Annotated[StrictStr | None, BeforeValidator(lambda given: str(given) if type(given) is int else given)] = None
    doc_ids: tuple[StrictStr, ...] | None = None

    @property
    def short(self) -> str:
        """What it is called where many are: its id, else how it begins."""
        text = " ".join(self.question.split())
        return self.id or (text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file that is not blank; `number` counts all lines from 1."""

    number: int
    asked: AskedQuestion | None
    fault: str = ""
    """Why it is no question, where it is none."""


def lines_of(questions: Path) -> list[Line]:
    """All lines that are not blank. Raises QuestionError where there is none."""
    content = questions.read_bytes().removeprefix(_BYTE_ORDER_MARK)
    stripped = ((number, line.strip()) for number, line in enumerate(content.split(b"\n"), start=1))
    found = [_read(number, line) for number, line in stripped if line]
    if not found:
        raise QuestionError(
            "no questions", subject=str(questions), remedy='Give one JSON object a line: {"question": "..."}'
        )
    return found


def _read(number: int, line: bytes) -> Line:
    try:
        return Line(number, AskedQuestion.model_validate_json(line))
    except ValidationError as failure:
        return Line(number, None, _fault(failure))


def _fault(failure: ValidationError) -> str:
    first = failure.errors()[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "json_invalid":
        return f"not JSON ({first['msg'].removeprefix('Invalid JSON: ')})"
    if not where:
        return "not a JSON object with a `question`"
    if first["type"] == "missing":
        return f"no `{where}`"
    if first["type"] == "string_pattern_mismatch":
        return f"`{where}` is empty"
    return f"`{where}`: {first['msg'][:1].lower()}{first['msg'][1:]}"
