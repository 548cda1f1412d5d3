"""Training and cross-validation: companies are held out in folds, a run resumes, and similarities are written of them.

`pages`, `reranker` and `embeddings` are tasks: each defines what it learns from and how one question is measured.
"""

from __future__ import annotations

import hashlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fin_agent.errors import QuestionError
from fin_agent.evaluation.statistics import estimate, paired_test
from fin_agent.training.supervision import Material, QuestionWithPages
from fin_agent.vocabulary.runs import grouped

BEFORE, AFTER = "before", "after"
Figures: TypeAlias = Mapping[str, float]
"""Name of a figure -> its value, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """All parameters of a training, apart from its data."""

    rate: float
    batch: int
    epochs: int
    base: str = "minilm"
    length: int = 256
    """Tokens of a text that the model reads."""
    negatives: int = 0
    """Wrong texts per right one: tables of other pages (reranker), or other pages with tables (pages)."""
    folds: int = 5
    held_out: str = "company"
    """How questions are grouped into folds: by `company`, or by `filing` as published."""
    most: int | None = None
    """Training questions, and held-out questions, per fold at most, for a small run; None for all."""
    seed: int = 0


class Learnt(NamedTuple):
    """A trained model with its losses: (step, loss)."""

    model: Any
    losses: tuple[tuple[int, float], ...]


class Task(ABC):
    """A kind of training."""

    name: ClassVar[str]
    published: ClassVar[Recipe]
    """The hyperparameters of the paper."""
    small: ClassVar[Recipe]
    """Hyperparameters that work for a small model."""

    @abstractmethod
    def base(self, recipe: Recipe) -> Any:
        """Return the model before training."""

    @abstractmethod
    def learn(self, material: Material, asked: Sequence[QuestionWithPages], recipe: Recipe) -> Learnt:
        """Return a model trained on these questions.

        Raises:
            QuestionError: The questions give no examples to learn from.
        """

    @abstractmethod
    def measure(self, model: Any, material: Material, asked: Sequence[QuestionWithPages]) -> list[Figures]:
        """Return the figures of each question; empty for a question that cannot be measured."""

    def of_fold(self, model: Any, material: Material, asked: Sequence[QuestionWithPages]) -> Figures:
        """Return figures of a whole fold, over the companies of its questions; empty if there are none."""
        return {}


def folds_of(material: Material, recipe: Recipe) -> list[tuple[QuestionWithPages, ...]]:
    """Divide the questions into folds of similar size; those of one company (or filing) stay together.

    Raises:
        QuestionError: There are fewer groups than folds.
    """
    by_company = recipe.held_out == "company"
    groups = grouped(
        (material.company_of(each) if by_company else each.pages[0].doc_id, each) for each in material.asked
    )
    if len(groups) < recipe.folds:
        raise QuestionError(
            f"{len(groups)} groups cannot be held out in {recipe.folds} folds",
            subject=recipe.held_out,
            remedy=f"Give questions about more of the kind `{recipe.held_out}`, or choose fewer folds",
        )
    folds: list[list[QuestionWithPages]] = [[] for _ in range(recipe.folds)]
    for _, members in sorted(groups.items(), key=lambda each: (-len(each[1]), each[0])):
        min(folds, key=len).extend(members)
    return [tuple(sorted(fold, key=lambda each: (each.source, each.id))) for fold in folds]


def train(
    task: Task,
    material: Material,
    recipe: Recipe,
    out: Path,
    *,
    final: bool = True,
    on_progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Cross-validate, then (`final`) train on all questions; return the content of `training.json`.

    The folder `out` gets `model/`, `training.json`, and model and results of each fold. Folds that an earlier run of
    the same recipe and data completed are not trained again. `on_progress` is called with a line after each fold.

    Raises:
        QuestionError: There are fewer groups than folds, or no examples to learn from.
    """
    import torch

    from fin_agent.retrieval.dense.loading import without_progress_bars

    out.mkdir(parents=True, exist_ok=True)
    run = hashlib.sha256(json.dumps([task.name, asdict(recipe), material.digest]).encode()).hexdigest()
    folds = folds_of(material, recipe)
    started = time.perf_counter()
    measured: list[dict[str, Any]] = []
    kept: list[dict[str, Any]] = []
    base: Any = None
    for number, held_out in enumerate(folds):
        fold = _kept_fold(out / f"fold-{number}.json", run)
        if fold is None:
            base = base or task.base(recipe)
            learnt_from = [each for other in folds if other is not held_out for each in other]
            measured_on = _some(held_out, recipe)
            with without_progress_bars():
                learnt, fold = _fold(task, material, recipe, base, number, _some(learnt_from, recipe), measured_on)
            learnt.model.save_pretrained(str(out / f"fold-{number}"))
            (out / f"fold-{number}.json").write_text(json.dumps({"run": run, **fold}), encoding="utf-8")
        kept.append(fold)
        measured += fold["rows"]
        on_progress(f"fold {number + 1} of {len(folds)}: {fold['seconds']:.0f} s")
    losses: Sequence[tuple[int, float]] = ()
    if final:
        with without_progress_bars():
            learnt = task.learn(material, _some(material.asked, recipe), recipe)
        learnt.model.save_pretrained(str(out / "model"))
        losses = learnt.losses
    document = {
        "task": task.name,
        "run": run,
        "data": {"sha256": material.digest, "filings": len(material.filings), "questions": len(material.asked)},
        "recipe": asdict(recipe),
        "device": torch.cuda.get_device_name(0) if torch.cuda.is_available() else "cpu",
        "figures": figures_of(measured, recipe.seed),
        "folds": [{name: figure for name, figure in fold.items() if name != "rows"} for fold in kept],
        "losses": losses,
        "seconds": round(time.perf_counter() - started, 1),
    }
    (out / "training.json").write_text(f"{json.dumps(document, indent=1)}\n", encoding="utf-8")
    return document


