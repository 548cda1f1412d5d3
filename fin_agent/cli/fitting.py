"""`fin-agent fit-pages`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import first_query
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import OnIndex, command
from fin_agent.cli.streams import Progress, warn
from fin_agent.config import Settings
from fin_agent.evaluation.financebench import FinanceBenchQuestion, load_questions
from fin_agent.evaluation.statistics import FITTING, paired_test, require_libraries
from fin_agent.presentation.terminal_text import listing, right
from fin_agent.retrieval.page_weights import PageWeights, packaged_weights, weights_text
from fin_agent.retrieval.strategies.protocol import Models
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.retrieval.strategies.staged import Staged
from fin_agent.training.supervision import QUESTION_TYPE as LOOKUP
from fin_agent.workspace import Workspace

if TYPE_CHECKING:
    from fin_agent.training.examples import Likeness
    from fin_agent.training.fitting import LeftOut

_SHARES = ("searched", "packaged", "fitted", "left_out")
"""Of a row: the share of the gold pages that are in the filings found at all; then page recall over the first five
pages with packaged weights, fitted on all questions, and fitted without the company asked about."""


@command
def fit_pages(
    questions: list[Path],
    on: OnIndex,
    lookups: Annotated[int, typer.Option(min=0)] = 0,
    encoder: str | None = None,
    likeness: Path | None = None,
    out: Path | None = None,
) -> ExitCode:
    """Fit the page scorer's weights to questions, and say what they are worth on companies left out.

    On the command line:
        questions (--questions FILE): Questions with gold pages, in FinanceBench's form.
        lookups (--lookups): Also ask for so many rows of the indexed filings' own statements.
        encoder (--encoder MODEL): Fit with this model's vectors, which the index has to hold.
        likeness (--likeness FILE.npz): Also fit with the cosines that `train pages` left; what do they add?
        out (--out FILE.yaml): Gets the weights fitted.
    """
    require_libraries(FITTING)
    from fin_agent.training.examples import examples_of
    from fin_agent.training.fitting import fit, leave_one_group_out
    from fin_agent.training.similarity import read_likeness
    from fin_agent.training.supervision import lookup_questions

    started = time.perf_counter()
    sets = {path: load_questions(path) for path in questions}
    asked = [question for each in sets.values() for question in each]
    with on.opened() as workspace, Progress(len(asked) + lookups, "searching", "questions") as progress:
        of_filings = lookup_questions(workspace, lookups)
        query_of = partial(first_query, analyst=RulesAnalyst(workspace))
        every = [*asked, *of_filings]
        of_encoder = _likeness(workspace, encoder) if encoder else None
        examples = examples_of(every, workspace, query_of, lambda: progress.step(""), of_encoder)
        with_cosines = {
            name: examples_of(every, workspace, query_of, likeness=cosines)
            for name, cosines in ({} if likeness is None else read_likeness(likeness)).items()
        }
    if lacking := len(asked) + len(of_filings) - len(examples):
        warn(f"{lacking} of {len(asked) + len(of_filings)} questions are about filings that are not in the index")
    weights = fit(examples)
    left_out = leave_one_group_out(examples)
    tests = _tests(left_out, {name: leave_one_group_out(of) for name, of in with_cosines.items()})
    packaged = packaged_weights(with_vectors=encoder is not None)
    names = _names(sets) | {question.id: ("lookups",) for question in of_filings}
    by_name: dict[str, list[tuple[float, float, float, float]]] = {}
    for each in left_out:
        example = each.example
        figures = (example.gold_share, example.recall(packaged), example.recall(weights), each.recall)
        for name in names[example.question.id]:
            by_name.setdefault(name, []).append(figures)
    rows: list[dict[str, Any]] = []
    for name, of in by_name.items():
        means = (round(sum(column) / len(of), 4) for column in zip(*of, strict=True))
        rows.append({"questions": name, "n": len(of), **dict(zip(_SHARES, means, strict=True))})
    if out is not None:
        out.write_text(weights_text(weights), encoding="utf-8")
    document = {
        "rows": rows,
        "weights": dict(weights),
        "tests": tests,
        "out": str(out) if out else None,
        "seconds": round(time.perf_counter() - started, 3),
    }
    on.show(document, _recalls(rows), _weights(weights, packaged), *([_tested(tests)] if tests else []))
    if out is not None:
        on.say(f"weights: {out}")
    return ExitCode.DONE


def _tests(without: Sequence[LeftOut], with_cosines: Mapping[str, Sequence[LeftOut]]) -> list[dict[str, Any]]:
    """Page recall of questions of files, companies left out: with cosines of each kind against without."""
    tests = []
    for name, of in with_cosines.items():
        pairs = [(one.recall, other.recall) for one, other in zip(of, without, strict=True)]
        asked = [each.example.question.question_type != LOOKUP for each in without]
        for kind, wanted in (("questions of files", True), (f"{LOOKUP}s", False)):
            chosen = [pair for pair, of_file in zip(pairs, asked, strict=True) if of_file is wanted]
            if chosen:
                ours, theirs = map(list, zip(*chosen, strict=True))
                test = asdict(paired_test(ours, theirs))
                means = {"with": fmean(ours), "without": fmean(theirs)}
                tests.append({"questions": kind, "cosines": name, "n": len(chosen), **means, **test})
    return tests


def _tested(tests: Sequence[dict[str, Any]]) -> Table:
    table = listing("Questions", "Cosines", *map(right, ("n", "Without", "With", "Differing", "p")))
    table.caption = "page recall of the first five pages; weights and encoder fitted without the company asked about"
    for each in tests:
        shares = (f"{100 * each[name]:.1f}" for name in ("without", "with"))
        found = (str(each["differing"]), f"{each['p_value']:.3f}")
        table.add_row(each["questions"], each["cosines"], str(each["n"]), *shares, *found)
    return table


def _likeness(workspace: Workspace, encoder: str) -> Likeness:
    strategy = build_strategy("default-dense", workspace, Settings(encoder=encoder), Models(notify=warn))
    assert isinstance(strategy, Staged) and strategy.likeness is not None
    of = strategy.likeness.of
    return lambda question, query, doc_ids: of(query, doc_ids)


def _names(sets: dict[Path, tuple[FinanceBenchQuestion, ...]]) -> dict[str, tuple[str, ...]]:
    """The rows that a question counts in, by its id: its file's and its kind's."""
    return {
        question.id: (path.stem, f"{path.stem}: {question.question_type}")
        for path, of_file in sets.items()
        for question in of_file
    }


def _recalls(rows: Sequence[dict[str, Any]]) -> Table:
    table = listing("Questions", *map(right, ("n", "Searched", "Packaged", "Fitted", "Left out")))
    table.caption = (
        "page recall of the first five pages; searched: share of gold pages in the filings found; "
        "left out: fitted without the company asked about"
    )
    for row in sorted(rows, key=lambda row: str(row["questions"])):
        table.add_row(row["questions"], str(row["n"]), *(f"{100 * row[name]:.1f}" for name in _SHARES))
    return table


def _weights(weights: PageWeights, packaged: PageWeights) -> Table:
    table = listing("Feature", right("Packaged"), right("Fitted"))
    for name, weight in weights.items():
        table.add_row(name, f"{packaged[name]:.2f}", f"{weight:.2f}")
    return table
