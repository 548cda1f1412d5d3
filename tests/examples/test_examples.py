"""Every example runs as it stands, over the sample index, and prints what it is there to show."""

from __future__ import annotations

import os
import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWS = {
    "answers_in_a_chain.py": (
        "Ada: Net income of Harborlight Instruments, Inc. for FY2023: $544 million. [harborlight_2023_10k page 9]",
        "Cleo: not answered: research and development of Quillmark Stores, Inc. for FY2024",
    ),
    "batch_over_a_csv.py": (
        "Tellurond Semiconductor Corporation for FY2022: $6,963 million.  [tellurond_2022_10k p. 9]",
        "not answered: research and development of Quillmark Stores, Inc. for FY2024  []",
        "written: answers.csv",
    ),
    "chat_model_of_your_own.py": (
        "In November 2024 we settled the patent suit of Corvane Metrology Ltd. for $6 million",
        "harborlight_2024_10k page 5",
        "reasoning by house:house-large: 1 call",
    ),
    "chat_with_memory.py": (
        "    (What was Tellurond's net income in FY2022?)\n  Net income of Tellurond Semiconductor Corporation",
        "There is no earlier question that this one could continue.",
        "(What was Tellurond's net income as a percentage of revenue in FY2022?)",
    ),
    "filings_from_a_loader.py": (
        "[('larkspur_2023', 'added', '')]",
        "primarily due to higher prices of industrial pumps",
        "Larkspur Pumps, Inc. 10-K 2023 larkspur_2023/2",
    ),
    "lexicon_of_your_own.py": (
        "Stock burden of Harborlight Instruments, Inc. for FY2023: ((496 + 522) / 2) / 3,533 = 14.4%.",
        "stock burden is average inventories over revenue",
        "Takings of Quillmark Stores, Inc. for FY2024: $5,272,046 thousand.",
    ),
    "retriever_in_a_chain.py": ("Ines K. Calloway was appointed President and CEO [tellurond_2024_8k, page 2].",),
    "subgraph_in_your_graph.py": (
        "read_request\n  rewrite_query\n  search_documents",
        "-> Gross margin of Tellurond Semiconductor Corporation for FY2024: 4,307 / 7,464 = 57.7%."
        " (Sources: tellurond_2024_10k p. 9)",
        "ask_a_colleague\n-> Please find: research and development of Quillmark Stores, Inc. for FY2024",
    ),
    "ten_lines_agent.py": ("Harborlight earned $544 million in FY2023.",),
    "ten_lines_chain.py": ("Net sales were $3,533 million.",),
    "ten_lines_chat.py": ("FY2024: $3,763 million.", "FY2023: $3,533 million.", "Quillmark Stores, Inc."),
    "ten_lines_http.py": ("Net income of Harborlight Instruments, Inc. for FY2023: $544 million.",),
    "ten_lines_mcp.py": ("Value: 544.0 (USD millions).",),
    "ten_lines_subgraph.py": ("FY2023: $544 million.\nRevenue of Tellurond",),
    "tools_for_an_agent.py": (
        "ai: ['answer_question', 'answer_question']",
        "answer_question: 3,763.0 USD millions [harborlight_2024_10k page 9]",
        "ai: Harborlight's net sales were $3,763 million",
    ),
    "tools_by_hand.py": (
        "--- page_search (success)",
        "Each of its 3 numbers has a source.",
        "15.4% from page 9: Net income, FY2023, page 9: Net sales, FY2023",
        "Did you mean 'harborlight_2023_10k'",
    ),
}


NEEDS = {
    "ten_lines_agent.py": "langchain",
    "ten_lines_chat.py": "langgraph.checkpoint.sqlite",
    "ten_lines_http.py": "fastapi",
    "ten_lines_mcp.py": "mcp",
    "ten_lines_subgraph.py": "langgraph.checkpoint.sqlite",
    "tools_for_an_agent.py": "langchain",
}
"""What comes with an extra."""


def test_every_example_is_run() -> None:
    assert {file.name for file in EXAMPLES.glob("*.py")} == set(SHOWS)


def test_the_list_of_examples_names_each_and_no_other() -> None:
    listed = re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\) \|", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.M)
    assert all(shown == target for shown, target in listed)
    files = [file.name for file in EXAMPLES.iterdir() if file.suffix in {".py", ".ipynb"}]
    assert [shown for shown, _ in listed] == sorted(files)


@pytest.mark.parametrize("name", SHOWS)
def test_it_runs_and_shows(
    name: str,
    sample_index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="needs an extra")
    (tmp_path / "my-index").symlink_to(sample_index)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name])
    monkeypatch.setenv("FIN_AGENT_INDEX", str(sample_index))
    monkeypatch.setenv("FIN_AGENT_RECORD", "0")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    ran = capfd.readouterr()
    for line in SHOWS[name]:
        assert line in ran.out
    assert ran.err == ""


@pytest.mark.parametrize("name", SHOWS)
def test_it_is_short_enough_to_be_read(name: str) -> None:
    lines = (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
    told = [line for line in lines[1:] if line.strip() and not line.startswith(("from ", "import "))]
    assert len(lines) < 80 and (len(told) <= 11 or not name.startswith("ten_lines"))
