"""`fin-agent train`: encoders and rerankers trained after the papers, on supervision that nobody has to write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.streams import Progress, say, show_result, warn
from fin_agent.errors import QuestionError
from fin_agent.evaluation.statistics import Estimate
from fin_agent.presentation.plain import listing, right
from fin_agent.training import Trained
from fin_agent.training.material import Material, read_material

EXAMPLES = "examples.jsonl.xz"


def make_examples(
    out: Path, questions: Sequence[Path], given: Path | None, *, lookups: int, tags: int, terms: int
) -> Material:
    """Make the examples of an index and write them to `out`."""
    from fin_agent.cli.indexes import opened
    from fin_agent.evaluation.financebench import load_questions
    from fin_agent.training.supervision import Wanted, material_of

    of_files = {path.stem: load_questions(path) for path in questions}
    with opened(given) as workspace, Progress(len(workspace.index.entries()), "reading", "filings") as progress:
        material, left_out = material_of(workspace, of_files, Wanted(lookups, tags, terms), progress.step)
    for question in left_out:
        warn(f"left out: {question}")
    out.mkdir(parents=True, exist_ok=True)
    material.write(out / EXAMPLES)
    sources = Counter(each.source for each in material.asked)
    say(f"{out / EXAMPLES}: {len(material.filings)} filings, questions: {dict(sources)}")
    return material


def train(
    trained: Trained,
    material: Material | Path,
    out: Path,
    given: dict[str, Any],
    *,
    published: bool,
    folds_only: bool,
    corpus: bool,
    likeness: bool,
    as_json: bool,
) -> ExitCode:
    """Train, and show what it is worth on what was held out; `given` replaces what the recipe says otherwise."""
    from dataclasses import replace

    from fin_agent.training import recipes, tasks
    from fin_agent.training.likeness import write_likeness

    if isinstance(material, Path):
        material = read_material(material)
    task: recipes.Task
    match trained:
        case Trained.PAGES:
            task = tasks.Pages(corpus=corpus)
        case Trained.RERANKER:
            task = tasks.Reranker()
        case Trained.EMBEDDINGS:
            task = tasks.Embeddings()
        case _:
            raise QuestionError("nothing is trained", remedy="Name what to train: pages, reranker or embeddings")
    recipe = replace(task.published if published else task.small, **given)
    document = recipes.train(task, material, recipe, out, final=not folds_only, told=say)
    if likeness and trained is Trained.PAGES:
        say(f"cosines of pages for `fit-pages --likeness`: {write_likeness(material, recipe, out)}")
    show_result(as_json, document, _figures(document))
    say(f"{document['seconds']:.0f} s on {document['device']}: {out / 'training.json'}")
    return ExitCode.DONE


def _figures(document: dict[str, Any]) -> Table:
    table = listing("Questions", "Figure", *map(right, ("n", "Before", "After", "p")))
    table.caption = f"in percent, 95% intervals; learnt without the {document['recipe']['held_out']} asked about"
    for each in document["figures"]:
        means = (str(Estimate(**each[when])) for when in ("before", "after"))
        table.add_row(each["questions"], each["figure"], str(each["n"]), *means, f"{each['p_value']:.3f}")
    folds = [fold for fold in document["folds"] if fold["before"]]
    for name in folds[0]["before"] if folds else ():
        was, now = (sum(fold[when][name] for fold in folds) / len(folds) for when in ("before", "after"))
        table.add_row("terms", name, "", f"{100 * was:.1f}", f"{100 * now:.1f}", "")
    return table