def _some(asked: Sequence[QuestionWithPages], recipe: Recipe) -> list[QuestionWithPages]:
    """Return the questions in random order, at most `recipe.most`."""
    by_chance = {each: hashlib.sha256(f"{recipe.seed} {each.source} {each.id}".encode()).digest() for each in asked}
    return sorted(by_chance, key=by_chance.__getitem__)[: recipe.most]


def _kept_fold(path: Path, run: str) -> dict[str, Any] | None:
    try:
        fold: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return fold if fold.pop("run", None) == run else None


def _fold(
    task: Task,
    material: Material,
    recipe: Recipe,
    base: Any,
    number: int,
    learnt_from: Sequence[QuestionWithPages],
    held_out: Sequence[QuestionWithPages],
) -> tuple[Learnt, dict[str, Any]]:
    started = time.perf_counter()
    learnt = task.learn(material, learnt_from, recipe)
    before, after = (task.measure(model, material, held_out) for model in (base, learnt.model))
    of_fold = {when: task.of_fold(of, material, held_out) for when, of in ((BEFORE, base), (AFTER, learnt.model))}
    rows = [
        {"id": each.id, "source": each.source, "fold": number, BEFORE: was, AFTER: now}
        for each, was, now in zip(held_out, before, after, strict=True)
        if was and now
    ]
    seconds = round(time.perf_counter() - started, 1)
    told = {"learnt_from": len(learnt_from), "losses": learnt.losses, "seconds": seconds, **of_fold}
    return learnt, {**told, "rows": rows}


def figures_of(measured: Sequence[Mapping[str, Any]], seed: int = 0) -> list[dict[str, Any]]:
    """Return a row for each source of questions and for all of them, and for each figure.

    A row has the means with 95% intervals before and after training, and the p-value of a paired test.
    """
    figures: list[dict[str, Any]] = []
    for source in (*sorted({each["source"] for each in measured}), "all"):
        rows = [each for each in measured if source in (each["source"], "all")]
        for name in rows[0][BEFORE] if rows else ():
            of = [each for each in rows if name in each[BEFORE]]
            was, now = [each[BEFORE][name] for each in of], [each[AFTER][name] for each in of]
            test = paired_test(now, was, seed=seed)
            means = {when: estimate(sample, seed=seed) for when, sample in ((BEFORE, was), (AFTER, now))}
            figure = {"questions": source, "n": len(of), "figure": name, "p_value": test.p_value}
            figures.append({**figure, **{when: asdict(mean) for when, mean in means.items() if mean}})
    return figures


def fixed_seed(seed: int) -> None:
    """Seed the random generators and choose deterministic algorithms, so that a run can be repeated on this machine."""
    import os

    import torch
    from transformers import set_seed

    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # CUDA requires it for deterministic algorithms
    torch.use_deterministic_algorithms(True, warn_only=True)
    set_seed(seed)


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
