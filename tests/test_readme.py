"""What the guides say of the demo is what the Makefile does; the README stays short. tests/docs runs the blocks."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
QUICKSTART = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
YOUR_FILINGS = (ROOT / "docs" / "your-filings.md").read_text(encoding="utf-8")
MOST_WORDS = 1_300
"""Of the README, without its blocks: the rest belongs in docs/."""


def test_the_three_transcripts_are_those_of_the_demo() -> None:
    asked = set(re.findall(r'\$\(ASK\) "([^"]+)"', (ROOT / "Makefile").read_text(encoding="utf-8")))
    assert set(re.findall(r"^\$ fin-agent ask \"([^\"]+)\"$", QUICKSTART, re.M)) == asked
    assert len(asked) == 3


def test_what_was_read_is_shown() -> None:
    assert re.findall(r"^\$ fin-agent (\w+) quillmark", YOUR_FILINGS, re.M) == ["show", "check"]
    assert len(re.findall(r"^fin-agent show .* --image \S+\.png", YOUR_FILINGS, re.M)) == 1


def test_the_readme_is_short() -> None:
    prose = re.sub(r"^```.*?^```", "", README, flags=re.M | re.S)
    assert len(prose.split()) <= MOST_WORDS


def test_first_runs_stand_beside_the_questions_at_hand() -> None:
    """Figures of questions that the program was developed with are never shown alone."""
    results = README[README.index("## Results") : README.index("## Install")]
    assert results.count("| unseen |") >= 3 and "| at hand |" in results
    assert results.index("| unseen |") < results.index("| at hand |")


def test_the_agpl_stands_beside_the_install_line() -> None:
    assert re.search(r"^pip install \. .*AGPL", README, re.M)
