"""What runs with the lowest and with the highest versions of what this package builds on: an environment for each.

    python tests/versions.py [lowest highest adapters] [--keep DIR]

`lowest` is each lower bound of pyproject.toml (uv's `lowest-direct`), `highest` what the package index has of what is
allowed, `adapters` the same beside langchain-mcp-adapters, which holds mcp at version 1. In each environment the
examples and the tests of threads, tools and MCP run. It takes minutes and the network: `make test-versions`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = ("langgraph", "langchain", "langchain-core", "langchain-openai", "pydantic", "pymupdf", "mcp", "starlette")
TESTS = (
    *("tests/examples/test_examples.py", "tests/graphs/test_kept_threads.py", "tests/tools/test_toolkit.py"),
    *("tests/graphs/test_context_schema.py", "tests/graphs/chat/test_by_rules.py"),
    *("tests/serving/test_mcp_sdks.py", "tests/integrations", "tests/test_stumbles.py"),
)
EXTRAS = "chat,mcp,serve"
KINDS: dict[str, list[str]] = {
    "lowest": ["--resolution", "lowest-direct"],
    "highest": [],
    "adapters": ["langchain-mcp-adapters"],
}
"""What is asked of uv beside the package itself."""


def tried(kind: str, folder: Path) -> bool:
    """Whether all of it runs."""
    python = folder / kind / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / kind], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
    uv = [python, "-m", "uv", "--quiet", "pip"]
    wanted = ["--editable", f"{ROOT}[{EXTRAS}]", "pytest>=9", "httpx>=0.28", *KINDS[kind]]
    if subprocess.run([*uv, "install", "--python", python, "--upgrade", *wanted], check=False).returncode:
        return False
    listed = subprocess.run([*uv, "list", "--python", python], capture_output=True, text=True, check=True).stdout
    print(kind, *(line for line in listed.splitlines() if line.split()[0].lower() in SHOWN), sep="\n  ", flush=True)
    return subprocess.run([python, "-m", "pytest", "-q", *TESTS], cwd=ROOT, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="|".join(KINDS))
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    if unknown := set(given.kinds) - set(KINDS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    with tempfile.TemporaryDirectory() as folder:
        outcomes = {kind: tried(kind, given.keep or Path(folder)) for kind in given.kinds or KINDS}
    print(outcomes)
    return 0 if all(outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
