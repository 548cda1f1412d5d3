"""The names that `import fin_agent` offers, and what that import does not bring in."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fin_agent
import fin_agent.integrations
import fin_agent.tools

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


@pytest.mark.parametrize("package", [fin_agent, fin_agent.tools, fin_agent.integrations])
def test_other_names_are_said_to_be_missing(package: object) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing  # type: ignore[attr-defined]


def test_names_of_the_packages_are_those_of_the_whole() -> None:
    assert set(fin_agent.integrations.__all__) | set(fin_agent.tools.__all__) <= set(fin_agent.__all__)
    assert fin_agent.FinAgentToolkit is fin_agent.tools.FinAgentToolkit
    assert fin_agent.FinAgentRetriever is fin_agent.integrations.FinAgentRetriever


@pytest.mark.parametrize("module", ["fin_agent", "fin_agent.tools", "fin_agent.integrations"])
def test_importing_brings_in_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_tools_and_retriever_need_neither_torch_nor_a_loader(sample_index: object) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from fin_agent import FinAgentRetriever, FinAgentToolkit, ingest_documents\n"
        f"FinAgentToolkit(index=Path({str(sample_index)!r})).get_tools()\n"
        f"FinAgentRetriever(index=Path({str(sample_index)!r})).invoke('net income')\n"
        "print(*[name for name in ('torch', 'pandas', 'sentence_transformers', 'langchain_community', 'langchain')"
        " if name in sys.modules])\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
