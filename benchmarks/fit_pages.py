"""The page scorer's weights fitted to questions with gold pages, and what they are worth on companies left out.

python -m benchmarks.fit_pages INDEX --questions FILE [--questions FILE] [--lookups 120] [--encoder MODEL]
    [--likeness FILE.npz] [--out FILE.yaml]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import first_query
from fin_agent.errors import QuestionError
from fin_agent.evaluation.answer_scoring import page_recall
from fin_agent.evaluation.financebench import FinanceBenchQuestion, load_questions
from fin_agent.evaluation.statistics import paired_test
from fin_agent.index.protocol import PageKey
from fin_agent.presentation.terminal_text import listing, right
from fin_agent.retrieval.dense.encoder import load_encoder
from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.retrieval.page_ranking import (
    MEANINGS,
    Candidate,
    PageWeights,
    candidates_of,
    greedy_select,
    packaged_weights,
    slot_gain,
)
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.strategies.one_pass import dense_vector, page_similarity, vector_ranker
from fin_agent.training.cross_validation import AFTER, BEFORE, HELD_OUT
from fin_agent.training.supervision import QUESTION_TYPE as LOOKUP
from fin_agent.training.supervision import lookup_questions
from fin_agent.workspace import Workspace


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--questions", type=Path, action="append", required=True, help="in FinanceBench's form")
    parser.add_argument("--lookups", type=int, default=0, help="also so many rows of the filings' own statements")
    parser.add_argument("--encoder", help="fit with this model's vectors, which the index has to hold")
    parser.add_argument("--likeness", type=Path, help="also with the cosines of `train pages`: what do they add?")
    parser.add_argument("--out", type=Path, help="gets the weights fitted")
    given = parser.parse_args()
    sets = {path: load_questions(path) for path in given.questions}
    asked = [question for each in sets.values() for question in each]
    workspace = Workspace.open(given.index)
    of_filings = lookup_questions(workspace, given.lookups)
    query_of = partial(first_query, analyst=RulesAnalyst(workspace))
    every = [*asked, *of_filings]
    of_encoder = _likeness(workspace, given.encoder) if given.encoder else None
    examples = examples_of(every, workspace, query_of, likeness=of_encoder)
    print(f"{len(examples)} of {len(every)} questions are about filings of the index")
    weights, left_out = fit(examples), leave_one_group_out(examples)
    with_cosines = {
        name: leave_one_group_out(examples_of(every, workspace, query_of, likeness=cosines))
        for name, cosines in (read_likeness(given.likeness) if given.likeness else {}).items()
    }
    packaged = packaged_weights()
    names = _names(sets) | {question.id: ("lookups",) for question in of_filings}
    by_name: dict[str, list[tuple[float, float, float, float]]] = {}
    for each in left_out:
        figures = (each.example.gold_share, each.example.recall(packaged), each.example.recall(weights), each.recall)
        for name in names[each.example.question.id]:
            by_name.setdefault(name, []).append(figures)
    rows: list[dict[str, Any]] = []
    for name, of in by_name.items():
        means = (sum(column) / len(of) for column in zip(*of, strict=True))
        rows.append({"questions": name, "n": len(of), **dict(zip(_SHARES, means, strict=True))})
    Console().print(_recalls(rows), _weights(weights, packaged), sep="\n")
    if with_cosines:
        Console().print(_tested(left_out, with_cosines))
    if given.out is not None:
        lines = (f"# {MEANINGS[name]}\n{name}: {weight:.2f}\n" for name, weight in weights.items())
        given.out.write_text("".join(lines), encoding="utf-8")


_SHARES = ("searched", "packaged", "fitted", "left_out")
"""Of a row: the share of the gold pages that are in the filings found at all; then page recall over the first five
pages with packaged weights, fitted on all questions, and fitted without the company asked about."""


def _tested(without: Sequence[LeftOut], with_cosines: Mapping[str, Sequence[LeftOut]]) -> Table:
    """Page recall with cosines of each kind against without, of questions of files and of lookups."""
    table = listing("Questions", "Cosines", *map(right, ("n", "Without", "With", "Differing", "p")))
    table.caption = "page recall of the first five pages; weights and encoder fitted without the company asked about"
    for name, of in with_cosines.items():
        for kind, are_lookups in (("questions of files", False), (f"{LOOKUP}s", True)):
            pairs = [
                (one.recall, other.recall)
                for one, other in zip(of, without, strict=True)
                if (one.example.question.question_type == LOOKUP) is are_lookups
            ]
            if pairs:
                ours, theirs = map(list, zip(*pairs, strict=True))
                test = paired_test(ours, theirs)
                shares = (f"{100 * fmean(theirs):.1f}", f"{100 * fmean(ours):.1f}")
                table.add_row(kind, name, str(len(pairs)), *shares, str(test.differing), f"{test.p_value:.3f}")
    return table


def _likeness(workspace: Workspace, encoder: str) -> Likeness:
    model = load_encoder(encoder)
    ranker = vector_ranker(workspace.index, model.name, partial(dense_vector, model))
    return lambda question, query, doc_ids: page_similarity(ranker, query, doc_ids)


def _names(sets: dict[Path, tuple[FinanceBenchQuestion, ...]]) -> dict[str, tuple[str, ...]]:
    """The rows that a question counts in, by its id: its file's and its kind's."""
    return {
        question.id: (path.stem, f"{path.stem}: {question.question_type}")
        for path, of_file in sets.items()
        for question in of_file
    }


def _recalls(rows: Sequence[dict[str, Any]]) -> Table:
    table = listing("Questions", *map(right, ("n", "Searched", "Packaged", "Fitted", "Left out")))
    table.caption = (
        "page recall of the first five pages; searched: share of gold pages in the filings found; "
        "left out: fitted without the company asked about"
    )
    for row in sorted(rows, key=lambda row: str(row["questions"])):
        table.add_row(row["questions"], str(row["n"]), *(f"{100 * row[name]:.1f}" for name in _SHARES))
    return table


def _weights(weights: PageWeights, packaged: PageWeights) -> Table:
    table = listing("Feature", right("Packaged"), right("Fitted"))
    for name, weight in weights.items():
        table.add_row(name, f"{packaged[name]:.2f}", f"{weight:.2f}")
    return table


# --- What is learned from

FEATURES = tuple(MEANINGS)
"""Columns of `PageExample.values`."""
_DOCUMENTS = 5
Likeness: TypeAlias = Callable[[str, Query, Sequence[str]], Mapping[PageKey, float]]
"""How like a question, and the query made of it, the pages of these filings are."""


@dataclass(frozen=True, slots=True)
class PageExample:
    """A question over the pages of the filings that the document stage gives it."""

    question: FinanceBenchQuestion
    group: str
    """The company asked about, by its key in the index: what is left out together."""
    pages: tuple[Candidate, ...]
    values: NDArray[np.float64]
    """(pages, features); `slots` is what a page adds when it is taken first."""
    right: NDArray[np.bool_]
    """(pages,): gold pages, and those that hold the same evidence."""

    @property
    def gold_share(self) -> float:
        """Share of the gold pages that are among the pages at all: what no weights can better."""
        return self._recall([page.key for page in self.pages], len(self.pages))

    def recall(self, weights: PageWeights, k: int = 5) -> float:
        """Page recall at `k` with these weights."""
        return self._recall([page.key for page in greedy_select(self.pages, weights, k)], k)

    def _recall(self, found: Sequence[PageKey], k: int) -> float:
        ranked = [(key.doc_id, key.page) for key in found]
        return page_recall(ranked, self.question.pages, k, also=self.question.also)


def examples_of(
    questions: Iterable[FinanceBenchQuestion],
    workspace: Workspace,
    query_of: Callable[[str], Query],
    on_example: Callable[[], None] = lambda: None,
    likeness: Likeness | None = None,
) -> list[PageExample]:
    """An example for each question whose filing is in the index; `on_example` is called as each is made.

    With `likeness`, cosines take part.
    """
    examples: list[PageExample] = []
    owners = workspace.directory.owners
    for question in questions:
        if question.doc_id in owners:
            query = query_of(question.question)
            filings = rank_filings(query, workspace, limit=_DOCUMENTS)
            found = [filing.doc_id for filing in filings]
            like = likeness(question.question, query, found) if likeness is not None else None
            pages = tuple(candidates_of(query, filings, workspace, likeness=like))
            examples.append(_example(question, owners[question.doc_id], pages))
        on_example()
    return examples


def _example(question: FinanceBenchQuestion, group: str, pages: tuple[Candidate, ...]) -> PageExample:
    values = [
        [*(page.features[name] for name in FEATURES if name != "slots"), slot_gain(page.slots, {})] for page in pages
    ]
    right = {*question.pages, *question.also}
    return PageExample(
        question=question,
        group=group,
        pages=pages,
        values=np.array(values, dtype=float).reshape(len(pages), len(FEATURES)),
        right=np.array([(page.key.doc_id, page.key.page) in right for page in pages], dtype=bool),
    )


# --- The fit

PENALTY = 0.001
"""Of the squared weights: set once, the figures hardly change between 0.0005 and 0.003."""
_SLOTS_FACTOR = 5.0
"""A page taken later adds less than one taken first, which is all that the fit sees of `slots`."""
_LEAST = 1e-12
_LOOKUP = 0.25
"""What a question that filings give by themselves counts beside one that a person wrote."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Recall of a question whose company had no part in fitting."""

    example: PageExample
    weights: PageWeights
    recall: float


