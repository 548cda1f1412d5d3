"""`fin-agent chat`: a conversation about filings on a terminal, or line by line through a pipe."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import typer
from langgraph.checkpoint.memory import InMemorySaver
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from fin_agent.analyst.events import event_listener
from fin_agent.analyst.rules.follow_ups import MessageKind
from fin_agent.answering.answer import Citation
from fin_agent.cli.asking import ProgressDisplay
from fin_agent.cli.exit_codes import ExitCode, sentence_of
from fin_agent.cli.options import Docs, IndexOptions, ModelOptions, StrategyName, command
from fin_agent.cli.streams import messages, say, show, show_json, warn
from fin_agent.errors import FinAgentError
from fin_agent.filings.page_rendering import Frame, FrameColor, FramedPage, draw_pages
from fin_agent.filings.passage_splitting import table_text
from fin_agent.graphs.chat.conversation import ChatThread, next_name
from fin_agent.graphs.chat.state import ChatContext, Turn
from fin_agent.graphs.chat.threads import (
    FILE_NAME,
    ThreadStore,
    ThreadStoreError,
    ThreadSummary,
)
from fin_agent.index.protocol import FilingRecord, PageKey
from fin_agent.presentation.answers import ledger_view, program_view, usage_line
from fin_agent.presentation.pages import page_head, table_view
from fin_agent.presentation.terminal_text import fixed, listing, one_line, plain, right
from fin_agent.presentation.traces import warning_lines
from fin_agent.vocabulary.page import Page
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Table as FilingTable
from fin_agent.workspace import Workspace

_PROMPT = "you> "


@command
def chat(
    on: IndexOptions,
    models: ModelOptions,
    thread: str | None = None,
    doc: Docs = None,
    strategy: StrategyName = None,
    no_record: bool = False,
) -> ExitCode:
    """Ask several questions about filings, with follow-ups. Through a pipe, one question per line.

    /help lists the commands of a chat. Threads are stored next to the index and can be resumed.

    On the command line:
        thread (--thread NAME): Thread to resume or to create. By default a new one.
        no_record (--no-record): Store nothing of the chat.
    """
    settings = models.settings(strategy=strategy)
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
        talked_in = ChatThread(context, store or InMemorySaver(), name)
        return _ChatSession(talked_in, ChatCommands(talked_in, workspace, listed), on.as_json).run()


class _ChatSession:
    """Reads lines, and runs them as questions or commands."""

    def __init__(self, thread: ChatThread, commands: ChatCommands, as_json: bool) -> None:
        self._thread = thread
        self._commands = commands
        self._as_json = as_json
        self._at_terminal = sys.stdin.isatty()
        self._failed = False

    def run(self) -> ExitCode:
        self._greet()
        with suppress(ChatEndedError):
            for line in self._read_line():
                self._handle_line(line.strip())
        return ExitCode.SOME_FAILED if self._failed and not self._at_terminal else ExitCode.DONE

    def _greet(self) -> None:
        turns = self._thread.turns
        if self._at_terminal:
            said = f"thread {self._thread.name}"
            said += f", {len(turns)} turn{'' if len(turns) == 1 else 's'} so far" if turns else ""
            messages().print(Text(f"{said} · /help for commands, Ctrl-D ends", style="dim"))
        if unanswered := self._thread.unanswered:
            say(f"the last question got no answer: {unanswered!r}")

    def _read_line(self) -> Iterator[str]:
        if not self._at_terminal:
            yield from sys.stdin
            return
        with suppress(ImportError):
            import readline  # noqa: F401 (lines can be edited, and earlier ones called up)
        while True:
            try:
                yield input(_PROMPT)
            except EOFError:
                messages().print()
                return
            except KeyboardInterrupt:
                messages().print(Text("\nCtrl-D or /quit ends the chat", style="dim"))

    def _handle_line(self, line: str) -> None:
        if not line:
            return
        if line.startswith("/"):
            self._run_command(line)
            return
        try:
            turn = self._reply_to(line)
        except KeyboardInterrupt:
            self._thread.forget_unanswered()
            say("cancelled; the conversation so far is saved")
            if not self._at_terminal:
                raise
        except FinAgentError as error:
            self._failed = True
            say(f"error: {sentence_of(error)}")
            if self._as_json:
                show_json({"thread": self._thread.name, "asked": line, "error": str(error)})
            if isinstance(error, ThreadStoreError) and not self._at_terminal:
                say("the following lines are not asked, since they may refer to the cancelled question")
                raise ChatEndedError from error
        else:
            self._show(turn)

    def _run_command(self, line: str) -> None:
        shown = not self._at_terminal and not self._as_json
        if shown:
            show(Text(f"> {line}", style="dim"))
        try:
            self._commands.run(line)
            if shown:
                print(flush=True)
        except FinAgentError as error:
            self._failed = True
            say(f"error: {sentence_of(error)}")
        except KeyboardInterrupt:
            say("stopped")

    def _reply_to(self, line: str) -> Turn:
        console = messages()
        if not console.is_terminal:
            return self._thread.send(line)
        with ProgressDisplay(console) as shown, event_listener(shown.on_event):
            return self._thread.send(line)

    def _show(self, turn: Turn) -> None:
        if self._as_json:
            show_json({"thread": self._thread.name, **turn.fields()})
            sys.stdout.flush()
            return
        if not self._at_terminal:
            show(Text(f"> {turn.asked}", style="dim"))
        show(turn_view(turn))
        print(flush=True)


HELP = """\
/evidence N          the passage of citation N of the last answer
/page N [FILE.png]   a picture of its page with the figure framed, by PyMuPDF; opened on a desktop
/ledger              every figure that the answer needs, and its source
/program             the program that computed the answer
/history             the turns of this thread
/threads             the saved threads
/thread NAME         switch to another thread, or create it
/help                this list
/quit                end the chat, as Ctrl-D does; Ctrl-C cancels a question

