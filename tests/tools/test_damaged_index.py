"""No tool hands out a figure or a text that is not as it was written: whoever repeats it would be believed."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace
from tests.tools.conftest import called

FILING = "harborlight_2023_10k"


@pytest.mark.parametrize(
    ("statement", "tool", "arguments"),
    [
        ("UPDATE facts SET amount = '9999'", "fact_search", {"phrase": "net income", "company": "Harborlight"}),
        ("UPDATE pages SET text = replace(text, '3', '8')", "read_page", {"doc_id": FILING, "pages": "9"}),
        ("UPDATE passages SET text = replace(text, '3', '8')", "page_search", {"query": "Harborlight net income"}),
        ("UPDATE passages SET text = replace(text, '3', '8')", "card_extraction", {"doc_id": FILING, "pages": "9"}),
    ],
)
def test_what_was_changed_is_told_and_not_handed_out(
    tmp_path: Path, sample_index: Path, statement: str, tool: str, arguments: dict[str, str]
) -> None:
    shutil.copytree(sample_index, tmp_path / "index")
    with closing(sqlite3.connect(tmp_path / "index" / "filings.sqlite")) as connection:
        assert connection.execute(statement).rowcount
        connection.commit()
    tools = FinAgentToolkit(workspace=Workspace.open(tmp_path / "index")).get_tools()
    told = called({each.name: each for each in tools}, tool, arguments)
    assert told.status == "error" and "the index is damaged" in told.text and "index repair" in told.text