def fit(examples: Sequence[PageExample], penalty: float = PENALTY) -> PageWeights:
    """Weights, none negative, that make the right pages most likely among all pages of their filings.

    Listwise softmax cross-entropy (ListNet's top one; Cao et al. 2007), the right pages of a question counting
    together, with an L2 penalty; the minimum is found by L-BFGS-B from all ones, without chance. Raises QuestionError
    where no example has a right page among its pages.
    """
    usable = [example for example in examples if example.right.any()]
    if not usable:
        raise QuestionError(
            "there is nothing to learn from: no gold page is among the pages searched",
            subject=f"{len(examples)} questions",
            remedy="Ingest the filings that the questions are about",
        )
    found = minimize(
        _loss,
        np.ones(len(FEATURES)),
        args=(usable, penalty),
        jac=True,
        bounds=[(0.0, None)] * len(FEATURES),
        method="L-BFGS-B",
    )
    weights = {name: round(float(weight), 2) for name, weight in zip(FEATURES, found.x, strict=True)}
    return weights | {"slots": round(weights["slots"] * _SLOTS_FACTOR, 2)}


def leave_one_group_out(examples: Sequence[PageExample], penalty: float = PENALTY) -> list[LeftOut]:
    """Each question's recall with weights fitted without any question about its company, in the order given."""
    groups = sorted({example.group for example in examples})
    if len(groups) < 2:
        raise QuestionError(
            "all questions are about one company",
            subject=", ".join(groups) or "no questions",
            remedy="Give questions about two companies at least",
        )
    fitted = {group: fit([each for each in examples if each.group != group], penalty) for group in groups}
    return [LeftOut(each, fitted[each.group], each.recall(fitted[each.group])) for each in examples]


