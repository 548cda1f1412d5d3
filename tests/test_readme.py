"""What the README says of the demo is what the Makefile does; tests/docs runs its blocks with those of the guides."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_three_transcripts_are_those_of_the_demo() -> None:
    asked = set(re.findall(r'\$\(ASK\) "([^"]+)"', (ROOT / "Makefile").read_text(encoding="utf-8")))
    assert set(re.findall(r"^\$ fin-agent ask \"([^\"]+)\"$", README, re.M)) == asked
    assert len(asked) == 3


def test_what_was_read_is_shown() -> None:
    assert re.findall(r"^\$ fin-agent (\w+) quillmark", README, re.M) == ["show", "check"]
    assert len(re.findall(r"^fin-agent show .* --image \S+\.png", README, re.M)) == 1