Questions may refer to the last one: "and in 2021?", "same for Tellurond", "why?", "as a percentage of revenue?"."""

_DPI = 110


class ChatCommandError(FinAgentError):
    """A command of the chat cannot be run."""


class ChatEndedError(Exception):
    """The user ends the chat."""


class ChatCommands:
    """The commands of a chat, on the current thread."""

    def __init__(self, thread: ChatThread, workspace: Workspace, listed: Callable[[], Sequence[ThreadSummary]]) -> None:
        self._thread = thread
        self._workspace = workspace
        self._listed = listed

    def run(self, line: str) -> None:
        """Run a command line. Raises FinAgentError if it fails, ChatEndedError to end the chat."""
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
            case "help" | "?":
                show(Text(HELP))
            case "quit" | "q" | "exit":
                raise ChatEndedError
            case _:
                raise ChatCommandError("there is no such command", subject=f"/{name}", remedy="/help lists them")

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
                "pictures are written as PNG files", subject=str(file), remedy=f"Name it {file.stem or 'page'}.png"
            )
        frames = (
            () if citation.box is None else (Frame(Box(*citation.box), FrameColor.FACT, one_line(citation.text, 80)),)
        )
        wanted = FramedPage(citation.page, frames)
        (drawn,) = draw_pages(Path(record.source), record.content_hash, [wanted], _DPI)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(drawn)
        except OSError as error:
            raise ChatCommandError(f"it cannot be written ({error.strerror})", subject=str(file)) from error
        framed = f", framed in red: {one_line(citation.text, 80)}" if frames else ""
        say(f"{file}: {citation.doc_id} page {citation.page + 1}{framed}")
        has_desktop = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
        if sys.stdin.isatty() and has_desktop:
            typer.launch(str(file))

    def _ledger(self) -> None:
        turn = self._last_answered_turn()
        shown = False
        for answer in turn.answers:
            if answer.ledger:
                show(ledger_view(answer.ledger))
                shown = True
        if not shown:
            say("the last answer has no ledger, since it is in words")

    def _program(self) -> None:
        programs = [answer.program for answer in self._last_answered_turn().answers if answer.program]
        for program in programs:
            show(program_view(program))
        if not programs:
            say("the last answer has no program, since it is a quotation or a refusal")

    def _go_to(self, name: str) -> None:
        if not name:
            raise ChatCommandError("no thread is named", subject="/thread", remedy="/threads lists the saved threads")
        self._thread.name = name
        turns = self._thread.turns
        if not turns:
            say(f"new thread {name}")
            return
        say(f"thread {name}, {len(turns)} turn{'' if len(turns) == 1 else 's'} so far; the last:")
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
        number = int(which) if which.isascii() and which.isdigit() and len(which) < 6 else (1 if not which else 0)
        if not 1 <= number <= len(citations):
            raise ChatCommandError(
                "there is no such citation",
                subject=which or "citation",
                remedy=f"Give a number from 1 to {len(citations)}",
            )
        return number, citations[number - 1]


_MAX_CITED = 10
_MAX_QUOTE_LENGTH = 300
_MAX_WARNINGS = 6
_ENDS_IN_A_FIGURE = re.compile(r": \D{0,3}[\d.,]+\D{0,2}$")


def turn_view(turn: Turn) -> RenderableType:
    """Return a turn: how a follow-up was read, the reply, its numbered citations, and notes and warnings."""
    return Group(*_parts(turn))


def _parts(turn: Turn) -> Iterator[RenderableType]:
    if turn.kind is MessageKind.FOLLOW_UP and turn.question:
        yield Text(f"→ {one_line(turn.question)}", style="cyan")
    refused = turn.answer is not None and turn.answer.refused and not turn.by_model
    yield Text(plain(turn.said), style="yellow" if refused else "bold" if turn.answers else "")
    if turn.answers:
        yield from _cited(turn.citations)
    for note in dict.fromkeys(note for answer in turn.answers for note in answer.assumptions):
        yield Text(f"Note: {one_line(note)}", style="yellow")
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


def evidence_view(
    number: int, citation: Citation, record: FilingRecord, page: Page, tables: Sequence[FilingTable], passage: str
) -> RenderableType:
    """Return the passage of a citation: its table for a figure of a table, else its text with the quote highlighted."""
    head = Text.assemble((f"[{number}] ", "bold"), page_head(record, page))
    parts: list[RenderableType] = [head, Text(f"▸ {one_line(citation.text, _MAX_QUOTE_LENGTH)}", style="bold"), Text()]
    table = next((each for each in tables if _holds(each, citation)), None)
    if table is not None:
        return Group(*parts, *table_view(table))
    text = Text(plain(passage or page.text).strip())
    quote = plain(citation.text).strip()
    if quote:
        text.highlight_words([quote], style="bold reverse")
    return Group(*parts, text)


def _holds(table: FilingTable, citation: Citation) -> bool:
    if citation.box is None:
        return citation.text in table_text(table)
    across, middle = (citation.box[0] + citation.box[2]) / 2, (citation.box[1] + citation.box[3]) / 2
    box = table.box
    return table.page == citation.page and box.y0 - 1 <= middle <= box.y1 + 1 and box.x0 - 1 <= across <= box.x1 + 1


def history_view(turns: Sequence[Turn]) -> RenderableType:
    """Return every turn: the message, how it was read, and the beginning of the reply."""
    lines: list[RenderableType] = []
    for number, turn in enumerate(turns, start=1):
        lines.append(Text.assemble((f"{number:>3}  ", "dim"), (one_line(turn.asked, 200), "bold")))
        if turn.kind is MessageKind.FOLLOW_UP and turn.question:
            lines.append(Padding(Text(f"→ {one_line(turn.question, 200)}", style="cyan"), (0, 0, 0, 5)))
        lines.append(Padding(Text(one_line(turn.said, 200)), (0, 0, 0, 5)))
    return Group(*lines) if lines else Text("This thread has no messages yet.")


def threads_view(threads: Sequence[ThreadSummary], current: str) -> RenderableType:
    """Return the saved threads, with a mark on the current one."""
    if not threads:
        return Text("No thread is saved yet.")
    table = listing(fixed("Thread"), right("Turns"), fixed("Last used"), "Begins with")
    for thread in threads:
        mark = " ◂" if thread.name == current else ""
        when = thread.changed.astimezone().strftime("%Y-%m-%d %H:%M")
        table.add_row(Text(f"{one_line(thread.name)}{mark}"), str(thread.turns), when, Text(one_line(thread.title, 60)))
    return table
