"""Summaries of filings and of sections, and titles: by a chat model, held against the text; by rules where it fails."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.analyst.events import warned
from fin_agent.analyst.model.grounding import metrics_named, numbers_not_in, on_a_line, stands_in
from fin_agent.analyst.model.model_client import call_of
from fin_agent.analyst.model.replies import NodeSummaryReply, SummaryReply, TitleReply
from fin_agent.evidence.summaries import COVER_PAGES, summary_by_rules
from fin_agent.index.protocol import FilingRecord, PageKey
from fin_agent.lexicon.lexicon import Lexicon, load_lexicon
from fin_agent.models.caller import Caller
from fin_agent.models.errors import ModelError, RefusedByModelError, UnusableReplyError
from fin_agent.prompts import Quoted, load_prompt
from fin_agent.workspace import Workspace

_MOST_READ = 4_000
"""Characters of each page that the model is shown."""
_MOST_TOKENS = 2_500
_LONGEST = 800
_LONGEST_NAME = 80
_MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class MadeSummary:
    """A filing's summary, and who made it."""

    text: str
    by_model: bool
    """Whether a model added to what the rules say."""
    notes: tuple[str, ...] = ()
    """Why it did not, or what of its reply was left out."""
    out_of_reach: bool = False
    """Whether the model could not be had: it could not be had for other filings either."""


class ModelSummarizer:
    """Adds to the lines of the rules what a chat model says of a filing's first pages.

    The rules' lines stay, and first: who, what and when a filing is, is never taken from a model.
    """

    def __init__(self, caller: Caller, workspace: Workspace, folder: Path | None = None) -> None:
        """`folder` may hold a `cover_summary.md` of the user's own. Raises PromptError."""
        self._caller = caller
        self._workspace = workspace
        self._prompt = load_prompt("cover_summary", folder=folder)

    def is_made(self, record: FilingRecord) -> bool:
        """Whether a model has added to a filing's summary before."""
        return record.summary.startswith(f"{self.by_rules(record)}\n")

    def by_rules(self, record: FilingRecord) -> str:
        """The summary that rules make."""
        outline = self._workspace.index.outline([record.doc_id])
        return summary_by_rules(record.identity, [page.title for page in outline if page.key.page < COVER_PAGES])

    def made(self, record: FilingRecord) -> MadeSummary:
        """The summary of a filing in the index. Never raises for what a model says or fails to say."""
        base = self.by_rules(record)
        keys = [PageKey(record.doc_id, number) for number in range(min(COVER_PAGES, record.page_count))]
        texts = [stored.page.text for stored in self._workspace.index.pages(keys)]
        pages = [Quoted(text[:_MOST_READ], f"page {number}") for number, text in enumerate(texts, start=1)]
        try:
            filled = self._prompt.filled(pages=pages)
            said, _ = self._caller.value(call_of(filled, output=SummaryReply, max_output_tokens=_MOST_TOKENS))
        except ModelError as failure:
            there = isinstance(failure, UnusableReplyError | RefusedByModelError)
            return MadeSummary(base, False, (f"the rules' summary stays: {failure.what}",), out_of_reach=not there)
        return self._joined(base, said, "\n".join(texts), record.doc_id)

    def _joined(self, base: str, said: SummaryReply, text: str, doc_id: str) -> MadeSummary:
        notes: list[str] = []
        names = [on_a_line(name)[:_LONGEST_NAME] for name in (said.company or "", *said.also_named)]
        held = [name for name in dict.fromkeys(filter(None, names)) if stands_in(name, text)]
        if odd := [name for name in dict.fromkeys(filter(None, names)) if name not in held]:
            notes.append(f"left out names that are not on the first pages: {', '.join(odd[:_MOST_NAMES])}")
        new = [name for name in held if not stands_in(name, base)][:_MOST_NAMES]
        summary = on_a_line(said.summary)[:_LONGEST]
        if wrong := self._wrong(summary, text, doc_id):
            notes.append(f"left out the summary, for {wrong}")
            summary = ""
        added = [*([f"also named {', '.join(new)}"] if new else []), *([summary] if summary else [])]
        if not added:
            return MadeSummary(base, False, tuple(notes) or ("the rules' summary stays: nothing was added",))
        return MadeSummary("\n".join([base, *added]), True, tuple(notes))

    def _wrong(self, summary: str, text: str, doc_id: str) -> str:
        """What a summary says that the pages do not: numbers, and companies of the index."""
        if not any(map(str.isalpha, summary)):
            return "it says nothing"
        if invented := numbers_not_in(summary, text):
            return f"numbers that are not on the first pages: {', '.join(invented)}"
        directory = self._workspace.directory
        strange = [
            mention.company.name
            for mention in directory.mentions(summary)
            if directory.owners.get(doc_id) != mention.company.key and not stands_in(mention.company.name, text)
        ]
        return f"companies that are not on the first pages: {', '.join(dict.fromkeys(strange))}" if strange else ""


def given_up(made: Sequence[MadeSummary], patience: int = 2) -> bool:
    """Whether the model was out of reach for the last `patience` filings: it is not asked for others."""
    return len(made) >= patience and all(one.out_of_reach for one in made[-patience:])


