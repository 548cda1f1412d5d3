"""docs/api.md names what is public, no more and no less, as the code says it."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fin_agent

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "api.md"
NAMED = re.compile(
    r"^### `(?P<short>\w+)`\n\n`from (?P<module>[\w.]+) import (?P=short)`|^\| `(?P<row>fin_agent[\w.]+)", re.M
)
NEED_NO_EXAMPLE = {"Answer", "FinAgentError", "IngestReport", "ModelSettings", "Settings", "astream_answer", "ingest"}
"""Results, and what the example of a neighbour shows."""


@cache
def writer() -> ModuleType:
    spec = util.spec_from_file_location("write_api", ROOT / "docs" / "write_api.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for the module that they are of
    spec.loader.exec_module(module)
    return module


def documented() -> list[str]:
    page = PAGE.read_text(encoding="utf-8")
    return [found["row"] or f"{found['module']}.{found['short']}" for found in NAMED.finditer(page)]


def imported_in_words_and_examples() -> Iterator[tuple[str, str]]:
    """(file, name) of what README, guides and examples import of this package."""
    texts = {file: file.read_text(encoding="utf-8") for file in (ROOT / "examples").glob("*.py")}
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        if page != PAGE:
            texts[page] = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S))
    for file, code in texts.items():
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "fin_agent":
                yield from ((file.name, f"{node.module}.{alias.name}") for alias in node.names)


def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == writer().reference(), "run: python docs/write_api.py > docs/api.md"


def test_every_public_name_is_documented_once() -> None:
    names = documented()
    assert len(names) == len(set(names))
    assert sorted(set(writer().public_names()) - set(names)) == [], "give it a group in docs/write_api.py"


def test_every_documented_name_is_there() -> None:
    for name in documented():
        module, _, short = name.rpartition(".")
        assert hasattr(import_module(module), short), name


def test_a_new_name_without_a_place_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fin_agent, "__all__", [*fin_agent.__all__, "another"])
    assert set(writer().public_names()) - set(documented()) == {"fin_agent.another"}


def test_what_guides_and_examples_import_is_documented() -> None:
    public = set(documented())
    by_short = {name.rpartition(".")[2]: import_module(name.rpartition(".")[0]) for name in public}
    unknown = [
        (file, name)
        for file, name in imported_in_words_and_examples()
        if name not in public and not _same(name, by_short.get(name.rpartition(".")[2]))
    ]
    assert unknown == []


def _same(name: str, home: ModuleType | None) -> bool:
    """Whether it is a documented thing, imported from where it is made."""
    module, _, short = name.rpartition(".")
    return home is not None and getattr(import_module(module), short) is getattr(home, short)


def test_names_of_the_package_have_examples() -> None:
    """The examples themselves are run with all other blocks of the page."""
    sections = re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]
    without = {part.split("`")[1] for part in sections if ">>>" not in part}
    assert without & (set(fin_agent.__all__) - NEED_NO_EXAMPLE) == set()


def test_what_keeps_an_index_is_said_with_all_that_it_takes() -> None:
    """`...` once hid an argument that had to be given, and that nothing explained."""
    page = PAGE.read_text(encoding="utf-8")
    part = page[page.index("## Keeping an index") : page.index("## Tools")]
    for name in ("verify", "repair", "copy_filings"):
        assert f"### `{name}`" in part and f"def {name}(" in part
    assert "(...)" not in part


def test_public_functions_say_what_they_take_give_and_raise() -> None:
    """In Google style, for each function of the package and each method of its classes that no base class explains."""
    lacking = []
    for name in fin_agent.__all__:
        found = getattr(fin_agent, name)
        for function in [found] if inspect.isroutine(inspect.unwrap(found)) else _own_methods(found):
            function = inspect.unwrap(function)
            said = inspect.getdoc(function) or ""
            if said.startswith("See "):
                continue
            signature = inspect.signature(function)
            taken = [each for each in signature.parameters if each not in ("self", "cls")]
            args = said.partition("\nArgs:\n")[2].partition("\n\n")[0]
            lacking += [f"{name}: {function.__name__}({each})" for each in taken if not re.search(rf"\b{each}:", args)]
            if signature.return_annotation not in ("None", None) and not re.search(r"^(Returns|Yields):$", said, re.M):
                lacking.append(f"{name}: what {function.__name__} returns")
    assert lacking == []


def _own_methods(found: object) -> list[Any]:
    if not inspect.isclass(found) or found is fin_agent.SqliteIndex:  # its methods are those of FilingIndex
        return []
    methods = [
        getattr(each, "__func__", each) for name, each in vars(found).items() if not name.startswith(("_", "model_"))
    ]
    return [each for each in methods if inspect.isfunction(each) and each.__module__.startswith("fin_agent")]
