"""`fin-agent embed`, `trees` and `summarize`: additions to an index that ingest does not compute; and `train`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rich.table import Table

from fin_agent.analyst.model.descriptions import ModelNodeWriter, ModelSummarizer
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, ModelOptions, command
from fin_agent.cli.streams import Progress, say, warn
from fin_agent.errors import FinAgentError
from fin_agent.evaluation.statistics import Estimate
from fin_agent.index.opening import open_index
from fin_agent.index.protocol import FilingEntry, FilingRecord, VectorUnit
from fin_agent.models.errors import ModelError
from fin_agent.models.metering import Meter, metered, usage_of
from fin_agent.presentation.answers import usage_view
from fin_agent.presentation.terminal_text import listing, right
from fin_agent.training import Trained
from fin_agent.training.supervision import Material, material_of, read_material
from fin_agent.workspace import Workspace


@command
def embed(
    on: IndexOptions, model: str = "minilm", units: str = "summaries,passages,pages", sparse: bool = False
) -> ExitCode:
    """Compute vectors for filings that have none. It can be stopped at any time: the next run resumes."""
    known = {unit.plural: unit for unit in VectorUnit}
    named = dict.fromkeys(filter(None, map(str.strip, units.split(","))))
    if not named or not known.keys() >= named.keys():
        raise FinAgentError(
            f"vectors can be computed for {', '.join(known)}",
            subject=f"--units {units}",
            remedy="Name one or more of these, separated by commas",
        )
    wanted = [known[name] for name in named]
    place = on.chosen.place
    with open_index(place) as index:
        from fin_agent.retrieval.dense.encoder import load_encoder, load_sparse_encoder
        from fin_agent.retrieval.dense.store import embed as made_vectors

        encoder = load_sparse_encoder(model) if sparse else load_encoder(model)
        started = time.perf_counter()
        progress = Progress(sum(len(index.without_vectors(encoder.name, unit)) for unit in wanted))
        made = made_vectors(
            index, encoder, wanted, lambda each: progress.step(f"{each.doc_id}: {each.vectors} {each.unit.plural}")
        )
    seconds = time.perf_counter() - started
    rows: list[dict[str, Any]] = []
    for unit in wanted:
        own = [each for each in made if each.unit is unit]
        vectors, size = sum(each.vectors for each in own), sum(each.size for each in own)
        rows.append({"unit": unit.plural, "filings": len(own), "vectors": vectors, "bytes": size})
    document = {"index": str(place), "model": encoder.name, "seconds": round(seconds, 3), "units": rows}
    summary = f"Every filing has its vectors by {encoder.name} ({', '.join(named)})."
    if made:
        counts = ", ".join(f"{row['vectors']:,} of {row['unit']}" for row in rows)
        vectors, size = sum(row["vectors"] for row in rows), sum(row["bytes"] for row in rows)
        summary = f"{vectors:,} vectors by {encoder.name} ({counts}), {size / 1e6:.1f} MB, in {seconds:.1f} s."
    on.show(document, summary)
    return ExitCode.DONE


@command
def trees(
    on: IndexOptions,
    models: ModelOptions,
    doc: list[str] | None = None,
    chunk: str | None = None,
    encoder: str | None = None,
    by: Literal["rules", "model"] = "rules",
    again: bool = False,
) -> ExitCode:
    """Build the trees for the strategy `fingear`: the topics of the chunks of each Item."""
    from fin_agent.retrieval.fingear.tree_building import Chunking, TreeStore, build_trees, trees_folder

    settings = models.settings()
    writer = ModelNodeWriter(ModelClient.of(settings)) if by == "model" else None
    written_by = writer.name if writer else "rules"
    chunking = Chunking.parsed(chunk or settings.tree_chunks)
    place = on.chosen.place
    built: list[dict[str, object]] = []
    seconds: dict[str, float] = {}
    # The budget of a batch applies to the whole run.
    meter = Meter(settings.models.batch_budget, of="run")
    with open_index(place) as index, metered(meter):
        workspace = Workspace(index)
        store = TreeStore(trees_folder(index, settings.trees))
        clustering = None
        if encoder is not None:
            from fin_agent.retrieval.dense.encoder import load_encoder

            clustering = load_encoder(encoder)
        entries: Sequence[FilingRecord | FilingEntry] = [*map(index.filing, doc)] if doc else index.entries()
        store.prune([entry.content_hash for entry in index.entries()])
        waiting = [one for one in entries if again or store.read(one.doc_id, one.content_hash, chunking) is None]
        progress = Progress(len(waiting))
        for one in waiting:
            made = build_trees(
                index,
                one.doc_id,
                workspace.lexicon,
                chunking=chunking,
                writer=writer.write if writer else None,
                encoder=clustering,
                seconds=seconds,
            )
            size = store.write(made)
            leaves = sum(len(tree.leaves) for tree in made.trees)
            nodes = sum(len(tree.nodes) for tree in made.trees)
            built.append({"doc_id": one.doc_id, "leaves": leaves, "nodes": nodes, "bytes": size})
            progress.step(f"{one.doc_id}: {leaves} leaves under {nodes - leaves} nodes")
    by_rules = writer.by_rules if writer else 0
    if by_rules:
        warn(f"{by_rules} nodes were written by rules, since the model's replies could not be used")
    document = {
        "index": str(place),
        "chunks": str(chunking),
        "written_by": written_by,
        "nodes_by_rules": by_rules,
        "calls": len(meter.records),
        "tokens": meter.spent().tokens,
        "built": built,
        "had_trees": len(entries) - len(waiting),
        "seconds": {stage: round(second, 3) for stage, second in seconds.items()},
    }
    stages = ", ".join(f"{stage} {second:.1f} s" for stage, second in seconds.items())
    summary = f"Trees of {len(built)} filings ({stages})." if built else "Every filing has its trees."
    on.show(document, summary, *([usage_view(usage_of(meter.records))] if meter.records else []))
    return ExitCode.SOME_FAILED if by_rules else ExitCode.DONE


@command
def summarize(on: IndexOptions, models: ModelOptions, doc: list[str] | None = None, again: bool = False) -> ExitCode:
    """Let a chat model add to the summaries that filings are found by, from what their first pages say.

    It can be stopped at any time: the next run resumes.
    """
    started, settings = time.perf_counter(), models.settings()
    client = ModelClient.of(settings)
    model = client.model_name("cover_summary")
    # Here the budget of a question applies to one filing, and that of a batch to the whole run.
    meter = Meter(settings.models.batch_budget, of="run")
    summarized, failed = 0, list[dict[str, str]]()
    place = on.chosen.place
    with open_index(place) as index:
        summarizer = ModelSummarizer(client, Workspace(index))
        records = [index.filing(doc_id) for doc_id in doc] if doc else list(index.filings())
        waiting = [record for record in records if again or not summarizer.is_written_by_model(record)]
        progress = Progress(len(waiting))
        for record in waiting:
            try:
                with metered(Meter(settings.models.budget, of="filing", within=meter)):
                    text, notes = summarizer.make(record)
            except ModelError as failure:
                warn(f"the model cannot be reached: {failure.what}")
                break
            told = "; ".join(notes)
            if text is None:
                failed.append({"doc_id": record.doc_id, "reason": told})
            else:
                index.replace_summary(record.doc_id, text)
                summarized += 1
            done = f"{'not changed' if text is None else 'summarized'}{f' ({told})' if told else ''}"
            progress.step(f"{record.doc_id}: {done}", problem=text is None)
    if left := len(waiting) - summarized - len(failed):
        warn(f"{left} filings were not changed")
    seconds = time.perf_counter() - started
    document = {
        "index": str(place),
        "model": model,
        "summarized": summarized,
        "failed": failed,
        "left_as_they_are": left,
        "had_one": len(records) - len(waiting),
        "calls": len(meter.records),
        "seconds": round(seconds, 3),
    }
    summary = f"{summarized} of {len(records)} filings summarized by {model}, in {seconds:.1f} s."
    on.show(document, summary, *([usage_view(usage_of(meter.records))] if meter.records else []))
    return ExitCode.SOME_FAILED if failed or left else ExitCode.DONE


EXAMPLES = "examples.jsonl.xz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Values that override the recipe; None leaves a value unchanged."""

    base: str | None = None
    rate: float | None = None
    batch: int | None = None
    epochs: int | None = None
    length: int | None = None
    held_out: str | None = None
    most: int | None = None
    seed: int = 0


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
    """Train encoders and rerankers on questions derived from an index, measured with companies held out."""
    from fin_agent.training import cross_validation, tasks
    from fin_agent.training.cross_validation import write_likeness

    material = _examples(out, questions or (), on) if examples is None else read_material(examples)
    if trained is Trained.EXAMPLES:
        return ExitCode.DONE
    task: cross_validation.Task = tasks.Pages(corpus=corpus)
    if trained is not Trained.PAGES:
        task = tasks.Reranker() if trained is Trained.RERANKER else tasks.Embeddings()
    given: dict[str, Any] = {name: value for name, value in asdict(recipe).items() if value is not None}
    followed = replace(task.published if published else task.small, **given)
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
