"""`fin-agent chat` through a pipe: replies, commands, threads that are taken up again, and what fails."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fin_agent.cli import app

INCOME = "What was Harborlight's net income in FY2023?"


@pytest.fixture
def index(sample_index: Path, tmp_path: Path) -> Path:
    """An index whose folder may be written to: threads are kept in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "filings.sqlite").symlink_to(sample_index / "filings.sqlite")
    return folder


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are written to where one is."""
    monkeypatch.chdir(tmp_path)


class Talked:
    """A chat that has ended."""

    def __init__(self, index: Path, *lines: str, options: tuple[str, ...] = ()) -> None:
        typed = "".join(f"{line}\n" for line in lines)
        result = CliRunner().invoke(app, ["chat", "--index", str(index), *options], input=typed, prog_name="fin-agent")
        self.code, self.out, self.err = result.exit_code, result.stdout, result.stderr

    @property
    def replies(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class TestReplies:
    def test_each_line_is_a_message_and_follow_ups_are_shown_as_they_were_read(self, index: Path) -> None:
        talked = Talked(index, INCOME, "", "and the year before?", "thanks")
        assert (talked.code, talked.err) == (0, "")
        assert talked.out.splitlines() == [
            f"> {INCOME}",
            "Net income of Harborlight Instruments, Inc. for FY2023: $544 million.",
            " [1] harborlight_2023_10k page 9  Net income | Years ended December 31, 2023: 544",
            "",
            "> and the year before?",
            "→ What was Harborlight's net income in FY2022?",
            "Net income of Harborlight Instruments, Inc. for FY2022: $474 million.",
            " [1] harborlight_2022_10k page 9  Net income | Years ended December 31, 2022: 474",
            "",
            "> thanks",
            "You are welcome.",
            "",
        ]  # fmt: skip

    def test_json_has_a_line_for_each(self, index: Path) -> None:
        replies = Talked(index, INCOME, "same for Tellurond", "hello", options=("--json",)).replies
        assert [reply["kind"] for reply in replies] == ["question", "follow-up", "greeting"]
        assert [reply["thread"] for reply in replies] == ["chat-1"] * 3
        assert replies[1]["asked"] == "same for Tellurond"
        assert replies[1]["question"] == "What was Tellurond's net income in FY2023?"
        answer = replies[1]["answers"][0]
        assert (answer["answer"]["value"], answer["answer"]["unit"]) == (1181.0, "USD millions")
        assert replies[1]["citations"][0]["doc_id"] == "tellurond_2023_10k"
        assert replies[2]["answers"] == [] and replies[2]["refused"] is None

    def test_only_the_filings_named_are_read(self, index: Path) -> None:
        options = ("--doc", "harborlight_2024_10k", "--json")
        reply = Talked(index, INCOME, options=options).replies[0]
        assert {cited["doc_id"] for cited in reply["citations"]} == {"harborlight_2024_10k"}
        assert Talked(index, INCOME, options=("--doc", "nobody")).code == 1


class TestCommands:
    def test_evidence_shows_the_table_that_the_figure_stands_in(self, index: Path) -> None:
        talked = Talked(index, INCOME, "/evidence 1")
        assert "[1] harborlight_2023_10k, page 9 of" in talked.out
        assert "▸ Net income | Years ended December 31, 2023: 544" in talked.out
        row = next(line for line in talked.out.splitlines() if line.startswith("Net income  "))
        assert row.split()[-3:] == ["544", "474", "482"]

    def test_evidence_of_words_shows_the_passage(self, index: Path) -> None:
        talked = Talked(index, "Why did Harborlight's net sales increase in FY2024?", "/evidence")
        shown = talked.out.split("[1] harborlight_2024_10k, page")[1]
        assert "data-center optics" in " ".join(shown.split())

    def test_page_writes_a_picture_with_the_figure_framed(self, index: Path, tmp_path: Path) -> None:
        talked = Talked(index, INCOME, "/page 1", "/page 1 pictures/net income.png", "/page 1 x.jpg")
        usual = tmp_path / "harborlight_2023_10k-page-9.png"
        assert usual.read_bytes() == (tmp_path / "pictures" / "net income.png").read_bytes()
        assert usual.read_bytes().startswith(b"\x89PNG") and usual.stat().st_size > 20_000
        assert "framed in red: Net income" in talked.err and "pictures are written as PNG files" in talked.err

    def test_ledger_program_and_history(self, index: Path) -> None:
        talked = Talked(index, INCOME, "as a percentage of revenue?", "/ledger", "/program", "/history")
        assert "✓ 2 filled" in talked.out
        assert "net_income_fy2023 = 544" in talked.out and "revenue_fy2023 = 3533" in talked.out
        history = talked.out[talked.out.index("  1  ") :].splitlines()
        assert history[0] == f"  1  {INCOME}" and history[2] == "  2  as a percentage of revenue?"
        assert history[3].strip().startswith("→ What was Harborlight's net income as a percentage of revenue")

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("/nonsense", "/nonsense: there is no such command. /help lists them"),
            ("/evidence 9", "9: there is no such citation. Give a number from 1 to 1"),
            ("/evidence one", "one: there is no such citation"),
            ("/evidence ²", "there is no such citation"),
            ("/thread", "no thread is named"),
        ],
    )
    def test_what_cannot_be_done_is_said_and_the_chat_goes_on(self, index: Path, line: str, said: str) -> None:
        talked = Talked(index, INCOME, line, "thanks")
        assert said in talked.err and talked.out.splitlines()[-2] == "You are welcome."
        assert talked.code == 3

    def test_before_the_first_answer_there_is_nothing_to_look_behind(self, index: Path) -> None:
        for line in ("/evidence 1", "/page 1", "/ledger", "/program"):
            assert "nothing has been answered in this thread yet" in Talked(index, line).err
        assert "This thread has no messages" in Talked(index, "/history").out

    def test_quit_leaves_what_follows_unsaid(self, index: Path) -> None:
        assert INCOME not in Talked(index, "hello", "/quit", INCOME).out

    def test_help_names_every_command(self, index: Path) -> None:
        shown = Talked(index, "/help").out
        for name in ("evidence", "page", "ledger", "program", "history", "threads", "thread", "quit"):
            assert f"/{name}" in shown


class TestThreads:
    def test_a_thread_is_taken_up_again_by_its_name(self, index: Path) -> None:
        Talked(index, INCOME, options=("--thread", "margins"))
        talked = Talked(index, "and in 2022?", "/threads", options=("--thread", "margins"))
        assert "$474 million" in talked.out and "margins ◂" in talked.out
        assert next(line for line in talked.out.splitlines() if line.startswith("margins")).split()[2] == "2"

    def test_without_a_name_a_new_one_begins(self, index: Path) -> None:
        Talked(index, INCOME)
        talked = Talked(index, "and in 2022?", "/thread chat-1", "and in 2022?", "/thread other", "/again")
        assert "no earlier question" in " ".join(talked.out.split())
        assert "$474 million" in talked.out
        assert "thread chat-1, 1 turn so far" in talked.err and "new thread other" in talked.err
        assert "/again: there is no such command" in talked.err

    def test_nothing_is_kept_where_that_is_wanted(self, index: Path) -> None:
        talked = Talked(index, INCOME, "and in 2022?", "/threads", options=("--no-record",))
        assert not talked.err
        assert "$474 million" in talked.out and "No thread is saved yet." in talked.out
        assert not (index / "threads.sqlite").exists()

    def test_a_damaged_file_is_told_of_and_the_chat_goes_on_without(self, index: Path) -> None:
        (index / "threads.sqlite").write_bytes(b"nothing of the kind" * 300)
        talked = Talked(index, INCOME, "and in 2022?")
        assert "warning: this chat is not saved" in talked.err and "$474 million" in talked.out

    def test_one_that_was_killed_goes_on_where_it_was(self, index: Path) -> None:
        command = [
            sys.executable,
            "-c",
            "from fin_agent.cli import main; main()",
            "chat",
            "--index",
            str(index),
            "--json",
        ]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as chat:
            assert chat.stdin is not None and chat.stdout is not None
            chat.stdin.write(f"{INCOME}\n")
            chat.stdin.flush()
            assert json.loads(chat.stdout.readline())["thread"] == "chat-1"
            chat.send_signal(signal.SIGKILL)
        replies = Talked(index, "and in 2022?", options=("--thread", "chat-1", "--json")).replies
        assert replies[0]["answers"][0]["answer"]["value"] == 474.0


class TestCancelling:
    def test_a_question_that_is_cancelled_loses_nothing(self, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from fin_agent.graphs.chat import graph

        Talked(index, INCOME, options=("--thread", "a"))
        with monkeypatch.context() as pressed:
            pressed.setattr(graph, "ask_graph", _pressed)
            talked = Talked(index, "and in 2021?", options=("--thread", "a"))
        assert talked.code == 130 and "cancelled; the conversation so far is saved" in talked.err
        later = Talked(index, "and the year before?", "/history", options=("--thread", "a"))
        assert "got no answer" not in later.err and "$474 million" in later.out and "2021" not in later.out

    def test_one_that_was_left_without_an_answer_can_be_asked_again(
        self, index: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from fin_agent.graphs.chat import graph
        from fin_agent.graphs.chat.graph import ChatThread

        with monkeypatch.context() as pressed:
            pressed.setattr(graph, "ask_graph", _pressed)
            pressed.setattr(ChatThread, "forget_unanswered", lambda thread: None)  # killed before it could
            Talked(index, INCOME, options=("--thread", "a"))
        talked = Talked(index, INCOME, options=("--thread", "a", "--json"))
        assert f'the last question got no answer: "{INCOME}"' in talked.err
        assert talked.replies[0]["said"].endswith("$544 million.")


def _pressed(*given: object, **named: object) -> Iterator[None]:
    raise KeyboardInterrupt
