"""Cosines of questions and pages by models that were trained without their companies: what a fair test needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fin_agent.errors import QuestionError
from fin_agent.index.protocol import PageKey
from fin_agent.training.recipes import AFTER, BEFORE, Recipe, folds_of
from fin_agent.training.training_data import Material

if TYPE_CHECKING:
    from fin_agent.retrieval.search_query import Query
    from fin_agent.training.examples import Likeness

HELD_OUT = "likeness.npz"
"""Written beside a trained page scorer."""


def write_likeness(material: Material, recipe: Recipe, out: Path) -> Path:
    """Write the cosines of every question with the pages of its company, by the models that `train` left in `out`."""
    from sentence_transformers import SentenceTransformer

    from fin_agent.training.tasks import Pages, vectors_of

    base = Pages(corpus=False).base(recipe)
    about: list[object] = []
    arrays: dict[str, NDArray[np.float16]] = {}
    for number, held_out in enumerate(folds_of(material, recipe)):
        models = (base, SentenceTransformer(str(out / f"fold-{number}")))
        for company in sorted({material.company_of(each) for each in held_out}):
            filings = [filing for filing in material.filings if filing.company == company]
            asked = [each for each in held_out if material.company_of(each) == company]
            pages = [page for filing in filings for page in filing.pages]
            texts = [each.question for each in asked]
            cosines = np.stack(
                [vectors_of(each, texts, queries=True) @ vectors_of(each, pages, queries=False).T for each in models]
            )
            for place, each in enumerate(asked):
                arrays[str(len(about))] = cosines[:, place].astype(np.float16)
                spans = [(filing.doc_id, len(filing.pages)) for filing in filings]
                about.append({"question": each.question, "filings": spans})
    path = out / HELD_OUT
    np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)
    return path


def read_likeness(path: Path) -> dict[str, Likeness]:
    """Cosines by the model `before` training and `after` by those of the folds, of pages of the company asked about.

    Raises QuestionError where the file is none.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            rows: list[NDArray[np.float16]] = [arrays[str(number)] for number in range(len(about))]
    except (OSError, ValueError, KeyError) as failure:
        raise QuestionError(
            f"this holds no cosines of pages ({failure})",
            subject=str(path),
            remedy=f"Give the `{HELD_OUT}` that `fin-agent train pages` wrote",
        ) from failure
    keys = [[PageKey(doc_id, page) for doc_id, count in each["filings"] for page in range(count)] for each in about]
    return {name: _looked_up(about, keys, [row[place] for row in rows]) for place, name in enumerate((BEFORE, AFTER))}


def _looked_up(
    about: Sequence[dict[str, str]], keys: Sequence[Sequence[PageKey]], rows: Sequence[NDArray[np.float16]]
) -> Likeness:
    cosines = {each["question"]: (of, row) for each, of, row in zip(about, keys, rows, strict=True)}

    def likeness(question: str, query: Query, doc_ids: Sequence[str]) -> Mapping[PageKey, float]:
        of, row = cosines.get(question, ((), np.zeros(0, dtype=np.float16)))
        return {key: float(cosine) for key, cosine in zip(of, row, strict=True) if key.doc_id in doc_ids}

    return likeness
