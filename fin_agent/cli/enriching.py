"""`fin-agent embed`, `trees` and `summarize`: additions to an index that ingest does not compute."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

from fin_agent.analyst.model.descriptions import ModelNodeWriter, ModelSummarizer
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import Docs, IndexOptions, ModelOptions, command
from fin_agent.cli.streams import Progress, warn
from fin_agent.errors import FinAgentError
from fin_agent.index.opening import open_index
from fin_agent.index.protocol import FilingEntry, FilingRecord, VectorUnit
from fin_agent.models.costs import usage_of
from fin_agent.models.errors import ModelError
from fin_agent.models.metering import Meter, metered
from fin_agent.presentation.answers import usage_view
from fin_agent.workspace import Workspace


@command
def embed(
    on: IndexOptions, model: str = "minilm", units: str = "summaries,passages,pages", sparse: bool = False
) -> ExitCode:
    """Compute vectors for filings that have none. It can be stopped at any time: the next run resumes.

    On the command line:
        model (--model MODEL): `minilm` (packaged, no network), the folder of a sentence-transformers model, or its name
            on a hub.
        units (--units UNITS): What to embed, separated by commas: summaries, passages, pages, windows (stretches of
            passages of at most 256 tokens).
        sparse (--sparse): Use the model for term weights, as SPLADE does.
    """
    wanted = _selected_units(units)
    place = on.chosen.place
    with open_index(place) as index:
        from fin_agent.retrieval.dense.encoder import load_encoder, load_sparse_encoder
        from fin_agent.retrieval.dense.store import embed as made_vectors

        encoder = load_sparse_encoder(model) if sparse else load_encoder(model)
        started = time.perf_counter()
        total = sum(len(index.without_vectors(encoder.name, unit)) for unit in wanted)
        progress = Progress(total)
        made = made_vectors(
            index,
            encoder,
            wanted,
            lambda each: progress.step(f"{each.doc_id}: {each.vectors} {each.unit.plural}"),
        )
    seconds = time.perf_counter() - started
    rows: list[dict[str, Any]] = []
    for unit in wanted:
        of_unit = [each for each in made if each.unit is unit]
        vectors, size = sum(each.vectors for each in of_unit), sum(each.size for each in of_unit)
        rows.append({"unit": unit.plural, "filings": len(of_unit), "vectors": vectors, "bytes": size})
    document = {"index": str(place), "model": encoder.name, "seconds": round(seconds, 3), "units": rows}
    summary = f"Every filing has its vectors by {encoder.name} ({', '.join(unit.plural for unit in wanted)})."
    if made:
        counts = ", ".join(f"{row['vectors']:,} of {row['unit']}" for row in rows)
        vectors, size = sum(row["vectors"] for row in rows), sum(row["bytes"] for row in rows)
        summary = f"{vectors:,} vectors by {encoder.name} ({counts}), {size / 1e6:.1f} MB, in {seconds:.1f} s."
    on.show(document, summary)
    return ExitCode.DONE


def _selected_units(units: str) -> list[VectorUnit]:
    known = {unit.plural: unit for unit in VectorUnit}
    named = [unit.strip() for unit in units.split(",") if unit.strip()]
    if not named or not known.keys() >= set(named):
        raise FinAgentError(
            f"vectors can be computed for {', '.join(known)}",
            subject=f"--units {units}",
            remedy="Name one or more of these, separated by commas",
        )
    return list(dict.fromkeys(known[unit] for unit in named))


@command
def trees(
    on: IndexOptions,
    models: ModelOptions,
    doc: Docs = None,
    chunk: str | None = None,
    encoder: str | None = None,
    by: Literal["rules", "model"] = "rules",
    again: bool = False,
) -> ExitCode:
    """Build the trees for the strategy `fingear`: the topics of the chunks of each Item.

    On the command line:
        by (--by WHO): Who writes titles, summaries and questions: rules, or the chat model of --model.
        chunk (--chunk TOKENS:OVERLAP): Size of the leaves, such as 2000:100. By default 512:0.
        encoder (--encoder MODEL): Model whose vectors are clustered: `minilm`, or its folder.
        again (--again): Also rebuild existing trees.
    """
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
        entries: Sequence[FilingRecord | FilingEntry] = [
            index.filing(doc_id) for doc_id in doc or ()
        ] or index.entries()
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
def summarize(on: IndexOptions, models: ModelOptions, doc: Docs = None, again: bool = False) -> ExitCode:
    """Let a chat model add to the summaries that filings are found by, from what their first pages say.

    It can be stopped at any time: the next run resumes.

    On the command line:
        again (--again): Also filings that have such a summary.
    """
    settings = models.settings()
    client = ModelClient.of(settings)
    model = client.model_name("cover_summary")
    started = time.perf_counter()
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
    left = len(waiting) - summarized - len(failed)
    if left:
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
