"""Cosine similarities of questions and pages, each by the model that was trained without the question's company."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fin_agent.training.cross_validation import Recipe, folds_of
from fin_agent.training.training_data import Material

HELD_OUT = "likeness.npz"
"""Name of the file, next to a trained page scorer."""


def write_likeness(material: Material, recipe: Recipe, out: Path) -> Path:
    """Write the cosine similarities of every question with the pages of its company.

    Args:
        material: The data that the models were trained on.
        recipe: The parameters that they were trained with.
        out: The folder of `train`, with the model of each fold.

    Returns:
        The file: for each question, similarities by the base model and by the model of its fold.
    """
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
