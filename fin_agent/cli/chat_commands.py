"""What is typed with a slash in a chat: look behind the last answer, go to another thread, leave."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.text import Text

from fin_agent.answering.answer import Citation
from fin_agent.cli.chat_thread import ChatThread, next_name
from fin_agent.cli.streams import say, show
from fin_agent.errors import FinAgentError
from fin_agent.filings.drawing import Frame, Ink
from fin_agent.filings.picture import FramedPage, draw_pages
from fin_agent.graphs.chat.state import Turn
from fin_agent.graphs.chat.threads import KeptThread
from fin_agent.index.protocol import PageKey
from fin_agent.presentation.answers import LedgerView, ProgramView
from fin_agent.presentation.chat import evidence_view, history_view, threads_view, turn_view
from fin_agent.presentation.plain import one_line
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace

HELP = """\
/evidence N          the passage that citation N of the last answer stands in
/page N [FILE.png]   a picture of its page with the figure framed; opened where there is a desktop
/ledger              every figure the answer needs, and what fills it
/program             the program that computed it
/history             what was said in this thread
/again               ask the last message again
/threads             the threads that are kept
/thread NAME         go on in another thread, or begin one of that name
/new [NAME]          begin a new thread
/help                this
/quit                leave; so does Ctrl-D. Ctrl-C cancels a question

Questions may go on from the one before: "and in 2021?", "same for Tellurond", "why?", "as a percentage of revenue?"."""
_DPI = 110


class ChatCommandError(FinAgentError):
    """A command of a chat cannot be done."""


class LeftError(Exception):
    """Whoever chats wants to leave."""


class Commands:
    """The commands, over the thread that is talked in."""

    def __init__(self, thread: ChatThread, workspace: Workspace, listed: Callable[[], Sequence[KeptThread]]) -> None:
        self._thread = thread
        self._workspace = workspace
        self._listed = listed

    def run(self, line: str) -> str | None:
        """Do what `line` says. A message that is to be asked, where the command brings one.

        Raises FinAgentError where it cannot be done, LeftError where the chat is to end.
        """
        name, _, rest = line[1:].strip().partition(" ")
        rest = rest.strip()
        match name.lower():
            case "evidence" | "e":
                self._evidence(rest)
            case "page" | "p":
                self._page(rest)
            case "ledger" | "l":
                self._ledger()
            case "program":
                self._program()
            case "history" | "h":
                show(history_view(self._thread.turns))
            case "threads":
                show(threads_view(self._listed(), self._thread.name))
            case "thread" | "t":
                self._go_to(rest)
            case "new" | "n":
                self._begin(rest)
            case "again":
                return self._again()
            case "help" | "?":
                show(Text(HELP))
            case "quit" | "q" | "exit":
                raise LeftError
            case _:
                raise ChatCommandError("there is no such command", subject=f"/{name}", remedy="/help lists them")
        return None

    def _evidence(self, which: str) -> None:
        number, citation = self._citation(which)
        index = self._workspace.index
        key = PageKey(citation.doc_id, citation.page)
        record = index.filing(citation.doc_id)
        pages = index.pages([key])
        if not pages:
            raise ChatCommandError("this page is no longer indexed", subject=f"{key.doc_id} page {key.page + 1}")
        passages = [stored.passage.text for stored in index.passages([key])]
        held = next((text for text in passages if citation.text in text), passages[0] if passages else "")
        show(evidence_view(number, citation, record, pages[0].page, index.tables([key]), held))

    def _page(self, given: str) -> None:
        which, _, named = given.partition(" ")
        _, citation = self._citation(which)
        record = self._workspace.index.filing(citation.doc_id)
        usual = f"{citation.doc_id}-page-{citation.page + 1}.png".replace("/", "_")
        file = Path(named.strip() or usual).expanduser()
        if file.suffix.lower() != ".png":
            raise ChatCommandError(
                "pictures are PNG files", subject=str(file), remedy=f"Call it {file.stem or 'page'}.png"
            )
        frames = () if citation.box is None else (Frame(Box(*citation.box), Ink.FACT, one_line(citation.text, 80)),)
        wanted = FramedPage(citation.page, frames)
        drawn = next(iter(draw_pages(Path(record.source), record.content_hash, [wanted], _DPI)))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(drawn)
        except OSError as error:
            raise ChatCommandError(f"it cannot be written ({error.strerror})", subject=str(file)) from error
        framed = f", framed in red: {one_line(citation.text, 80)}" if frames else ""
        say(f"{file}: {citation.doc_id} page {citation.page + 1}{framed}")
        if sys.stdin.isatty() and _has_desktop():
            import typer

            typer.launch(str(file))

    def _ledger(self) -> None:
        turn = self._answered()
        shown = False
        for answer in turn.answers:
            if answer.ledger:
                show(LedgerView(answer.ledger, answer.citations))
                shown = True
        if not shown:
            say("the last answer has no ledger: it is in words")

    def _program(self) -> None:
        programs = [answer.program for answer in self._answered().answers if answer.program]
        for program in programs:
            show(ProgramView(program))
        if not programs:
            say("the last answer has no program: it is quoted, or was refused")

    def _go_to(self, name: str) -> None:
        if not name:
            raise ChatCommandError("no thread is named", subject="/thread", remedy="/threads lists those that are kept")
        self._thread.name = name
        turns = self._thread.turns
        if not turns:
            say(f"new thread {name}")
            return
        say(f"thread {name}, {len(turns)} turn{'' if len(turns) == 1 else 's'} so far; the last:")
        show(Text(f"> {turns[-1].asked}", style="dim"), turn_view(turns[-1]))

    def _begin(self, name: str) -> None:
        taken = [thread.name for thread in self._listed()]
        if name in taken:
            raise ChatCommandError("there is such a thread", subject=name, remedy=f"/thread {name} goes on in it")
        self._thread.name = name or next_name([*taken, self._thread.name])
        say(f"new thread {self._thread.name}")

    def _again(self) -> str:
        unanswered = self._thread.unanswered
        if unanswered:
            self._thread.forget_unanswered()
            return unanswered
        turns = self._thread.turns
        if not turns:
            raise ChatCommandError("nothing has been asked in this thread", subject="/again")
        return turns[-1].question or turns[-1].asked

    def _answered(self) -> Turn:
        """The last turn that was answered from filings."""
        turn = next((turn for turn in reversed(self._thread.turns) if turn.answers), None)
        if turn is None:
            raise ChatCommandError("nothing has been answered in this thread yet", remedy="Ask a question first")
        return turn

    def _citation(self, which: str) -> tuple[int, Citation]:
        citations = self._answered().citations
        if not citations:
            raise ChatCommandError(
                "the last answer cites nothing", remedy="It was refused: /ledger says what is missing"
            )
        number = int(which) if which.isascii() and which.isdigit() and len(which) < 6 else (1 if not which else 0)
        if not 1 <= number <= len(citations):
            raise ChatCommandError(
                "there is no such citation",
                subject=which or "citation",
                remedy=f"Give a number from 1 to {len(citations)}",
            )
        return number, citations[number - 1]


def _has_desktop() -> bool:
    import os

    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
