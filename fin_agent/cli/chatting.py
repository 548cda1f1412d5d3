"""`fin-agent chat`: a conversation over filings in a terminal, or line by line through a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from rich.text import Text

from fin_agent.analyst.events import listening
from fin_agent.cli.chat_commands import Commands, LeftError
from fin_agent.cli.chat_thread import ChatThread, next_name
from fin_agent.cli.exits import ExitCode, sentence_of
from fin_agent.cli.indexes import chosen_index, opened
from fin_agent.cli.streams import messages, say, show, show_json, warn
from fin_agent.cli.watching import Watching
from fin_agent.config import Settings
from fin_agent.errors import FinAgentError
from fin_agent.graphs.chat.state import ChatContext, Turn
from fin_agent.graphs.chat.threads import FILE_NAME, KeptThread, ThreadStore, ThreadStoreError, chat_serializer
from fin_agent.presentation.chat import turn_view
from fin_agent.workspace import Workspace

_PROMPT = "you> "


@dataclass(frozen=True, slots=True)
class HowToChat:
    """What the options of the command say."""

    thread: str | None
    doc_ids: Sequence[str]
    keep: bool
    as_json: bool


def chat(given: Path | None, settings: Settings, how: HowToChat) -> ExitCode:
    """Talk until the end of what is typed; SOME_FAILED where a question through a pipe failed."""
    with opened(given) as workspace:
        context = ChatContext.from_settings(workspace, settings, doc_ids=how.doc_ids or None)
        with _Keeper(chosen_index(given).folder / FILE_NAME, how.keep) as keeper:
            name = how.thread or next_name([thread.name for thread in keeper.listed()])
            thread = ChatThread(context, keeper.saver, name)
            return _Talk(thread, keeper, workspace, how).until_the_end()


class _Keeper:
    """The file of threads; memory alone where nothing is to be kept, or nothing can be."""

    def __init__(self, file: Path, keep: bool) -> None:
        self.saver: BaseCheckpointSaver[str] = InMemorySaver(serde=chat_serializer())
        self._store: ThreadStore | None = None
        if not keep:
            return
        try:
            self.saver = self._store = ThreadStore(file)
        except ThreadStoreError as error:
            warn(f"this chat is not kept: {error}")

    def __enter__(self) -> _Keeper:
        return self

    def __exit__(self, *error: object) -> None:
        if self._store is not None:
            self._store.close()

    def listed(self) -> list[KeptThread]:
        return self._store.listed() if self._store is not None else []


class _Talk:
    """What is typed, line by line, and what comes of it."""

    def __init__(self, thread: ChatThread, keeper: _Keeper, workspace: Workspace, how: HowToChat) -> None:
        self._thread = thread
        self._how = how
        self._commands = Commands(thread, workspace, keeper.listed)
        self._at_terminal = sys.stdin.isatty()
        self._failed = False

    def until_the_end(self) -> ExitCode:
        self._greet()
        with suppress(LeftError):
            for line in self._typed():
                self._take(line.strip())
        return ExitCode.SOME_FAILED if self._failed and not self._at_terminal else ExitCode.DONE

    def _greet(self) -> None:
        turns = self._thread.turns
        if self._at_terminal:
            said = f"thread {self._thread.name}"
            said += f", {len(turns)} turn{'' if len(turns) == 1 else 's'} so far" if turns else ""
            messages().print(Text(f"{said} · /help for commands, Ctrl-D ends", style="dim"))
        if unanswered := self._thread.unanswered:
            say(f"the last question got no answer: {unanswered!r}. /again asks it")

    def _typed(self) -> Iterator[str]:
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

    def _take(self, line: str) -> None:
        if not line:
            return
        if line.startswith("/"):
            again = self._commanded(line)
            if again is None:
                return
            line = again
        try:
            turn = self._said(line)
        except KeyboardInterrupt:
            self._thread.forget_unanswered()
            say("cancelled; the conversation so far is kept")
            if not self._at_terminal:
                raise
        except FinAgentError as error:
            self._failed = True
            say(f"error: {sentence_of(error)}")
            if self._how.as_json:
                show_json({"thread": self._thread.name, "asked": line, "error": str(error)})
            if isinstance(error, ThreadStoreError) and not self._at_terminal:
                say("the lines behind it are not asked: they would go on from something else")
                raise LeftError from error
        else:
            self._show(turn)

    def _commanded(self, line: str) -> str | None:
        """Do what a command says. The message to be asked again, where one is."""
        shown = not self._at_terminal and not self._how.as_json
        if shown:
            show(Text(f"> {line}", style="dim"))
        try:
            again = self._commands.run(line)
            if shown and again is None:
                print(flush=True)
            return again
        except FinAgentError as error:
            self._failed = True
            say(f"error: {sentence_of(error)}")
        except KeyboardInterrupt:
            say("stopped")
        return None

    def _said(self, line: str) -> Turn:
        console = messages()
        if not console.is_terminal:
            return self._thread.say(line)
        with Watching(console) as shown, listening(shown.heard):
            return self._thread.say(line)

    def _show(self, turn: Turn) -> None:
        if self._how.as_json:
            show_json({"thread": self._thread.name, **turn.fields()})
            sys.stdout.flush()
            return
        if not self._at_terminal:
            show(Text(f"> {turn.asked}", style="dim"))
        show(turn_view(turn))
        print(flush=True)
