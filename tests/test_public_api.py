"""The names that `import fin_agent` offers, and what that import does not bring in."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

import fin_agent

NEVER = (
    *("torch", "pandas", "numpy", "sentence_transformers", "transformers", "scipy", "sklearn", "matplotlib"),
    *("langchain", "langchain_community", "langchain_openai", "openai", "tiktoken", "elasticsearch"),
    *("pymupdf", "fitz", "pypdfium2", "fastapi", "mcp", "IPython"),
)
"""What no answer by rules needs."""
HEAVY = (
    "torch",
    "pandas",
    "numpy",
    "sentence_transformers",
    "langchain_core",
    "langgraph",
    "pymupdf",
    "langchain_community",
)


@pytest.mark.parametrize("name", fin_agent.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(fin_agent, name)


def test_other_names_are_said_to_be_missing() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = fin_agent.nothing


def test_importing_brings_in_nothing_heavy() -> None:
    modules = "fin_agent, fin_agent.tools, fin_agent.integrations, fin_agent.models"
    assert printed_by(f"import sys, {modules}; print(*[name for name in {HEAVY!r} if name in sys.modules])") == []


def test_tools_and_retriever_need_no_extra(sample_index: Path) -> None:
    using = f"""
from pathlib import Path
from fin_agent import FinAgentRetriever, FinAgentToolkit, ingest_documents
assert FinAgentToolkit(index=Path({str(sample_index)!r})).get_tools()
assert FinAgentRetriever(index=Path({str(sample_index)!r})).invoke("net income")
"""
    assert imported_by(using) == []


def test_graphs_and_commands_bring_in_no_extra() -> None:
    modules = "fin_agent.graphs.answer, fin_agent.graphs.exported, fin_agent.cli, fin_agent.tools.toolkit"
    assert imported_by(f"import {modules}") == []


def test_an_answer_by_rules_brings_in_no_extra_and_no_reader_of_files(sample_index: Path) -> None:
    asking = f"""
from pathlib import Path
from fin_agent import AnswerContext, Workspace, answer_question
context = AnswerContext.by_rules(Workspace.open(Path({str(sample_index)!r})))
assert answer_question("What was Harborlight's net income in FY2023?", context).answer.value == 544
"""
    assert imported_by(asking) == []


def test_an_analyst_that_asks_models_is_loaded_where_one_is_named() -> None:
    loaded = "('fin_agent.analyst.model.analyst', 'fin_agent.models.caller', 'fin_agent.retrieval.strategies.registry')"
    code = f"import sys, fin_agent.graphs.answer; print(*[name for name in {loaded} if name in sys.modules])"
    assert printed_by(code) == []


def imported_by(code: str) -> list[str]:
    """Which of `NEVER` are there after `code`, in a process of its own."""
    return printed_by(f"{code}\nimport sys; print(*[name for name in {NEVER!r} if name in sys.modules])")


def printed_by(code: str) -> list[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize(("before", "after"), [((700, 10, 10), (700, 10, 1000)), ((900, 20, 50), (900, 20, 50))])
def test_old_objects_are_looked_through_rarely_unless_the_program_says_how_often(
    sample_index: Path, before: tuple[int, int, int], after: tuple[int, int, int]
) -> None:
    kept = gc.get_threshold()
    try:
        gc.set_threshold(*before)
        fin_agent.Workspace.open(sample_index)
        assert gc.get_threshold() == after
    finally:
        gc.set_threshold(*kept)
