"""`fin-agent summarize`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from fin_agent.analyst.model.role_models import callers_of
from fin_agent.analyst.model.summaries import MadeSummary, ModelSummarizer, given_up
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import chosen_index
from fin_agent.cli.progress import Progress
from fin_agent.cli.streams import say, show, show_json, warn
from fin_agent.config import Settings
from fin_agent.index.opening import open_index
from fin_agent.index.protocol import FilingRecord
from fin_agent.models.call import Role
from fin_agent.models.costs import usage_table
from fin_agent.models.metering import Meter, metered
from fin_agent.workspace import Workspace


def summarize_filings(
    settings: Settings, docs: Sequence[str], given: Path | None, *, again: bool, as_json: bool
) -> ExitCode:
    """Let a model add to the summaries of filings; SOME_FAILED where that of one could not be made.

    The budget of a question is that of a filing here, and a batch's that of the run.
    """
    callers = callers_of(settings)
    model = callers.name(Role.SUMMARY)
    started = time.perf_counter()
    meter = Meter(settings.models.batch_budget, of="run")
    made: list[tuple[FilingRecord, MadeSummary]] = []
    place = chosen_index(given).place
    with callers, open_index(place) as index:
        summarizer = ModelSummarizer(callers.of(Role.SUMMARY), Workspace(index), settings.prompts)
        records = [index.filing(doc_id) for doc_id in docs] if docs else list(index.filings())
        waiting = [record for record in records if again or not summarizer.is_made(record)]
        with Progress(len(waiting), "summarizing", "filings") as progress:
            for record in waiting:
                if given_up([one for _, one in made]):
                    break
                with metered(Meter(settings.models.budget, of="filing", within=meter)):
                    one = summarizer.made(record)
                made.append((record, one))
                if one.by_model:
                    index.replace_summary(record.doc_id, one.text)
                progress.step(_line(record, one), problem=not one.by_model)
    left = len(waiting) - len(made)
    failed = sum(not one.by_model for _, one in made)
    if left:
        warn(f"the model is out of reach: {left} filings were left as they are")
    seconds = time.perf_counter() - started
    if as_json:
        show_json(
            {
                "index": str(place),
                "model": model,
                "summarized": len(made) - failed,
                "failed": [{"doc_id": record.doc_id, "reason": "; ".join(one.notes)} for record, one in made
                           if not one.by_model],
                "left_as_they_are": left,
                "had_one": len(records) - len(waiting),
                "calls": len(meter.records),
                "seconds": round(seconds, 3),
            }
        )  # fmt: skip
    else:
        show(f"{len(made) - failed} of {len(records)} filings summarized by {model}, in {seconds:.1f} s.")
        if meter.records:
            say(usage_table(meter.records).text())
    return ExitCode.SOME_FAILED if failed or left else ExitCode.DONE


def _line(record: FilingRecord, made: MadeSummary) -> str:
    notes = f" ({'; '.join(made.notes)})" if made.notes else ""
    return f"{record.doc_id}: {'summarized' if made.by_model else 'left as it is'}{notes}"
