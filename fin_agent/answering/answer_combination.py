"""Combine the answers to the separate asks of one question."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from textwrap import fill
from typing import Any

from fin_agent.answering.answer import Answer, AnswerValue, Retrieved, refusal_text


def combine_answers(answers: Sequence[Answer], question: str, question_id: str | None = None) -> Answer:
    """Combine answers in order; a refused ask is named in the text, and its reason is in `missing`.

    `value` and `unit` are set if there is only one figure; otherwise the text states each figure.
    """
    found = [one for one in answers if not one.refused]
    missing = tuple(dict.fromkeys(chain.from_iterable(one.missing for one in answers if one.refused)))
    if found:
        texts = [f"Not found: {one.question.strip(' ?')}." if one.refused else one.answer.text for one in answers]
        figures = [one.answer for one in found if one.answer.value is not None]
        (only,) = figures if len(figures) == 1 and len(found) == 1 else (AnswerValue(text=""),)
        value = AnswerValue(value=only.value, unit=only.unit, text=" ".join(dict.fromkeys(texts)))
    else:
        value = AnswerValue(text=refusal_text(missing))
    retrieved = [one.retrieved for one in answers]
    return Answer(
        id=question_id,
        question=question,
        answer=value,
        refused=not found,
        missing=missing,
        citations=tuple(dict.fromkeys(chain.from_iterable(one.citations for one in answers))),
        retrieved=Retrieved(
            documents=tuple(dict.fromkeys(chain.from_iterable(one.documents for one in retrieved))),
            pages=tuple({(p.doc_id, p.page): p for one in retrieved for p in one.pages}.values()),
            passages=tuple(dict.fromkeys(chain.from_iterable(one.passages for one in retrieved))),
        ),
        ledger=tuple({entry.slot: entry for one in answers for entry in one.ledger}.values()),
        program=_programs([one for one in found if one.program]),
        assumptions=tuple(dict.fromkeys(chain.from_iterable(one.assumptions for one in found))),
        rounds=max(one.rounds for one in answers),
        warnings=tuple(dict.fromkeys(chain.from_iterable(one.warnings for one in answers))),
        trace=tuple(chain.from_iterable(one.trace for one in answers)),
    )


def _programs(answers: Sequence[Answer]) -> str | None:
    """Return the program of a single answer, or all programs, each below its question."""
    if len(answers) < 2:
        return next((one.program for one in answers), None)
    return "\n\n".join(f"{fill(one.question, 96, **_COMMENT)}\n{one.program}" for one in answers)


_COMMENT: Any = {"initial_indent": "# ", "subsequent_indent": "# "}
