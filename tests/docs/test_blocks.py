"""Every block of the README and of the guides is run, or is known not to be, with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import Block, blocks_of, name_of, pages
from tests.docs.commands import difference
from tests.docs.following import FOLLOWED, Reader
from tests.docs.kinds import UnknownKindError, commands_in, kind_of
from tests.docs.python_blocks import run_doctest, run_python

WITH_BLOCKS = [page for page in pages() if blocks_of(page)]


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name_of)
def test_what_the_page_shows_is_so(
    page: Path, sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = FOLLOWED[name_of(page)] = Reader(tmp_path, sample_index, monkeypatch, blocks_of(page)).follow()
    assert not done.wrong, "\n\n".join(done.wrong)


def test_readme_and_guides_are_among_them() -> None:
    assert {"README.md", "docs/api.md", "docs/models.md", "docs/lexicon.md", "docs/studio.md"} <= {
        *map(name_of, WITH_BLOCKS)
    }


def reader(tmp_path: Path, index: Path, patch: pytest.MonkeyPatch, text: str, label: str = "") -> list[str]:
    return Reader(tmp_path, index, patch, [Block("page.md", 1, label, text)]).follow().wrong


@pytest.mark.parametrize(
    ("label", "text", "said"),
    [
        ("ruby", "puts 1", "of the kind 'ruby'"),
        ("", "frobnicate --all", "no known kind"),
        ("", "pip install x\nfrobnicate --all", "is no program"),
        ("", "fin-agent frobnicate", "no command 'frobnicate'"),
        ("", "fin-agent ask --frobnicate x", "frobnicate"),
        ("", 'fin-agent ask "What was net income?" --doc nothing', "ends with"),
        ("", "$ fin-agent remove tellurond_2022_10k\nAnother text", "Another text"),
        ("python", "import frobnication", "frobnication"),
        ("python", "print(1 + 1)  # 3", "says '3', gives '2'"),
        ("pycon", ">>> 1 + 1\n3", "Expected"),
        ("toml", "[models]\nfrobnicate = 1", "frobnicate"),
        ("toml", "[frobnication]\nrate = 1", "frobnication"),
        ("yaml", "frobnicate: 1", "what this YAML is for"),
        ("yaml", "metrics:\n  revenue:\n    frobnicate: 1", "frobnicate"),
        ("json", '{"graphs": {"a": "fin_agent:nothing"}}', "fin_agent:nothing"),
        ("json", '{"mcpServers": {"a": {"command": "fin-agent", "args": ["frobnicate"]}}}', "no command"),
    ],
)
def test_what_is_not_so_is_seen(
    label: str, text: str, said: str, sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wrong,) = reader(tmp_path, sample_index, monkeypatch, text, label)
    assert said in wrong


def test_elisions_stand_for_lines_and_nothing_else_does() -> None:
    assert difference("a\n...\nd\n1.25 s", "a\nb\nc\nd\n0.71 s") is None
    assert difference("a\n...", "a\nb") is None
    assert difference("b\n...", "a\nb") is not None
    assert difference("a\n...\nc", "a\nb\nc\nd") is not None
    assert difference("a\nc", "a\nb") is not None


def test_commands_are_taken_apart() -> None:
    (first, second) = commands_in('A=1 time fin-agent ask "It\'s; so?" --k 5 > out/x.md && git clone <this> # and more')
    assert (first.words, first.environment, first.target) == (
        ["fin-agent", "ask", "It's; so?", "--k", "5"],
        {"A": "1"},
        "out/x.md",
    )
    assert (second.program, second.not_run) == ("git", "fetches sources")
    (piped,) = commands_in("fin-agent filings --json | jq .")
    assert piped.words == ["fin-agent", "filings", "--json"]
    (talked,) = commands_in("printf '%s\\n' \"What's new?\" why | fin-agent chat --json")
    assert (talked.words, talked.typed, talked.not_run) == (["fin-agent", "chat", "--json"], "What's new?\nwhy\n", None)


def test_python_may_await_and_is_compared(capsys: pytest.CaptureFixture[str]) -> None:
    run_python("import asyncio\nawait asyncio.sleep(0)\nx = 2", names := {}, "page.md:1")
    run_python("x + 1  # the next number\n[x]  # [...]\nprint(x)  # 2", names, "page.md:9")
    run_doctest(">>> 'a' * 3\n'a...'", {}, "page.md:12")
    assert capsys.readouterr().out == ""


def test_a_label_that_is_not_known_is_no_output() -> None:
    with pytest.raises(UnknownKindError):
        kind_of(Block("page.md", 1, "ini", "a = 1"))
