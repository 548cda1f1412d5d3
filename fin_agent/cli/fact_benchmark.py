"""`fin-agent eval facts`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.streams import show, show_json
from fin_agent.evaluation.fact_search import Wording, questions_from_tags, score_families, score_search
from fin_agent.presentation.plain import listing, right
from fin_agent.tools.narrowing import company_named


def run_facts(companies: Sequence[str], given: Path | None, *, count: int, seed: int, as_json: bool) -> ExitCode:
    """Search for tagged figures of an index: by wording, of wholes and of parts, with their tags and without."""
    rows: list[dict[str, object]] = []
    with opened(given) as workspace:
        keys = [company_named(name, workspace).key for name in companies]
        for tags in (True, False):
            for wording in Wording:
                for of_parts in (False, True):
                    if wording is Wording.CONCEPT and not tags:
                        continue  # without tags nothing has these words
                    asked = questions_from_tags(
                        workspace, wording, of_parts=of_parts, most=count, seed=seed, companies=keys
                    )
                    score = score_search(workspace, asked, tags=tags)
                    rows.append({"tags": tags, "wording": wording.value, "of_parts": of_parts, **asdict(score)})
        families = score_families(workspace, companies=keys)
    if as_json:
        show_json({"searches": rows, "families": families})
        return ExitCode.DONE
    numbers = ("asked", "first", "in_five", "sure", "sure_and_wrong")
    table = listing("tags", "words of the", "of", *(right(name.replace("_", " ")) for name in numbers))
    for row in rows:
        told = ("seen" if row["tags"] else "hidden", str(row["wording"]), "parts" if row["of_parts"] else "companies")
        table.add_row(*told, *(str(row[name]) for name in numbers))
    said = ", ".join(f"{name} {number}" for name, number in families.items())
    show(table, Text(f"families of parts: {said}"))
    return ExitCode.DONE
