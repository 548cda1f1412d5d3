"""Summaries of filings by a chat model, limited to what the first pages state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.analyst.model.grounding import contains_phrase, numbers_not_in, printable_line
from fin_agent.analyst.model.model_client import prompt_to_call
from fin_agent.analyst.model.replies import SummaryReply
from fin_agent.evidence.summaries import COVER_PAGES, summary_by_rules
from fin_agent.index.protocol import FilingRecord, PageKey
from fin_agent.models.caller import Caller
from fin_agent.models.errors import ModelError, RefusedByModelError, UnusableReplyError
from fin_agent.prompts import Quoted, load_prompt
from fin_agent.workspace import Workspace

_MAX_READ = 4_000
"""Characters of each page shown to the model."""
_MAX_TOKENS = 2_500
_MAX_LENGTH = 800
_MAX_NAME_LENGTH = 80
_MAX_NAMES = 5


@dataclass(frozen=True, slots=True)
class SummaryWithAuthor:
    """A filing's summary with its author."""

    text: str
    by_model: bool
    """Whether a model extended the rules' summary."""
    notes: tuple[str, ...] = ()
    """Why it did not, or what was rejected of its reply."""
    model_unavailable: bool = False
    """Whether the model was unavailable, so that further calls would fail as well."""


class ModelSummarizer:
    """Extends the rules' summary with a chat model's description of a filing's first pages.

    The rules' lines come first and are kept: company, form and period are never taken from a model.
    """

    def __init__(self, caller: Caller, workspace: Workspace, folder: Path | None = None) -> None:
        """Load the prompt; `folder` may contain the user's `cover_summary.md`. Raises PromptError."""
        self._caller = caller
        self._workspace = workspace
        self._prompt = load_prompt("cover_summary", folder=folder)

    def is_written_by_model(self, record: FilingRecord) -> bool:
        """Return whether a model has extended a filing's summary before."""
        return record.summary.startswith(f"{self.by_rules(record)}\n")

    def by_rules(self, record: FilingRecord) -> str:
        """Return the summary by rules."""
        outline = self._workspace.index.outline([record.doc_id])
        return summary_by_rules(record.identity, [page.title for page in outline if page.key.page < COVER_PAGES])

    def make(self, record: FilingRecord) -> SummaryWithAuthor:
        """Return the summary of a filing in the index. Never raises because of a model's reply."""
        base = self.by_rules(record)
        keys = [PageKey(record.doc_id, number) for number in range(min(COVER_PAGES, record.page_count))]
        texts = [stored.page.text for stored in self._workspace.index.pages(keys)]
        pages = [Quoted(text[:_MAX_READ], f"page {number}") for number, text in enumerate(texts, start=1)]
        try:
            filled = self._prompt.filled(pages=pages)
            said, _ = self._caller.value(prompt_to_call(filled, output=SummaryReply, max_output_tokens=_MAX_TOKENS))
        except ModelError as failure:
            there = isinstance(failure, UnusableReplyError | RefusedByModelError)
            return SummaryWithAuthor(
                base, False, (f"the rules' summary stays: {failure.what}",), model_unavailable=not there
            )
        return self._merge_reply(base, said, "\n".join(texts), record.doc_id)

    def _merge_reply(self, base: str, said: SummaryReply, text: str, doc_id: str) -> SummaryWithAuthor:
        notes: list[str] = []
        lines = (printable_line(name)[:_MAX_NAME_LENGTH] for name in (said.company or "", *said.also_named))
        names = list(dict.fromkeys(filter(None, lines)))
        if odd := [name for name in names if not contains_phrase(name, text)]:
            notes.append(f"left out names that are not on the first pages: {', '.join(odd[:_MAX_NAMES])}")
        new = [name for name in names if name not in odd and not contains_phrase(name, base)][:_MAX_NAMES]
        summary = printable_line(said.summary)[:_MAX_LENGTH]
        if wrong := self._unsupported_statements(summary, text, doc_id):
            notes.append(f"left out the summary, for {wrong}")
            summary = ""
        added = [*([f"also named {', '.join(new)}"] if new else []), *([summary] if summary else [])]
        if not added:
            return SummaryWithAuthor(base, False, tuple(notes) or ("the rules' summary stays: nothing was added",))
        return SummaryWithAuthor("\n".join([base, *added]), True, tuple(notes))

    def _unsupported_statements(self, summary: str, text: str, doc_id: str) -> str:
        """Return a message about numbers and indexed companies that the pages lack; empty if there are none."""
        if not any(map(str.isalpha, summary)):
            return "it is empty"
        if invented := numbers_not_in(summary, text):
            return f"numbers that are not on the first pages: {', '.join(invented)}"
        directory = self._workspace.directory
        strange = [
            mention.company.name
            for mention in directory.mentions(summary)
            if directory.owners.get(doc_id) != mention.company.key and not contains_phrase(mention.company.name, text)
        ]
        return f"companies that are not on the first pages: {', '.join(dict.fromkeys(strange))}" if strange else ""


def is_model_unavailable(made: Sequence[SummaryWithAuthor], patience: int = 2) -> bool:
    """Return whether the model was unavailable for the last `patience` filings, so that it is no longer called."""
    return len(made) >= patience and all(one.model_unavailable for one in made[-patience:])
