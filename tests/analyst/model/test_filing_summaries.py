"""Summaries of filings by a model: what their pages do not say does not get in."""

from __future__ import annotations

import json

import pytest

from fin_agent.analyst.model.filing_summaries import (
    ModelSummarizer,
    is_model_unavailable,
)
from fin_agent.index.protocol import FilingRecord
from fin_agent.workspace import Workspace
from tests.analyst.model.conftest import Script

FILING = "harborlight_2023_10k"
NAME = "Harborlight Instruments, Inc."


@pytest.fixture
def record(workspace: Workspace) -> FilingRecord:
    return workspace.index.filing(FILING)


def reply(**changed: object) -> str:
    said = {"company": NAME, "also_named": [], "form": "10-K", "period": "fiscal 2023", "period_end": "2023-12-31"}
    return json.dumps({**said, "summary": "Annual report of a maker of instruments.", **changed})


def test_the_rules_lines_stay_and_the_models_come_after(workspace: Workspace, record: FilingRecord) -> None:
    model = Script(reply())
    summarizer = ModelSummarizer(model.caller, workspace)
    made = summarizer.make(record)
    assert made.by_model and made.notes == ()
    assert made.text == f"{record.summary}\nAnnual report of a maker of instruments."
    assert summarizer.by_rules(record) == record.summary and not summarizer.is_written_by_model(record)
    assert model.prompts[0].count("</page-") == 3 and 'number="1"' in model.prompts[0]


@pytest.mark.parametrize(
    ("changed", "noted"),
    [
        (
            {"summary": "Sales were 987654 dollars."},
            "left out the summary, for numbers that are not on the first pages",
        ),
        ({"summary": "Quillmark Stores, Inc. sells."}, "companies that are not on the first pages: Quillmark Stores"),
        ({"summary": "…"}, "left out the summary, for it is empty"),
    ],
)
def test_what_the_pages_do_not_say_is_left_out(
    changed: dict[str, object], noted: str, workspace: Workspace, record: FilingRecord
) -> None:
    made = ModelSummarizer(Script(reply(**changed)).caller, workspace).make(record)
    assert made.text == record.summary and not made.by_model and not made.model_unavailable
    assert noted in made.notes[0]


def test_names_stand_on_the_pages_or_are_left_out(workspace: Workspace, record: FilingRecord) -> None:
    made = ModelSummarizer(Script(reply(also_named=["Acme Widgets", "HARBORLIGHT"])).caller, workspace).make(record)
    assert made.by_model and "Acme" not in made.text
    assert made.notes == ("left out names that are not on the first pages: Acme Widgets",)


def test_a_model_out_of_reach_leaves_the_rules_summary(
    workspace: Workspace, record: FilingRecord, silent: Script
) -> None:
    summarizer = ModelSummarizer(silent.caller, workspace)
    made = [summarizer.make(record) for _ in range(2)]
    assert made[0].text == record.summary and made[0].model_unavailable and "refused" in made[0].notes[0]
    assert is_model_unavailable(made) and not is_model_unavailable(made[:1])
