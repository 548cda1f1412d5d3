"""The sample filings as material for questions, and what their figures are by the list that made them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from fin_agent.evaluation import Family, QuestionKind
from fin_agent.evaluation.generated.question_generators import generated_questions
from fin_agent.evaluation.generated.question_material import QuestionMaterial, read_folder
from fin_agent.evaluation.generated.truth import GeneratedQuestion, SlotKey
from fin_agent.evaluation.xbrl_truth import TaggedFiling
from fin_agent.workspace import Workspace

WRITTEN_AS = {
    "capital_expenditures": "capital_expenditures",
    "cash_and_cash_equivalents": "cash",
    "cash_from_operations": "operating_cash_flow",
    "current_assets": "current_assets",
    "goodwill": "goodwill",
    "net_income": "net_income",
    "research_and_development": "research_and_development",
    "revenue": "revenue",
    "selling_general_and_administrative": "selling_general_administrative",
    "total_assets": "total_assets",
}
"""Metrics as the lexicon and as `expected.json` call them."""


@pytest.fixture(scope="session")
def material(workspace: Workspace) -> QuestionMaterial:
    """The index of the sample filings."""
    return QuestionMaterial(workspace)


@pytest.fixture(scope="session")
def questions(workspace: Workspace) -> tuple[GeneratedQuestion, ...]:
    """A set of every family."""
    counts = {Family.MULTI_FILING: 100, Family.UNANSWERABLE: 40, Family.LOOKUP: 60}
    return generated_questions(QuestionMaterial(workspace), tuple(Family), 7, counts=counts)


@pytest.fixture(scope="session")
def written(workspace: Workspace, sample_filings: Path) -> Callable[[SlotKey], set[float]]:
    """The amounts that the sample filings were made with for a slot of a full year, without signs."""
    filings = json.loads((sample_filings / "expected.json").read_text(encoding="utf-8"))
    amounts: dict[tuple[str, str, int], set[float]] = {}
    for filing in filings:
        if filing["form"] != "10-K":
            continue
        for figure in filing["figures"]:
            for value in figure["values"]:
                ago = (date.fromisoformat(filing["period_end"]) - date.fromisoformat(value["end"])).days / 365.25
                if value["months"] in (0, 12) and figure["statement"]:
                    key = (
                        workspace.directory.owners[filing["doc_id"]],
                        figure["metric"],
                        filing["fiscal_year"] - round(ago),
                    )
                    amounts.setdefault(key, set()).add(abs(float(value["amount"]) * figure["scale"]))

    def of(slot: SlotKey) -> set[float]:
        return set(amounts.get((slot.company, WRITTEN_AS[slot.metric], slot.fiscal_year), ()))

    return of


@pytest.fixture(scope="session")
def html_workspace(sample_html_index: Path) -> Workspace:
    """The index of the sample filings in HTML."""
    return Workspace.open(sample_html_index)


@pytest.fixture(scope="session")
def tagged(html_workspace: Workspace, sample_html: Path) -> dict[str, TaggedFiling]:
    """The tagged sample filings, by doc_id."""
    return {filing.doc_id: filing for filing in read_folder(sample_html, html_workspace)[0]}


@pytest.fixture(scope="session")
def tagged_material(html_workspace: Workspace, tagged: dict[str, TaggedFiling]) -> QuestionMaterial:
    """What questions are drawn from."""
    return QuestionMaterial(html_workspace, tuple(tagged.values()))


@pytest.fixture(scope="session")
def asked(tagged_material: QuestionMaterial) -> tuple[GeneratedQuestion, ...]:
    """Questions of every kind."""
    return generated_questions(tagged_material, tuple(QuestionKind), 3, counts=dict.fromkeys(QuestionKind, 40))
