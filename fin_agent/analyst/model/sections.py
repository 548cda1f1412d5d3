"""What a section of a filing tells, and titles: by a chat model, held against the text; by rules where it fails."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.analyst.journal import warned
from fin_agent.analyst.model.calls import call_of
from fin_agent.analyst.model.grounding import metrics_named, numbers_not_in, on_a_line, stands_in
from fin_agent.analyst.model.summary_replies import NodeSummaryReply, TitleReply
from fin_agent.lexicon.lexicon import Lexicon, load_lexicon
from fin_agent.models.caller import Caller
from fin_agent.models.errors import ModelError
from fin_agent.prompts import Quoted, load_prompt

_MOST_READ = 12_000
"""Characters of a section that the model is shown, shared out between its texts."""
_MOST_TOKENS = 2_500
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
            said, _ = self._caller.value(call_of(filled, output=NodeSummaryReply, max_output_tokens=_MOST_TOKENS))
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
            said, _ = self._caller.value(call_of(filled, output=TitleReply, max_output_tokens=_MOST_TOKENS))
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
    share = _MOST_READ // max(1, len(texts))
    return [Quoted(each.text[:share], each.of) for each in texts]


def _whole(texts: Sequence[Quoted]) -> str:
    return "\n".join(each.text for each in texts)


def _first_words(text: str, most: int) -> str:
    return textwrap.shorten(on_a_line(text), most, placeholder="…")
