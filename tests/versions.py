"""What runs with the lowest and with the highest versions of what this package builds on: an environment for each.

    python tests/versions.py [lowest|highest ...] [--keep DIR]

The lowest are those that pyproject.toml allows, the highest what the package index has. In each environment the
examples in ten lines and the tests of threads and tools run. It takes minutes and the network: `make test-versions`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOVING = ("langgraph", "langchain-core", "pymupdf", "mcp")
TESTS = (
    *("tests/examples/test_examples.py", "tests/graphs/test_kept_threads.py", "tests/tools/test_toolkit.py"),
    *("tests/graphs/test_context_schema.py", "tests/graphs/chat/test_by_rules.py"),
)
EXTRAS = "chat,mcp,serve"


def requirements() -> dict[str, str]:
    """name -> what pyproject.toml says of it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    said = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    named = (re.match(r"([\w-]+)(?:\[[^\]]*\])?(.*)", each) for each in said)
    return {found[1]: found[2] for found in named if found}


def pins(kind: str) -> list[str]:
    """What is asked for beside the package itself."""
    if kind == "highest":  # that is allowed
        return [f"{name}{requirements()[name]}" for name in MOVING]
    lowest = {name: re.search(r">=([\w.]+)", requirements()[name]) for name in MOVING}
    return [f"{name}=={found[1]}" for name, found in lowest.items() if found]


def tried(kind: str, folder: Path) -> bool:
    """Whether all of it runs."""
    python = folder / kind / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / kind], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--upgrade"]
    subprocess.run([*install, "--editable", f"{ROOT}[{EXTRAS}]", "pytest", "httpx", *pins(kind)], check=True)
    listed = subprocess.run([python, "-m", "pip", "list"], capture_output=True, text=True, check=True).stdout
    print(kind, *(line for line in listed.splitlines() if line.split()[0].lower() in MOVING), sep="\n  ", flush=True)
    return subprocess.run([python, "-m", "pytest", "-q", *TESTS], cwd=ROOT, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=["lowest", "highest", []], default=["lowest", "highest"])
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = {kind: tried(kind, given.keep or Path(folder)) for kind in given.kinds}
    print(outcomes)
    return 0 if all(outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
