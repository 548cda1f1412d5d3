"""Reading files of questions in a benchmark's own format: a JSON list or JSON Lines, plain or gzip."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from fin_agent.errors import QuestionError

RecordT = TypeVar("RecordT", bound=BaseModel)


def read_records(
    path: Path, form: type[RecordT], *, within: str = "", needed: str = ""
) -> tuple[tuple[tuple[str, RecordT], ...], tuple[str, ...]]:
    """Return the records of a file with their places (`FILE, line 3`), and place and reason of each that was left out.

    `within` is the key of the list if the file is one object around it. With `needed`, a text that says what every
    record needs, a record of another form is an error.

    Raises QuestionError if the file cannot be read or has no record of this form.
    """
    records: list[tuple[str, RecordT]] = []
    faults: list[str] = []
    for place, found in _entries(path, within):
        if isinstance(found, json.JSONDecodeError):
            faults.append(f"{place}: not JSON ({found.msg}, column {found.colno})")
            continue
        try:
            records.append((place, form.model_validate(found)))
        except ValidationError as failure:
            faults.append(f"{place}: {what_is_wrong(failure)}")
    if faults and needed:
        where, _, what = faults[0].removeprefix(f"{path.name}, ").partition(": ")
        raise QuestionError(what, subject=f"{path}, {where}", remedy=f"Correct that {where.split()[0]}. {needed}")
    if not records:
        raise QuestionError(
            "no questions in this format", subject=str(path), remedy=faults[0] if faults else "Give another file"
        )
    return tuple(records), tuple(faults)


def what_is_wrong(failure: ValidationError) -> str:
    """Return what is wrong with each field of a record."""
    said = []
    for error in failure.errors():
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"])
        field = f"field `{path.removeprefix('.')}`" if path else "the line"
        said.append(f"{field} is missing" if error["type"] == "missing" else f"{field} cannot be used ({error['msg']})")
    return "; ".join(said)


def _entries(path: Path, within: str) -> Iterator[tuple[str, object]]:
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    except (OSError, EOFError, UnicodeDecodeError) as failure:
        reason = (isinstance(failure, OSError) and failure.strerror) or str(failure)
        raise QuestionError(
            f"cannot be read ({reason})", subject=str(path), remedy="Give a JSON file, plain or gzip"
        ) from failure
    if within or text.lstrip().startswith("["):
        try:
            entries = json.loads(text)
            entries = entries.get(within, ()) if isinstance(entries, dict) else entries
            for number, entry in enumerate(entries, start=1):
                yield f"{path.name}, entry {number}", entry
        except json.JSONDecodeError as failure:
            yield f"{path.name}, line {failure.lineno}", failure
        return
    for number, line in enumerate(text.split("\n"), start=1):  # not splitlines(): JSON may contain U+2028
        if line.strip():
            try:
                yield f"{path.name}, line {number}", json.loads(line)
            except json.JSONDecodeError as failure:
                yield f"{path.name}, line {number}", failure
