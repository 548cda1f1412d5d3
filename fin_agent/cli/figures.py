"""`fin-agent facts`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError
from rich.console import Group
from rich.text import Text

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.streams import show, show_json
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.lexicon.periods import parse_periods
from fin_agent.presentation.plain import fixed, listing, one_line, right
from fin_agent.tools.arguments import FactSearchArguments
from fin_agent.tools.artifacts import FactFound, FactsListed
from fin_agent.tools.context import SearchContext
from fin_agent.tools.operations import facts_found


def list_facts(asked: Mapping[str, object], period: str | None, given: Path | None, *, as_json: bool) -> ExitCode:
    """List what fact search finds. Raises QuestionError for a period or option that cannot be read."""
    year, quarter = _period(period)
    try:
        arguments = FactSearchArguments.model_validate({**asked, "fiscal_year": year, "quarter": quarter})
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise QuestionError(
            f"--{problem['loc'][0]}: {problem['msg']}", remedy="See `fin-agent facts --help`"
        ) from error
    with opened(given) as workspace:
        listed = facts_found(SearchContext.of(workspace, Settings()), arguments)
    if as_json:
        show_json(listed.model_dump(mode="json"))
    else:
        show(_view(listed))
    return ExitCode.DONE


def _period(period: str | None) -> tuple[int | None, int | None]:
    if period is None:
        return None, None
    read = parse_periods(period)
    if len(read.quarters) == 1:
        return read.quarters[0]
    if len(read.years) == 1 and not read.quarters:
        return read.years[0], None
    raise QuestionError(f"{period!r} is no period", remedy="Write one as FY2023, 2023 or Q2 FY2023")


def _view(listed: FactsListed) -> Group:
    if not listed.facts:
        return Group(Text("No figure fits.", style="yellow"))
    shown = [*listed.facts, *([listed.total] if listed.total else [])]
    beside = {"lacks": [fact.missing for fact in shown], "has beside": [fact.extra for fact in shown]}
    told = {header: words for header, words in beside.items() if any(words)}
    table = listing(
        "line", "of", fixed("period"), right("amount"), fixed("unit"), "filing", right("page"), *told
    )  # fmt: skip
    for at, fact in enumerate(shown):
        table.add_row(*map(one_line, (*_cells(fact), *(", ".join(words[at]) for words in told.values()))))
    return Group(table, Text(_said(listed), style="green" if listed.sure else "yellow"))


def _cells(fact: FactFound) -> tuple[str, ...]:
    scale = {1: "", 1_000: " thousands", 1_000_000: " millions", 1_000_000_000: " billions"}.get(fact.scale, "")
    period = f"Q{fact.quarter} FY{fact.fiscal_year}" if fact.quarter else f"FY{fact.fiscal_year}"
    span = "" if fact.months in (0, 3, 12) else f", {fact.months} months"
    in_text = fact.source == "text"
    return (
        " > ".join((*fact.section, fact.label)),
        fact.part or ("not said" if in_text else "whole company"),
        f"{period}{span}" if fact.fiscal_year else "not said",
        f"{fact.amount:,}",
        f"{fact.unit}{scale}",
        fact.doc_id,
        str(fact.page_number),
    )


def _said(listed: FactsListed) -> str:
    if listed.kind is not None or listed.total is not None:
        left_out = "".join(f"\nLeft out: {name} ({why})" for name, why in listed.dropped)
        return ("The parts add up to the whole." if listed.sure else "The parts do not add up to a whole.") + left_out
    if listed.sure:
        return "The first line is what the phrase says."
    if listed.rivals:
        return f"Unsure: the first {listed.rivals} lines fit alike and say different things."
    return "Unsure: no line has all of the words."
