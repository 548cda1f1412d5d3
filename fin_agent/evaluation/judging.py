"""Answers judged: by a chat model against a reference, and by RAGAS's precision, recall and relevancy (Es et al. 2024).

Without a chat model, words and numbers are compared as proxies of RAGAS's measures, which are labelled so.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from pydantic import BaseModel

from fin_agent.analyst.model.model_client import ModelClient, role_models
from fin_agent.analyst.model.replies import Correctness, PassagesReply, TextJudgeReply
from fin_agent.answering.answer import Answer, PassagePlace
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.evaluation.answer_scoring import sentences_in
from fin_agent.evaluation.benchmark import Row, row_of
from fin_agent.models.call import Role
from fin_agent.models.caller import Callers
from fin_agent.models.errors import ModelError
from fin_agent.models.metering import Meter, metered
from fin_agent.prompts import Quoted
from fin_agent.retrieval.search_terms import stems_of

ReplyT = TypeVar("ReplyT", bound=BaseModel)


class Judge:
    """A chat model that judges within a budget of its own."""

    def __init__(self, client: ModelClient, meter: Meter, notify: Callable[[str], None]) -> None:
        """Set the client, and the budget; failures go to `notify`."""
        self._client, self.meter, self._notify = client, meter, notify

    @classmethod
    def of(cls, model: str | None, role: Role, settings: Settings, notify: Callable[[str], None]) -> Judge | None:
        """Return the judge that uses this model for a role, with the limits of `settings`, or None without a model.

        Raises ModelSetupError and PromptError.
        """
        if model is None:
            return None
        named = role_models(settings)
        callers = Callers(named.model_copy(update={"roles": {**named.roles, role: model}}))
        client = ModelClient(callers, prompts=settings.prompts)
        client.require(role.value.replace("-", "_"))
        return cls(client, Meter(settings.models.batch_budget, of="benchmark's judge"), notify)

    def ask(self, named: str, prompt: str, output: type[ReplyT], **shown: Any) -> ReplyT | None:
        """Return the judge's reply about the item `named`, shown by placeholder; None if the call failed."""
        try:
            with metered(self.meter):
                return self._client.value(prompt, output, **shown)
        except ModelError as failure:
            self._notify(f"{named}: not judged: {failure.what}")
            return None

    def is_right(self, question: str, reference: str, answer: Answer) -> bool | None:
        """Return whether an answer says the same as `reference`, in any style; None if it was not judged."""
        if answer.refused:
            return False
        shown = {"question": question, "reference": reference, "answer": answer.answer.text.strip() or "(no answer)"}
        reply = self.ask(answer.id or question, "text_judge", TextJudgeReply, **shown)
        return None if reply is None else reply.verdict is Correctness.CORRECT


MEASURES = ("context_precision", "context_recall", "answer_relevancy")
_TYPES = ("question_type", "answer_type", "family")
"""Columns of rows.csv to group rows by: the first that exists."""


def read_run(folder: Path) -> list[tuple[Row, Answer]]:
    """Return the answers of a benchmark's folder, with rows that have no figures yet. Raises QuestionError."""
    try:
        with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        lines = (folder / "answers.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
        answers = list(map(Answer.model_validate_json, lines))
        types = ({"type": next((row[name] for name in _TYPES if name in row), "all")} for row in rows)
        read = zip(rows, answers, types, strict=True)
        return [(row_of(row["id"], each.question, row["gold"], each, of, {}), each) for row, each, of in read]
    except (OSError, ValueError, KeyError) as failure:
        raise QuestionError(
            f"it contains no benchmark run ({failure})",
            subject=str(folder),
            remedy="Name the --out of a completed benchmark that answers questions, such as `eval financebench`",
        ) from failure


Measure = Callable[[Row, Sequence[PassagePlace]], dict[str, float | None]]
"""Returns the measures of an answer and its first passages; None for those that cannot be measured."""


def by_words(row: Row, passages: Sequence[PassagePlace]) -> dict[str, float | None]:
    """Return proxies by stems and numbers, without a model.

    A passage is useful if it contains half of the reference's words. Recall is the share of them in all passages,
    relevancy the share of the question's words in the answer.
    """
    wanted, question = set(stems_of(row.gold)), set(stems_of(row.question))
    held = [wanted & set(stems_of(each.text)) for each in passages]
    said = set() if row.refused else set(stems_of(row.text))
    return {
        "context_precision": average_precision([2 * len(each) >= len(wanted) for each in held]) if wanted else None,
        "context_recall": len(set().union(*held)) / len(wanted) if wanted else None,
        "answer_relevancy": len(question & said) / len(question) if question else None,
    }


def by_model(judge: Judge, encode: Callable[[list[str]], Any] | None = None) -> Measure:
    """Return measures by a chat model, which gives RAGAS's three verdicts in one call.

    Questions made from the answer are compared with the one asked by their vectors, which `encode` returns; by default
    it is the packaged encoder, which needs the extra `dense`.
    """
    if encode is None:
        from fin_agent.retrieval.dense.encoder import load_encoder

        encode = load_encoder().encode_queries

    def measured(row: Row, passages: Sequence[PassagePlace]) -> dict[str, float | None]:
        statements = sentences_in(row.gold)
        reply = judge.ask(
            row.id,
            "passages_judge",
            PassagesReply,
            question=row.question,
            reference="\n".join(f"{number}. {said}" for number, said in enumerate(statements, start=1)),
            answer=row.text,
            passages=[Quoted(each.text, f"{each.doc_id} page {each.page + 1}") for each in passages],
        )
        if reply is None:
            return dict.fromkeys(MEASURES)
        relevancy = 0.0
        if reply.questions and not (reply.noncommittal or row.refused):
            asked, *others = encode([row.question, *reply.questions])
            relevancy = fmean(max(0.0, float(asked @ other)) for other in others)
        return {
            "context_precision": average_precision([at in reply.useful for at in range(1, len(passages) + 1)]),
            "context_recall": fmean(at in reply.supported for at in range(1, len(statements) + 1)),
            "answer_relevancy": relevancy,
        }

    return measured


def average_precision(useful: Sequence[bool]) -> float:
    """Return the mean precision at each useful passage (RAGAS's context precision at k); 0 if there is none."""
    places = [place for place, each in enumerate(useful, start=1) if each]
    return fmean(rank / place for rank, place in enumerate(places, start=1)) if places else 0.0
