"""RAGAS's context precision, context recall and answer relevancy, for the answers of any other benchmark.

A chat model judges (Es et al. 2024). Without one, words and numbers are compared as proxies, which are labelled so.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fin_agent.analyst.model.model_client import prompt_to_call
from fin_agent.analyst.model.replies import PassagesReply
from fin_agent.answering.answer import Answer
from fin_agent.errors import QuestionError
from fin_agent.evaluation.answer_scoring import first_sentence
from fin_agent.evaluation.benchmark import QUESTIONS, Column, Report, Row, report_on
from fin_agent.evaluation.llm_as_judge import JudgeCalls
from fin_agent.models.caller import Caller
from fin_agent.prompts import Quoted, load_prompt
from fin_agent.retrieval.search_terms import stems_of

MEASURES = ("context_precision", "context_recall", "answer_relevancy")
_TYPES = ("question_type", "answer_type", "family")
"""Columns of rows.csv to group rows by: the first that exists."""
_MOST_OF_REPLY = 3_000


@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """A question of a benchmark with its gold answer, and the answer with what was retrieved."""

    id: str
    kind: str
    reference: str
    answer: Answer

    @property
    def statements(self) -> list[str]:
        """The reference, sentence by sentence."""
        found, left = [], self.reference.strip()
        while left:
            found.append(first_sentence(left))
            left = left[len(found[-1]) :].strip(' \n”"')
        return found

    def passages(self, k: int) -> list[Quoted]:
        """Return the first k passages found, with their places."""
        found = self.answer.retrieved.passages[:k]
        return [Quoted(each.text, f"{each.doc_id} page {each.page + 1}") for each in found]


def read_run(folder: Path) -> tuple[AnsweredRow, ...]:
    """Read rows.csv and answers.jsonl of a benchmark's folder. Raises QuestionError if they are not usable."""
    try:
        with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        lines = (folder / "answers.jsonl").read_text(encoding="utf-8").split("\n")
        answers = [Answer.model_validate_json(line) for line in lines if line]
        return tuple(
            AnsweredRow(row["id"], next((row[name] for name in _TYPES if name in row), "all"), row["gold"], answer)
            for row, answer in zip(rows, answers, strict=True)
        )
    except (OSError, ValueError, KeyError) as failure:
        raise QuestionError(
            f"it contains no benchmark run ({failure})",
            subject=str(folder),
            remedy="Name the --out of a completed benchmark that answers questions, such as `eval financebench`",
        ) from failure


Measure = Callable[[AnsweredRow, int], Mapping[str, float | None]]
"""Returns the measures of a row over its first k passages; None for those that cannot be measured."""


def by_words(row: AnsweredRow, k: int) -> Mapping[str, float | None]:
    """Return proxies by stems and numbers, without a model.

    A passage is useful if it contains half of the reference's words. Recall is the share of them in all passages,
    relevancy the share of the question's words in the answer.
    """
    wanted, question = set(stems_of(row.reference)), set(stems_of(row.answer.question))
    held = [wanted & set(stems_of(each.text)) for each in row.passages(k)]
    said = set() if row.answer.refused else set(stems_of(row.answer.answer.text))
    return {
        "context_precision": average_precision([2 * len(each) >= len(wanted) for each in held]) if wanted else None,
        "context_recall": len(set().union(*held)) / len(wanted) if wanted else None,
        "answer_relevancy": len(question & said) / len(question) if question else None,
    }


def by_model(caller: Caller, calls: JudgeCalls, similar: Similar, folder: Path | None = None) -> Measure:
    """Return measures by a chat model that judges. Raises PromptError.

    One call per row gives RAGAS's three verdicts. As in RAGAS, questions generated from the answer are compared by
    vectors.

    Args:
        caller: Calls the model.
        calls: Handles failures of the judge.
        similar: Returns how similar questions are to the one asked.
        folder: May contain the user's own prompt.
    """
    prompt = load_prompt("passages_judge", folder=folder)

    def measured(row: AnsweredRow, k: int) -> Mapping[str, float | None]:
        statements, passages = row.statements, row.passages(k)
        filled = prompt.filled(
            question=row.answer.question,
            reference="\n".join(f"{number}. {said}" for number, said in enumerate(statements, start=1)),
            answer=row.answer.answer.text,
            passages=passages,
        )
        call = prompt_to_call(filled, output=PassagesReply, max_output_tokens=_MOST_OF_REPLY)
        reply = calls.ask(row.id, lambda: caller.value(call)[0])
        if reply is None:
            return dict.fromkeys(MEASURES)
        useful = [number in reply.useful for number in range(1, len(passages) + 1)]
        supported = set(reply.supported) & set(range(1, len(statements) + 1))
        evades = reply.noncommittal or row.answer.refused or not reply.questions
        return {
            "context_precision": average_precision(useful),
            "context_recall": len(supported) / len(statements) if statements else None,
            "answer_relevancy": 0.0 if evades else similar(row.answer.question, reply.questions),
        }

    return measured


Similar = Callable[[str, Sequence[str]], float]
"""Returns the mean similarity of some questions to the one asked, 0 to 1."""


def average_precision(useful: Sequence[bool]) -> float:
    """Return the mean precision at each useful passage (RAGAS's context precision at k); 0 if there is none."""
    precisions = [sum(useful[:place]) / place for place, each in enumerate(useful, start=1) if each]
    return sum(precisions) / len(precisions) if precisions else 0.0


def likeness(encoder: str = "minilm") -> Similar:
    """Return a similarity by the cosine of vectors. Needs the extra `dense`."""
    from fin_agent.retrieval.dense.encoder import load_encoder

    return partial(_cosines, load_encoder(encoder).encode_queries)


def _cosines(encode: Callable[[list[str]], Any], asked: str, questions: Sequence[str]) -> float:
    first, *others = encode([asked, *questions])
    return sum(max(0.0, float(first @ other)) for other in others) / len(others)


def measured_row(row: AnsweredRow, measure: Measure, k: int) -> Row:
    """Return the row with its measures."""
    labels = {"type": row.kind}
    return Row(
        row.id,
        labels,
        row.answer.question,
        row.reference,
        row.answer.answer.text,
        refused=row.answer.refused,
        figures=measure(row, k),
    )


def report_on_measures(rows: Sequence[Row], k: int, judge: str | None) -> Report:
    """Return means over all rows and by type. Raises ValueError if there are no rows."""
    by = "proxies, by words and numbers" if judge is None else f"judged by {judge}"
    caption = (
        f"in percent, over the first {k} passages; precision: useful ones stand first; recall: how much of the"
        " reference they state; relevancy: the answer is one to the question"
    )
    headings = (name.replace("_", " ") + (" (proxy)" if judge is None else "") for name in MEASURES)
    columns = (QUESTIONS, *(Column(name, heading) for name, heading in zip(MEASURES, headings, strict=True)))
    return report_on(rows, f"RAGAS measures, {by}", caption, columns, ["type"])
