"""Fit what ranks figures against a question's words, and what tells whether the best one is meant.

    python benchmarks/nearest_figure.py INDEX [--write]

`nearest_questions.jsonl` holds questions that were written for figures drawn at random from filings, with the place of
the figure, and questions for sentences, which no figure of a table answers. INDEX holds these filings. Companies are
left out in turn, and the table is of those left out; `--write` fits once more to all and writes the package's weights.
Takes the extra `fingear` (numpy, scikit-learn).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from fin_agent.index.protocol import SourcedFact
from fin_agent.query.nearest_figure import as_single_figure
from fin_agent.query.question_to_intent import intent_of_question, known_names
from fin_agent.retrieval import nearest_figure
from fin_agent.retrieval.nearest_figure import (
    CONSIDERED,
    Features,
    ranked_candidates,
    ranking_margin,
)
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.workspace import Workspace

QUESTIONS = Path(__file__).with_name("nearest_questions.jsonl")
WEIGHTS = Path(nearest_figure.__file__).with_name("nearest_weights.yaml")
FOLDS, ROUNDS, HARD, EASY, WITHOUT_ITS_ROW = 5, 3, 12, 6, 0.15
NAMES, TOLD = (tuple(yaml.safe_load(WEIGHTS.read_text(encoding="utf-8"))[model]) for model in ("ranks", "tells"))
CHANCES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)


@dataclass(frozen=True)
class Gold:
    """The figure that a question was written for, as printed."""

    amount: Decimal
    scale: int

    @property
    def value(self) -> Decimal:
        return self.amount * self.scale


@dataclass(frozen=True)
class Asked:
    """A question with the figures that might answer it."""

    company: str
    of_figure: bool
    candidates: list[tuple[SourcedFact, Features]]
    values: np.ndarray[Any, Any]
    right: np.ndarray[Any, Any]
    rows: list[tuple[str, ...]]


def asked_of(workspace: Workspace) -> Iterator[Asked]:
    """The questions that are read as one figure."""
    names = known_names(workspace)
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        core = intent_of_question(row["question"], workspace).core
        figure = as_single_figure(row["question"], core, names, workspace)
        found = ranked_candidates(workspace, figure.sought, company=figure.company.key) if figure else []
        if figure is None or not found:
            continue
        gold = Gold(Decimal(row["amount"]), row["scale"]) if row["amount"] is not None else None
        right = [gold is not None and magnitudes_agree(gold, each.fact) for each, _ in found]
        values = np.array([[features[name] for name in NAMES] for _, features in found])
        yield Asked(
            figure.company.key,
            gold is not None,
            found,
            values,
            np.array(right),
            [each.fact.row_path for each, _ in found],
        )


def ranks(asked: Sequence[Asked]) -> np.ndarray[Any, Any]:
    """Weights that put the right figure before the others: pairs of it and those that stand highest, in rounds."""
    weights = np.zeros(len(NAMES))
    for name, weight in (("said", 3.0), ("of_period", 1.0)):
        weights[NAMES.index(name)] = weight
    drawn = np.random.RandomState(0)
    for _ in range(ROUNDS):
        pairs, counts = [], []
        for one in asked:
            if not one.right.any() or one.right.all():
                continue
            scores = one.values @ weights
            right, wrong = np.where(one.right)[0], np.where(~one.right)[0]
            hard = wrong[np.argsort(-scores[wrong])[:HARD]]
            others = np.concatenate([hard, drawn.choice(wrong, min(EASY, len(wrong)), False)])
            pairs.append(one.values[right[np.argmax(scores[right])]] - one.values[others])
            counts.append(np.full(len(others), 1 / len(others)))
        both, share = np.concatenate(pairs), np.concatenate(counts)
        model = LogisticRegression(C=5, fit_intercept=False, max_iter=3000)
        model.fit(
            np.concatenate([both, -both]),
            np.r_[np.ones(len(both)), np.zeros(len(both))],
            np.concatenate([share, share]),
        )
        weights = model.coef_[0]
    return weights


def best_of(one: Asked, weights: np.ndarray[Any, Any], places: np.ndarray[Any, Any]) -> tuple[int, list[float]]:
    """The best figure of some places, with all that tells whether it is meant."""
    scores = one.values @ weights
    first = places[np.argsort(-scores[places], kind="stable")[:CONSIDERED]]
    place, standing = ranking_margin([one.candidates[at] for at in first], [float(scores[at]) for at in first])
    best = int(first[place])
    known = {**one.candidates[best][1], **standing}
    return best, [known[name] for name in TOLD]


def told(asked: Sequence[Asked], weights: np.ndarray[Any, Any]) -> Iterator[tuple[list[float], bool, float, bool]]:
    """(what tells, whether the best is right, weight, whether it is a question as written) of every question.

    A question whose right row is taken away has no right answer, and is one more example with less weight.
    """
    for one in asked:
        best, known = best_of(one, weights, np.arange(len(one.right)))
        yield known, bool(one.right[best]), 1.0, one.of_figure
        rows = {one.rows[at] for at in np.where(one.right)[0]}
        left = np.array([at for at, row in enumerate(one.rows) if row not in rows])
        if rows and len(left):
            yield best_of(one, weights, left)[1], False, WITHOUT_ITS_ROW, False


def tells(examples: Sequence[tuple[list[float], bool, float, bool]]) -> LogisticRegression:
    known, right, weight, _ = zip(*examples, strict=True)
    model = LogisticRegression(C=0.3, fit_intercept=False, max_iter=5000)
    return model.fit(np.array(known), np.array(right), np.array(weight))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    asked = list(asked_of(Workspace.open(options.index)))
    companies = [one.company for one in asked]
    examples: list[tuple[list[float], bool, float, bool]] = []
    owners: list[str] = []
    for learnt, kept in GroupKFold(FOLDS).split(asked, groups=companies):
        weights = ranks([asked[at] for at in learnt])
        for at in kept:
            new = list(told([asked[at]], weights))
            examples += new
            owners += [companies[at]] * len(new)
    chances = np.zeros(len(examples))
    for learnt, kept in GroupKFold(FOLDS).split(examples, groups=owners):
        model = tells([examples[at] for at in learnt])
        chances[kept] = model.predict_proba(np.array([examples[at][0] for at in kept]))[:, 1]
    right = np.array([each[1] for each in examples])
    written = np.array([each[3] for each in examples])
    print(f"{written.sum()} questions of one figure; the first is right in {right[written].mean():.3f}")
    for chance in CHANCES:
        taken = written & (chances >= chance)
        print(f"chance {chance:.2f}: taken {taken.sum() / written.sum():.2f}, of these right {right[taken].mean():.3f}")
    if options.write:
        weights = ranks(asked)
        model = tells(examples)
        fitted = {
            "ranks": {name: round(float(value), 3) for name, value in zip(NAMES, weights, strict=True)},
            "tells": {name: round(float(value), 3) for name, value in zip(TOLD, model.coef_[0], strict=True)},
        }
        head = (
            "# What each feature of retrieval/nearest_figure.py counts: in ranking figures, and in telling whether\n"
            "# the best one is meant. Fitted by benchmarks/nearest_figure.py.\n"
        )
        WEIGHTS.write_text(head + yaml.safe_dump(fitted, sort_keys=False), encoding="utf-8")


if __name__ == "__main__":
    main()
