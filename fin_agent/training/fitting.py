"""Weights of the page scorer, fitted to questions with gold pages, and what they are worth on companies left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from fin_agent.errors import QuestionError
from fin_agent.retrieval.page_weights import PageWeights
from fin_agent.training.examples import FEATURES, PageExample
from fin_agent.training.supervision import QUESTION_TYPE as LOOKUP

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
