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
    """Write the cosine similarities of every question with the pages of its company, and return the file.

    Material and recipe are those of `train`, whose folder `out` has the model of each fold. Each question has a row by
    the base model and one by the model of its fold.
    """
    from sentence_transformers import SentenceTransformer

    from fin_agent.training.tasks import Pages, vectors_of

    base = Pages(corpus=False).base(recipe)
    about: list[dict[str, object]] = []
    rows: list[NDArray[np.float16]] = []
    for number, held_out in enumerate(folds_of(material, recipe)):
        models = (base, SentenceTransformer(str(out / f"fold-{number}")))
        for company in sorted({material.company_of(each) for each in held_out}):
            filings = [filing for filing in material.filings if filing.company == company]
            pages = [page for filing in filings for page in filing.pages]
            asked = [each.question for each in held_out if material.company_of(each) == company]
            cosines = [
                vectors_of(model, asked, queries=True) @ vectors_of(model, pages, queries=False).T for model in models
            ]
            rows.extend(np.stack(cosines, axis=1).astype(np.float16))
            spans = [(filing.doc_id, len(filing.pages)) for filing in filings]
            about += ({"question": question, "filings": spans} for question in asked)
    path = out / HELD_OUT
    arrays = {str(place): row for place, row in enumerate(rows)}
    np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)
    return path
