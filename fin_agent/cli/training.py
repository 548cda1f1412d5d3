"""`fin-agent train`: train encoders and rerankers as published, on questions derived from an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, Seed, command
from fin_agent.cli.streams import Progress, say, warn
from fin_agent.evaluation.statistics import Estimate
from fin_agent.presentation.terminal_text import listing, right
from fin_agent.training import Trained
from fin_agent.training.supervision import Material, material_of, read_material

EXAMPLES = "examples.jsonl.xz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Values that override the recipe; None leaves a value unchanged.

    Attributes:
        base (--base MODEL): Base model: a folder or a name on a hub. By default minilm.
        rate (--rate): Learning rate.
        batch (--batch): Batch size.
        epochs (--epochs): Epochs.
        length (--length): Tokens that are read of a text.
        held_out (--held-out company|filing): What the questions of a fold have in common.
        most (--most): Number of training questions at most, for a small run.
    """

    base: str | None = None
    rate: Annotated[float | None, typer.Option(min=0)] = None
    batch: Annotated[int | None, typer.Option(min=2)] = None
    epochs: Annotated[int | None, typer.Option(min=1)] = None
    length: Annotated[int | None, typer.Option(min=8)] = None
    held_out: str | None = None
    most: Annotated[int | None, typer.Option(min=2)] = None
    seed: Seed = 0

    @property
    def overrides(self) -> dict[str, Any]:
        """The values that were given, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@command
def train(
    trained: Trained,
    out: Path,
    recipe: Recipe,
    on: IndexOptions,
    questions: list[Path] | None = None,
    examples: Path | None = None,
    published: bool = False,
    folds_only: bool = False,
    corpus: bool = False,
    likeness: bool = False,
) -> ExitCode:
    """Train encoders and rerankers on questions derived from an index, measured with companies held out.

    On the command line:
        trained (TRAINED): What to train, or `examples` to collect the training data only.
        out (--out DIR): Folder for examples, model/, training.json, and each fold.
        questions (--questions FILE): Questions with gold pages, in FinanceBench's format.
        examples (--examples FILE.jsonl.xz): Train on these examples, without an index.
        published (--published): Use the hyperparameters of the paper, not those for a small model.
        folds_only (--folds-only): Only cross-validate; train no final model.
        corpus (--corpus): For pages: also search all filings in each fold.
        likeness (--likeness): For pages: also write likeness.npz, for `python -m benchmarks.fit_pages`.
    """
    from fin_agent.training import cross_validation, tasks
    from fin_agent.training.cross_validation import write_likeness

    material = _examples(out, questions or (), on) if examples is None else read_material(examples)
    if trained is Trained.EXAMPLES:
        return ExitCode.DONE
    task: cross_validation.Task = tasks.Pages(corpus=corpus)
    if trained is not Trained.PAGES:
        task = tasks.Reranker() if trained is Trained.RERANKER else tasks.Embeddings()
    followed = replace(task.published if published else task.small, **recipe.overrides)
    document = cross_validation.train(task, material, followed, out, final=not folds_only, on_progress=say)
    if likeness and trained is Trained.PAGES:
        say(f"cosine similarities of pages: {write_likeness(material, followed, out)}")
    on.show(document, _figures(document))
    say(f"{document['seconds']:.0f} s on {document['device']}: {out / 'training.json'}")
    return ExitCode.DONE


def _examples(out: Path, questions: Sequence[Path], on: IndexOptions) -> Material:
    """Collect the training data of an index and write it to `out`."""
    from fin_agent.evaluation.financebench import load_questions

    of_files = {path.stem: load_questions(path) for path in questions}
    with on.open_workspace() as workspace:
        progress = Progress(len(workspace.index.entries()))
        material, left_out = material_of(workspace, of_files, progress.step)
    for question in left_out:
        warn(f"left out: {question}")
    out.mkdir(parents=True, exist_ok=True)
    material.write(out / EXAMPLES)
    sources = Counter(each.source for each in material.asked)
    say(f"{out / EXAMPLES}: {len(material.filings)} filings, questions: {dict(sources)}")
    return material


def _figures(document: dict[str, Any]) -> Table:
    table = listing("Questions", "Figure", *map(right, ("n", "Before", "After", "p")))
    table.caption = f"in percent, 95% intervals; trained without the {document['recipe']['held_out']} of the question"

    for each in document["figures"]:
        means = (str(Estimate(**each[when])) for when in ("before", "after"))
        table.add_row(each["questions"], each["figure"], str(each["n"]), *means, f"{each['p_value']:.3f}")
    folds = [fold for fold in document["folds"] if fold["before"]]
    for name in folds[0]["before"] if folds else ():
        was, now = (sum(fold[when][name] for fold in folds) / len(folds) for when in ("before", "after"))
        table.add_row("terms", name, "", f"{100 * was:.1f}", f"{100 * now:.1f}", "")
    return table