_MOST_OF_SECTION = 12_000
"""Characters of a section that the model is shown, shared out between its texts."""
_MOST_OF_REPLY = 2_500
_LONGEST_SUMMARY = 600
_LONGEST_TITLE = 80
_MOST_TOPICS = 10


@dataclass(frozen=True, slots=True)
class SectionSummary:
    """What a section tells."""

    summary: str
    topics: tuple[str, ...]
    """Metrics and subjects, what matters most first."""
    by_model: bool


class ModelSectionReader:
    """Summaries of sections; those of the rules, and a warning in the journal, where the model gives none."""

    def __init__(self, caller: Caller, folder: Path | None = None, *, lexicon: Lexicon | None = None) -> None:
        """`folder` may hold a `node_summary.md` of the user's own. Raises PromptError."""
        self._caller = caller
        self._prompt = load_prompt("node_summary", folder=folder)
        self._lexicon = lexicon or load_lexicon()

    def summary(self, texts: Sequence[Quoted]) -> SectionSummary:
        """What a section tells: `texts` are its pages, or the summaries of its own sections."""
        by_rules = section_by_rules(texts, self._lexicon)
        try:
            filled = self._prompt.filled(sections=_shortened(texts))
            said, _ = self._caller.value(call_of(filled, output=NodeSummaryReply, max_output_tokens=_MOST_OF_REPLY))
        except ModelError as failure:
            warned(f"the summary of a section is that of the rules: {failure.what}")
            return by_rules
        text = _whole(texts)
        summary = on_a_line(said.summary)[:_LONGEST_SUMMARY]
        invented = numbers_not_in(summary, text)
        if invented or not any(map(str.isalpha, summary)):
            why = f"numbers that are not in it: {', '.join(invented)}" if invented else "it says nothing"
            warned(f"the summary of a section is that of the rules: the model's is left out, for {why}")
            return by_rules
        topics = tuple(dict.fromkeys(filter(None, (on_a_line(each)[:_LONGEST_TITLE] for each in said.topics))))
        held = tuple(topic for topic in topics if self._is_treated(topic, text, by_rules.topics))
        return SectionSummary(summary, (held or by_rules.topics)[:_MOST_TOPICS], by_model=True)

    def _is_treated(self, topic: str, text: str, metrics: Sequence[str]) -> bool:
        """Whether a topic stands in the text, or is what the lexicon calls a metric of it."""
        return stands_in(topic, text) or any(metric in metrics for metric in metrics_named(topic, self._lexicon, None))


def section_by_rules(texts: Sequence[Quoted], lexicon: Lexicon) -> SectionSummary:
    """The first words of a section, and the metrics that its texts name, the most often named first."""
    text = _whole(texts)
    counts: dict[str, int] = {}
    for mention in lexicon.mentions(text):
        counts[mention.id] = counts.get(mention.id, 0) + 1
    topics = sorted(counts, key=lambda metric: (-counts[metric], metric))[:_MOST_TOPICS]
    return SectionSummary(_first_words(text, _LONGEST_SUMMARY), tuple(topics), by_model=False)


class ModelTitler:
    """Titles; the first words of the text, and a warning in the journal, where the model gives none."""

    def __init__(self, caller: Caller, folder: Path | None = None) -> None:
        """`folder` may hold a `title.md` of the user's own. Raises PromptError."""
        self._caller = caller
        self._prompt = load_prompt("title", folder=folder)

    def title(self, what: str, texts: Sequence[Quoted]) -> str:
        """A title for `what`, as "a conversation about filings", of which these are the texts."""
        try:
            filled = self._prompt.filled(what=what, texts=_shortened(texts))
            said, _ = self._caller.value(call_of(filled, output=TitleReply, max_output_tokens=_MOST_OF_REPLY))
        except ModelError as failure:
            warned(f"the title is the first words of the text: {failure.what}")
            return title_by_rules(texts)
        title = on_a_line(said.title).strip(" .\"'“”")
        invented = numbers_not_in(title, _whole(texts))
        if invented or not any(map(str.isalpha, title)):
            why = f"numbers that are not in the text: {', '.join(invented)}" if invented else "it says nothing"
            warned(f"the title is the first words of the text: the model's is left out, for {why}")
            return title_by_rules(texts)
        return _first_words(title, _LONGEST_TITLE)


def title_by_rules(texts: Sequence[Quoted]) -> str:
    """The first words of the first text that has any.

    >>> title_by_rules([Quoted(""), Quoted("What was net income in 2023?")])
    'What was net income in 2023?'
    """
    return next((words for each in texts if (words := _first_words(each.text, _LONGEST_TITLE))), "Untitled")


def _shortened(texts: Sequence[Quoted]) -> list[Quoted]:
    share = _MOST_OF_SECTION // max(1, len(texts))
    return [Quoted(each.text[:share], each.of) for each in texts]


def _whole(texts: Sequence[Quoted]) -> str:
    return "\n".join(each.text for each in texts)


def _first_words(text: str, most: int) -> str:
    return textwrap.shorten(on_a_line(text), most, placeholder="…")
