"""`fin-agent chat`: a conversation about filings on a terminal, or line by line through a pipe."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import typer
from langgraph.checkpoint.memory import InMemorySaver
from rich.console import RenderableType, group
from rich.padding import Padding
from rich.text import Text

from fin_agent.analyst.rules.follow_ups import MessageKind
from fin_agent.answering.answer import Citation
from fin_agent.atomic_write import atomic_write
from fin_agent.cli.asking import progress_shown
from fin_agent.cli.exit_codes import ExitCode, sentence_of
from fin_agent.cli.options import AnswerOptions, IndexOptions, command
from fin_agent.cli.streams import messages, say, show, show_json, warn
from fin_agent.errors import FinAgentError
from fin_agent.filings.passage_splitting import table_text
from fin_agent.graphs.chat.graph import ChatThread, next_name
from fin_agent.graphs.chat.state import ChatContext, Turn
from fin_agent.graphs.chat.threads import FILE_NAME, ThreadStore, ThreadStoreError, ThreadSummary
from fin_agent.index.protocol import PageKey
from fin_agent.presentation.answers import ledger_view, note_lines, program_view, usage_line, warning_lines
from fin_agent.presentation.exports import draw_page
from fin_agent.presentation.pages import page_head, table_view
from fin_agent.presentation.terminal_text import count_with_noun, fixed, listing, one_line, plain, right
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Table
from fin_agent.workspace import Workspace

HELP = resources.files(__package__).joinpath("chat_help.txt").read_text("utf-8").rstrip()
_COMMANDS = ("evidence", "page", "ledger", "program", "history", "threads", "thread", "help", "quit")
_MAX_CITED = 10
_MAX_QUOTE_LENGTH = 300
_MAX_WARNINGS = 6
_ENDS_IN_A_FIGURE = re.compile(r": \D{0,3}[\d.,]+\D{0,2}$")


@command
def chat(
    on: IndexOptions,
    models: AnswerOptions,
    thread: str | None = None,
    doc: list[str] | None = None,
    no_record: bool = False,
) -> ExitCode:
    """Ask several questions about filings, with follow-ups. Through a pipe, one question per line.

    /help lists the commands of a chat. Threads are stored next to the index and can be resumed.
    """
    settings = models.settings()
    with on.open_workspace() as workspace, ExitStack() as left_open:
        context = ChatContext.from_settings(workspace, settings, doc_ids=doc or None)
        store: ThreadStore | None = None
        if not no_record:
            try:
                store = ThreadStore(on.chosen.folder / FILE_NAME)
                left_open.callback(store.close)
            except ThreadStoreError as error:
                warn(f"this chat is not saved: {error}")

        def listed() -> list[ThreadSummary]:
            return store.listed() if store is not None else []

        name = thread or next_name([each.name for each in listed()])
        return _Chat(ChatThread(context, store or InMemorySaver(), name), workspace, listed, on.as_json).run()


class ChatCommandError(FinAgentError):
    """A command of the chat cannot be run."""


class ChatEndedError(Exception):
    """The user ends the chat."""


@dataclass
class _Chat:
    """Reads lines, and runs them as questions or commands on the current thread."""

    _thread: ChatThread
    _workspace: Workspace
    _listed: Callable[[], Sequence[ThreadSummary]]
    _as_json: bool
    _at_terminal: bool = field(default_factory=lambda: sys.stdin.isatty())
    _failed: bool = False

    def run(self) -> ExitCode:
        """Run all lines."""
        if self._at_terminal:
            turns = self._thread.turns
            so_far = f", {count_with_noun(len(turns), 'turn')} so far" if turns else ""
            said = f"thread {self._thread.name}{so_far} · /help for commands, Ctrl-D ends"
            messages().print(Text(said, style="dim"))
        if unanswered := self._thread.unanswered:
            say(f"the last question got no answer: {unanswered!r}")
        with suppress(ChatEndedError):
            for line in map(str.strip, self._lines()):
                if line:
                    self._handle(line)
        return ExitCode.SOME_FAILED if self._failed and not self._at_terminal else ExitCode.DONE

    def _lines(self) -> Iterator[str]:
        if not self._at_terminal:
            yield from sys.stdin
            return
        with suppress(ImportError):
            import readline  # noqa: F401 (lines can be edited, and earlier ones called up)
        while True:
            try:
                yield input("you> ")
            except EOFError:
                messages().print()
                return
            except KeyboardInterrupt:
                messages().print(Text("\nCtrl-D or /quit ends the chat", style="dim"))

    def _handle(self, line: str) -> None:
        """Run a line, and report its error."""
        try:
            if line.startswith("/"):
                self._run_command(line)
            else:
                self._reply_to(line)
        except FinAgentError as error:
            self._failed = True
            say(f"error: {sentence_of(error)}")
            if line.startswith("/"):
                return
            if self._as_json:
                show_json({"thread": self._thread.name, "asked": line, "error": str(error)})
            if isinstance(error, ThreadStoreError) and not self._at_terminal:
                say("the following lines are not asked, since they may refer to the cancelled question")
                raise ChatEndedError from error

    def _reply_to(self, line: str) -> None:
        try:
            with progress_shown():
                turn = self._thread.send(line)
        except KeyboardInterrupt:
            self._thread.forget_unanswered()
            say("cancelled; the conversation so far is saved")
            if self._at_terminal:
                return
            raise
        if self._as_json:
            show_json({"thread": self._thread.name, **turn.fields()})
        else:
            show(*([] if self._at_terminal else [Text(f"> {turn.asked}", style="dim")]), turn_view(turn))
            print()
        sys.stdout.flush()

    def _run_command(self, line: str) -> None:
        """Run a command line. Raises FinAgentError if it fails, ChatEndedError to end the chat."""
        name, _, rest = line[1:].strip().partition(" ")
        if not self._at_terminal and not self._as_json:
            show(Text(f"> {line}", style="dim"))
        if name.lower() not in _COMMANDS:
            raise ChatCommandError("there is no such command", subject=f"/{name}", remedy="/help lists them")
        try:
            getattr(self, name.lower())(rest.strip())
        except KeyboardInterrupt:
            say("stopped")
        if not self._at_terminal and not self._as_json:
            print(flush=True)

    def quit(self, rest: str) -> None:
        """End the chat."""
        raise ChatEndedError

    def help(self, rest: str) -> None:
        """List the commands."""
        show(Text(HELP))

    def threads(self, rest: str) -> None:
        """Show the saved threads, with a mark on the current one."""
        table = listing(fixed("Thread"), right("Turns"), fixed("Last used"), "Begins with")
        saved = self._listed()
        for thread in saved:
            mark = " ◂" if thread.name == self._thread.name else ""
            when = f"{thread.changed.astimezone():%Y-%m-%d %H:%M}"
            table.add_row(f"{one_line(thread.name)}{mark}", str(thread.turns), when, Text(one_line(thread.title, 60)))
        show(table if saved else Text("No thread is saved yet."))

    def evidence(self, which: str) -> None:
        """Show the table of a cited figure, else the passage with the quote highlighted."""
        number, citation = self._citation(which)
        index, key = self._workspace.index, PageKey(citation.doc_id, citation.page)
        (stored,) = index.pages([key])
        head = page_head(index.filing(citation.doc_id), stored.page)
        quoted = Text(f"▸ {one_line(citation.text, _MAX_QUOTE_LENGTH)}", style="bold")
        table = next((each for each in index.tables([key]) if _holds(each, citation)), None)
        if table is not None:
            shown = list(table_view(table))
        else:
            passages = [each.passage.text for each in index.passages([key])] or [stored.page.text]
            text = Text(plain(next((each for each in passages if citation.text in each), passages[0])).strip())
            text.highlight_words([plain(citation.text).strip() or "\n"], style="bold reverse")
            shown = [text]
        show(Text.assemble((f"[{number}] ", "bold"), head), quoted, Text(), *shown)

    def page(self, given: str) -> None:
        """Draw the page of a citation."""
        which, _, named = given.partition(" ")
        _, citation = self._citation(which)
        usual = f"{citation.doc_id}-page-{citation.page + 1}.png".replace("/", "_")
        file = Path(named.strip() or usual).expanduser()
        if file.suffix.lower() != ".png":
            raise ChatCommandError(
                "pictures are written as PNG files", subject=str(file), remedy=f"Name it {file.stem or 'page'}.png"
            )
        boxes = [] if citation.box is None else [Box(*citation.box)]
        atomic_write(file, draw_page(self._workspace, citation.doc_id, citation.page, boxes))
        framed = f", framed in red: {one_line(citation.text, 80)}" if boxes else ""
        say(f"{file}: {citation.doc_id} page {citation.page + 1}{framed}")
        has_desktop = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
        if self._at_terminal and has_desktop:
            typer.launch(str(file))

    def ledger(self, rest: str) -> None:
        """Show every figure that the last answer needs, and its source."""
        ledgers: list[RenderableType] = [
            ledger_view(answer.ledger) for answer in self._last_answered_turn().answers if answer.ledger
        ]
        show(*ledgers or ["The last answer has no ledger, since it is in words."])

    def program(self, rest: str) -> None:
        """Show the program that computed the last answer."""
        programs = [program_view(answer.program) for answer in self._last_answered_turn().answers if answer.program]
        show(*programs or ["The last answer has no program, since it is a quotation or a refusal."])

    def history(self, rest: str) -> None:
        """Show every turn of the thread: the message, how it was read, and the beginning of the reply."""
        turns = self._thread.turns
        for number, turn in enumerate(turns, start=1):
            show(Text.assemble((f"{number:>3}  ", "dim"), (one_line(turn.asked, 200), "bold")))
            if turn.kind is MessageKind.FOLLOW_UP and turn.question:
                show(Padding(Text(f"→ {one_line(turn.question, 200)}", style="cyan"), (0, 0, 0, 5)))
            show(Padding(Text(one_line(turn.said, 200)), (0, 0, 0, 5)))
        if not turns:
            show(Text("This thread has no messages yet."))

    def thread(self, name: str) -> None:
        """Switch to another thread, or create it."""
        if not name:
            raise ChatCommandError("no thread is named", subject="/thread", remedy="/threads lists the saved threads")
        self._thread.name = name
        turns = self._thread.turns
        if not turns:
            say(f"new thread {name}")
            return
        say(f"thread {name}, {count_with_noun(len(turns), 'turn')} so far; the last:")
        show(Text(f"> {turns[-1].asked}", style="dim"), turn_view(turns[-1]))

    def _last_answered_turn(self) -> Turn:
        """Return the last turn that was answered from filings."""
        turn = next((turn for turn in reversed(self._thread.turns) if turn.answers), None)
        if turn is None:
            raise ChatCommandError("nothing has been answered in this thread yet", remedy="Ask a question first")
        return turn

    def _citation(self, which: str) -> tuple[int, Citation]:
        citations = self._last_answered_turn().citations
        if not citations:
            raise ChatCommandError(
                "the last answer has no citations", remedy="See /ledger for what is missing: the question was refused"
            )
        number = int(which or 1) if (which or "1").isdecimal() else 0
        if not 1 <= number <= len(citations):
            remedy = f"Give a number from 1 to {len(citations)}"
            raise ChatCommandError("there is no such citation", subject=which, remedy=remedy)
        return number, citations[number - 1]


@group()
def turn_view(turn: Turn) -> Iterator[RenderableType]:
    """Return a turn: how a follow-up was read, the reply, its numbered citations, and notes and warnings."""
    if turn.kind is MessageKind.FOLLOW_UP and turn.question:
        yield Text(f"→ {one_line(turn.question)}", style="cyan")
    refused = turn.answer is not None and turn.answer.refused and not turn.by_model
    yield Text(plain(turn.said), style="yellow" if refused else "bold" if turn.answers else "")
    if turn.answers:
        yield from _cited(turn.citations)
    yield from note_lines(dict.fromkeys(note for answer in turn.answers for note in answer.assumptions))
    yield from warning_lines(turn.warnings, most=_MAX_WARNINGS)
    if called := usage_line(turn.usage):
        yield Text(called, style="dim")


def _cited(citations: Sequence[Citation]) -> Iterator[RenderableType]:
    for number, citation in enumerate(citations[:_MAX_CITED], start=1):
        place = f"{one_line(citation.doc_id)} page {citation.page + 1}"
        line = Text.assemble(
            (f" [{number}] ", "bold"), (place, "cyan"), ("  ", ""), (one_line(citation.text, _MAX_QUOTE_LENGTH), "dim")
        )
        if not _ENDS_IN_A_FIGURE.search(citation.text):  # figures are never cut off; /evidence shows whole sentences
            line.no_wrap, line.overflow = True, "ellipsis"
        yield line
    if len(citations) > _MAX_CITED:
        yield Text(f" and {len(citations) - _MAX_CITED} more: /evidence N", style="dim")


def _holds(table: Table, citation: Citation) -> bool:
    if citation.box is None:
        return citation.text in table_text(table)
    return table.page == citation.page and table.box.contains_center_of(Box(*citation.box))
