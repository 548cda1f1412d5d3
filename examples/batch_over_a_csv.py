"""A CSV of questions becomes a CSV of answers, several questions at a time, each with the pages it stands on.

Run `make demo` first, then `.venv/bin/python examples/batch_over_a_csv.py [QUESTIONS.csv [ANSWERS.csv]]`.
FIN_AGENT_INDEX names another index. Columns of your own stay as they are. For JSON Lines, budgets and batches that go
on where they stopped there is `fin-agent batch`.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fin_agent import Answer, AnswerContext, FinAgentError, Workspace, answer_question

INDEX = Path(os.environ.get("FIN_AGENT_INDEX", ".fin-agent/demo-index"))
QUESTIONS = Path(__file__).with_name("questions.csv")
AT_ONCE = 4
ADDED = ["answer", "value", "unit", "pages", "missing"]


def answer_columns(answer: Answer) -> dict[str, str]:
    """What is added to a row. Pages count from 1, as people count them."""
    cited = dict.fromkeys(f"{each.doc_id} p. {each.page + 1}" for each in answer.citations)
    return {
        "answer": "" if answer.refused else answer.answer.text,
        "value": "" if answer.answer.value is None else str(answer.answer.value),
        "unit": answer.answer.unit or "",
        "pages": "; ".join(cited),
        "missing": "; ".join(answer.missing),
    }


def answered(rows: Iterable[dict[str, str]], context: AnswerContext) -> Iterator[dict[str, str]]:
    """Each row with its answer, in the order of the questions."""

    def one(row: dict[str, str]) -> dict[str, str]:
        doc_ids = row.get("filings", "").split() or None
        try:
            return row | answer_columns(answer_question(row["question"], context, doc_ids=doc_ids))
        except FinAgentError as error:  # of this question alone: a filing that is not there, say
            return row | {"missing": str(error)}

    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield from threads.map(one, rows)


if __name__ == "__main__":
    given = [Path(each) for each in sys.argv[1:]]
    source, target = (given + [QUESTIONS, Path("answers.csv")][len(given) :])[:2]
    # The index, the lexicon and the context are made once and shared by all threads.
    context = AnswerContext.by_rules(Workspace.open(INDEX))
    with source.open(newline="", encoding="utf-8-sig") as asked, target.open("w", newline="", encoding="utf-8") as told:
        reader = csv.DictReader(asked)
        writer = csv.DictWriter(told, [*(reader.fieldnames or []), *ADDED])
        writer.writeheader()
        for row in answered(reader, context):
            writer.writerow(row)
            print(f"{row['question']}\n  {row['answer'] or 'not answered: ' + row['missing']}  [{row['pages']}]")
    print(f"written: {target}")
