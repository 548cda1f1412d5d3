"""What docs/studio.md shows is so: the drawn graphs, the controls, langgraph.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fin_agent.graphs.exported import answer, chat, rerank, search
from fin_agent.graphs.exported.graphs import ChatControls, Controls, RerankControls, SearchControls

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "studio.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(?P<name>\w+)` \| (?P<default>[^|]*) \| (?P<meaning>.*) \|$", re.M)


def drawn(graph: Any) -> str:
    """As Mermaid, without the descriptions of nodes: they stand in the guide as text."""
    plain = graph.get_graph()
    for name, node in plain.nodes.items():
        plain.nodes[name] = node._replace(metadata=None)
    return str(plain.draw_mermaid()).split("---\n")[-1].strip()


@pytest.mark.parametrize("graph", [answer, search, rerank, chat], ids=lambda graph: graph.name)
def test_graphs_are_drawn_as_they_are(graph: Any) -> None:
    shown = re.search(rf"## The graph `{graph.name}`.*?```mermaid\n(.*?)\n```", GUIDE, re.S)
    assert shown is not None
    assert shown.group(1) == drawn(graph)


@pytest.mark.parametrize(
    ("graph", "controls"),
    [("answer", Controls), ("search", SearchControls), ("rerank", RerankControls), ("chat", ChatControls)],
)
def test_every_control_stands_there_with_its_default_and_meaning(graph: str, controls: type[SearchControls]) -> None:
    section = GUIDE.split(f"## The graph `{graph}`")[1].split("\n## ")[0]
    told = {row["name"]: (row["default"].strip("`"), row["meaning"]) for row in ROW.finditer(section)}
    shared = {} if controls is SearchControls else SearchControls.model_fields
    own = {
        name: (json.dumps(field.get_default(call_default_factory=True)).strip('"'), field.description)
        for name, field in controls.model_fields.items()
        if name not in shared
    }
    assert told == own


def test_langgraph_json_names_each_graph() -> None:
    named = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    for graph in (answer, search, rerank, chat):
        assert named[graph.name]["path"] == f"fin_agent.graphs.exported.graphs:{graph.name}"
        assert f"`{graph.name}`" in GUIDE
