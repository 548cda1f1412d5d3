"""Nodes of trees by a model: all chunks below a node are shown, and rules write where nothing usable comes back."""

from __future__ import annotations

import json

import pytest

from fin_agent.analyst.model.tree_node_writer import ModelNodeWriter
from fin_agent.retrieval.fingear.tree_building import QUESTIONS, Chunk, RuleWriter
from tests.analyst.model.clients import client

CHUNKS = [
    Chunk((0,), "Our stores sell ropes.", ("Net sales",), ("Stores",)),
    Chunk((1, 2), "Lamps are sold in winter. " * 2_000, (), ()),
]


def test_a_model_writes_what_a_node_holds_from_all_chunks_below_it() -> None:
    asked = [f"What of {subject}?" for subject in ("ropes", "ropes", "lamps", "sales", "winter", "stores", "more")]
    held = {"title": "Ropes\nand lamps", "summary": "What the stores sell.", "questions": asked}
    asking, model = client({"*": json.dumps(held)})
    writer = ModelNodeWriter(asking, "m")
    node = writer.write(CHUNKS)
    assert (node.title, node.summary) == ("Ropes and lamps", "What the stores sell.")
    assert node.questions == tuple(dict.fromkeys(asked))[:QUESTIONS] and writer.by_rules == 0
    assert model.calls[0].role == "tree_node" and model.calls[0].text.count('number="') == 2
    assert len(model.calls[0].text) < 20_000, "a long chunk leaves room for the others"


@pytest.mark.parametrize("reply", ["no JSON", '{"title": "", "summary": " ", "questions": ["Q?"]}', "{}"])
def test_rules_write_a_node_for_which_the_model_gives_nothing(reply: str) -> None:
    writer = ModelNodeWriter(client({"*": reply})[0], "m")
    assert writer.write(CHUNKS) == RuleWriter().write(CHUNKS) and writer.by_rules == 1
