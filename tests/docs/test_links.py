"""Links of the README and of the guides lead somewhere, to the heading too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, name_of, pages

ALL = [*pages(), ROOT / "docs" / "cli.md", ROOT / "CHANGELOG.md"]
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!https?:|mailto:)(?P<target>[^)\s#]*)(?:#(?P<heading>[^)\s]*))?\)")


@pytest.mark.parametrize("page", ALL, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    words = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
    for found in _LINK.finditer(words):
        target = page.parent / found["target"] if found["target"] else page
        assert target.exists(), f"{name_of(page)}: {found[0]}"
        if found["heading"]:
            assert found["heading"] in headings(target), f"{name_of(page)}: {found[0]}"


def headings(page: Path) -> set[str]:
    """As GitHub names them in an address."""
    lines = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def test_each_guide_can_be_found() -> None:
    """From the README, or from a page that the README leads to."""
    named = "".join(
        page.read_text(encoding="utf-8") for page in (ROOT / "README.md", ROOT / "docs" / "architecture.md")
    )
    guides = [page.name for page in (ROOT / "docs").glob("*.md")]
    assert [guide for guide in guides if guide not in named] == []