def _loss(
    weights: NDArray[np.float64], examples: Sequence[PageExample], penalty: float
) -> tuple[float, NDArray[np.float64]]:
    """Mean negative log-likelihood of the right pages, with its gradient."""
    loss = 0.0
    counts = [_LOOKUP if each.question.question_type == LOOKUP else 1.0 for each in examples]
    gradient = np.zeros_like(weights)
    for example, counted in zip(examples, counts, strict=True):
        scores = example.values @ weights
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        of_right = shares * example.right
        likelihood = max(float(of_right.sum()), _LEAST)
        loss -= counted * float(np.log(likelihood))
        gradient += counted * (example.values.T @ (shares - of_right / likelihood))
    count = sum(counts)
    return loss / count + penalty * float(weights @ weights), gradient / count + 2 * penalty * weights


# --- Cosines by models that were trained without the company


def read_likeness(path: Path) -> dict[str, Likeness]:
    """Cosines by the model `before` training and `after` by those of the folds, of pages of the company asked about.

    Raises QuestionError where the file is none.
    """
    found: dict[str, dict[str, _PagesAndCosines]] = {BEFORE: {}, AFTER: {}}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            for number, each in enumerate(json.loads(str(arrays["about"]))):
                for name, row in zip(found, arrays[str(number)], strict=True):
                    found[name][each["question"]] = (each["filings"], row)
    except (OSError, ValueError, KeyError) as failure:
        raise QuestionError(
            f"this holds no cosines of pages ({failure})",
            subject=str(path),
            remedy=f"Give the `{HELD_OUT}` that `fin-agent train pages --likeness` wrote",
        ) from failure
    return {name: partial(_looked_up, by_question) for name, by_question in found.items()}


_PagesAndCosines: TypeAlias = tuple[list[tuple[str, int]], NDArray[np.float16]]
"""Filings with their numbers of pages, and a cosine for each page of them all."""


def _looked_up(
    by_question: Mapping[str, _PagesAndCosines], question: str, query: Query, doc_ids: Sequence[str]
) -> Mapping[PageKey, float]:
    if question not in by_question:
        return {}
    filings, row = by_question[question]
    keys = (PageKey(doc_id, page) for doc_id, count in filings for page in range(count))
    return {key: float(cosine) for key, cosine in zip(keys, row, strict=True) if key.doc_id in doc_ids}


if __name__ == "__main__":
    main()
