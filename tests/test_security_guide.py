"""SECURITY.md promises what is there: the tests it names exist, its limits are the real ones."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_tests_it_names_are_there() -> None:
    named = set(re.findall(r"`(tests/[\w/.]+)`", GUIDE))
    assert len(named) > 15
    for name in named:
        place = ROOT / name
        tests = [place] if place.is_file() else sorted(place.glob("test_*.py"))
        assert tests and all("def test_" in test.read_text(encoding="utf-8") for test in tests), name


def test_the_ten_risks_are_walked_through() -> None:
    assert re.findall(r"^\*\*(\d+)\. ", GUIDE, re.M) == [str(number) for number in range(1, 11)]


def test_limits_are_as_told() -> None:
    from fin_agent.downloads.connection import MAX_BYTES
    from fin_agent.index.ingest import READ_LIMITS

    assert (
        f"({READ_LIMITS.seconds:.0f} s)" in GUIDE
        and f"({READ_LIMITS.wait:.0f} s)" in GUIDE
        and f"({READ_LIMITS.memory >> 30} GB)" in GUIDE
    )
    fetching = (ROOT / "docs" / "fetching.md").read_text(encoding="utf-8")
    assert f"larger than {MAX_BYTES // 2**20} MB" in fetching


def test_yaml_makes_plain_values_only() -> None:
    """Tags of YAML that make objects run code: every loader is a safe one."""
    for folder in ("fin_agent", "graphs", "tools", "prompts"):
        for file in (ROOT / folder).rglob("*.py"):
            code = file.read_text(encoding="utf-8")
            tree = ast.parse(code if "yaml" in code else "")
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("yaml."):
                    assert ast.unparse(node.func) not in ("yaml.unsafe_load", "yaml.full_load"), file
                    if ast.unparse(node.func) == "yaml.load":
                        loader = next(keyword.value for keyword in node.keywords if keyword.arg == "Loader")
                        assert "SafeLoader" in ast.unparse(loader) or _is_safe(loader, tree), file


def test_the_settings_of_fetching_are_told() -> None:
    from fin_agent.config import VARIABLES

    fetching = (ROOT / "docs" / "fetching.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(edgar\.\w+)` \| `(FIN_AGENT_\w+)`", fetching, re.M))
    assert told == {name: variable for name, variable in VARIABLES.items() if name.startswith("edgar.")}


def _is_safe(loader: ast.expr, module: ast.Module) -> bool:
    """Whether a loader of YAML is a class of the same module over SafeLoader: that one makes plain values only."""
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    own = classes.get(ast.unparse(loader))
    return own is not None and "SafeLoader" in ast.unparse(own.bases[0])
