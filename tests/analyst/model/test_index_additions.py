"""Summaries of filings and nodes of trees by a model: what filings do not say does not get in, and rules stand in."""

from __future__ import annotations

import json

import pytest

from fin_agent.analyst.model.descriptions import ModelNodeWriter, ModelSummarizer
from fin_agent.index.protocol import FilingRecord
from fin_agent.models import ModelError
from fin_agent.retrieval.fingear.tree_building import QUESTIONS, Chunk, write_by_rules
from fin_agent.workspace import Workspace
from tests.analyst.model.clients import client
from tests.analyst.model.conftest import Script

FILING = "harborlight_2023_10k"
NAME = "Harborlight Instruments, Inc."


@pytest.fixture
def record(workspace: Workspace) -> FilingRecord:
    return workspace.index.filing(FILING)


def reply(**changed: object) -> str:
    said = {"company": NAME, "also_named": []}
    return json.dumps({**said, "summary": "Annual report of a maker of instruments.", **changed})


def test_the_rules_lines_stay_and_the_models_come_after(workspace: Workspace, record: FilingRecord) -> None:
    model = Script(reply())
    summarizer = ModelSummarizer(model.client, workspace)
    text, notes = summarizer.make(record)
    assert notes == ()
    assert text == f"{record.summary}\nAnnual report of a maker of instruments."
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
    text, notes = ModelSummarizer(Script(reply(**changed)).client, workspace).make(record)
    assert text is None and noted in notes[0]


def test_names_stand_on_the_pages_or_are_left_out(workspace: Workspace, record: FilingRecord) -> None:
    model = Script(reply(also_named=["Acme Widgets", "HARBORLIGHT"]))
    text, notes = ModelSummarizer(model.client, workspace).make(record)
    assert text is not None and "Acme" not in text
    assert notes == ("left out names that are not on the first pages: Acme Widgets",)


def test_rubbish_leaves_the_rules_summary_and_a_model_out_of_reach_is_an_error(
    workspace: Workspace, record: FilingRecord, silent: Script
) -> None:
    text, (note,) = ModelSummarizer(Script("rubbish").client, workspace).make(record)
    assert text is None and note.startswith("the rules' summary stays: two replies could not be used")
    with pytest.raises(ModelError, match="refused"):
        ModelSummarizer(silent.client, workspace).make(record)


CHUNKS = [
    Chunk((0,), "Our stores sell ropes.", ("Net sales",), ("Stores",)),
    Chunk((1, 2), "Lamps are sold in winter. " * 2_000, (), ()),
]


def test_a_model_writes_what_a_node_holds_from_all_chunks_below_it() -> None:
    asked = [f"What of {subject}?" for subject in ("ropes", "ropes", "lamps", "sales", "winter", "stores", "more")]
    held = {"title": "Ropes\nand lamps", "summary": "What the stores sell.", "questions": asked}
    asking, model = client({"*": json.dumps(held)})
    writer = ModelNodeWriter(asking)
    node = writer.write(CHUNKS)
    assert (node.title, node.summary) == ("Ropes and lamps", "What the stores sell.")
    assert node.questions == tuple(dict.fromkeys(asked))[:QUESTIONS] and writer.by_rules == 0
    assert model.calls[0].role == "tree_node" and model.calls[0].text.count('number="') == 2
    assert len(model.calls[0].text) < 20_000, "a long chunk leaves room for the others"


@pytest.mark.parametrize("reply", ["no JSON", '{"title": "", "summary": " ", "questions": ["Q?"]}', "{}"])
def test_rules_write_a_node_for_which_the_model_gives_nothing(reply: str) -> None:
    writer = ModelNodeWriter(client({"*": reply})[0])
    assert writer.write(CHUNKS) == write_by_rules(CHUNKS) and writer.by_rules == 1
