"""What a chat model says of filings beyond the rules: cards (FinCards), summaries, nodes of FinGEAR's trees.

It describes; figures, companies and periods are never taken from it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from fin_agent.analyst.model.grounding import contains_phrase, numbers_not_in, printable_line
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.prompt_context import card_place
from fin_agent.analyst.model.replies import Abstraction, SummaryReply, TreeNodeReply
from fin_agent.analyst.rules.period_resolution import requested_periods
from fin_agent.evidence.cards.card import Card, ClaimRole, EvidenceType, RiskSignal
from fin_agent.evidence.cards.rule_based_abstraction import SKETCH_CHARACTERS, NamedMetric, spans_of
from fin_agent.evidence.filing_preparation import COVER_PAGES, summary_by_rules
from fin_agent.index.protocol import FilingRecord, PageKey
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.models.errors import RefusedByModelError, UnusableReplyError
from fin_agent.prompts import Quoted
from fin_agent.retrieval.fingear.tree_building import QUESTIONS, Chunk, NodeText, write_by_rules
from fin_agent.workspace import Workspace

_MAX_PASSAGE_CHARACTERS = 8_000
"""Characters of a passage shown to the model; its reply is checked against the whole passage."""
_MAX_CACHED = 2_000
"""Cards cached for further rounds and questions."""
_MAX_VALUES = 12
_MAX_LENGTH = 80
_BY_STRUCTURE = (RiskSignal.PART_ONLY, RiskSignal.UNCERTAIN_PERIOD)
"""Risks that follow from the figures alone: only the rules set them."""


class ModelCardMaker:
    """Makes cards of passages. Identity, facts, units, scales and the table's signature are always the rules'."""

    def __init__(self, client: ModelClient, lexicon: Lexicon) -> None:
        """Load the prompt and its model. Raises PromptError and ModelSetupError."""
        client.require("card")
        self._client = client
        self._lexicon = lexicon
        self._made: dict[tuple[str, str], tuple[Card, tuple[str, ...]]] = {}

    def make(self, base: Card, text: str) -> tuple[Card, tuple[str, ...]]:
        """Return the card of a passage with that text, and notes on rejected parts of the model's reply.

        Without a usable reply the card is `base`, the rules' one. Cards are cached: a passage is described once.
        """
        key = (base.model_dump_json(), text)
        if key not in self._made:
            passage = [Quoted(text[:_MAX_PASSAGE_CHARACTERS], card_place(base))]
            reply = self._client.ask("card", Abstraction, passage=passage)
            if reply is None:
                return base, ()
            if len(self._made) >= _MAX_CACHED:
                self._made.clear()
            self._made[key] = merge_card(base, reply, text, self._lexicon)
        return self._made[key]


def merge_card(base: Card, reply: Abstraction, text: str, lexicon: Lexicon) -> tuple[Card, tuple[str, ...]]:
    """Return the rules' card with the model's fields, and notes on rejected parts of the reply.

    What the model omits stays as the rules set it, and so do risks. If the passage has figures, their metrics, periods
    and scope come first and the model's are appended.
    """
    has_figures = base.verifiability.facts > 0
    notes: list[str] = []

    def checked(own: Sequence[str], values: dict[str, Sequence[str]], rejected: str) -> tuple[str, ...]:
        """Return the values found for the model's words; words without a value are noted."""
        _note(notes, rejected, (words for words, found in values.items() if not found))
        found = [each for several in values.values() for each in several][:_MAX_VALUES]
        return tuple(dict.fromkeys([*(own if has_figures or not found else ()), *found]))

    def quoted(phrases: Iterable[str]) -> dict[str, Sequence[str]]:
        lines = (" ".join(phrase.split()) for phrase in phrases)
        return {line: [line] if len(line) <= _MAX_LENGTH and contains_phrase(line, text) else [] for line in lines}

    metric_ids = {words: _metric_ids(words[:_MAX_LENGTH], lexicon, base) for words in reply.metrics}
    metrics = checked(base.metrics, metric_ids, "metrics the lexicon does not know")
    named_periods = {words: _periods(words, text, base) for words in reply.periods}
    periods = checked(base.time.periods, named_periods, "periods not in the passage")
    parts = checked(base.scope.parts, quoted(reply.parts), "parts not in the passage")
    cues = checked((), quoted(map(str.lower, reply.cues)), "cues not in the passage")
    if not cues and reply.role is base.role:
        cues = base.verifiability.cues
    known = {*base.risks, *reply.risks}.difference(set(_BY_STRUCTURE).difference(base.risks))
    risks = tuple(risk for risk in RiskSignal if risk in known)
    forward = reply.role is ClaimRole.FORECASTS or RiskSignal.FORWARD_LOOKING in risks
    adjusted = base.basis.adjusted or bool(reply.adjusted)
    unaudited = base.basis.unaudited or bool(reply.unaudited)
    by_rules = has_figures or reply.consolidated is None
    consolidated = base.scope.consolidated if by_rules else reply.consolidated
    sketch = textwrap.shorten(printable_line(reply.sketch), SKETCH_CHARACTERS, placeholder="…")
    invented = numbers_not_in(sketch, text)
    _note(notes, "the sketch, for numbers not in the passage", invented)
    if invented or not any(map(str.isalpha, sketch)):
        sketch = base.sketch
    is_prose = base.evidence_type in (EvidenceType.NARRATIVE, EvidenceType.MIXED)
    named = [NamedMetric(span.shows, span.start, span.end) for span in base.spans if span.shows in metrics]
    card = base.model_copy(
        update={
            "role": reply.role,
            "metrics": metrics,
            "answers": base.answers.model_copy(update={"uses": reply.uses or base.answers.uses}),
            "time": base.time.model_copy(update={"periods": periods, "forward": forward}),
            "scope": base.scope.model_copy(update={"parts": parts, "consolidated": consolidated}),
            "basis": base.basis.model_copy(update={"adjusted": adjusted, "unaudited": unaudited}),
            "verifiability": base.verifiability.model_copy(update={"cues": cues}),
            "risks": risks,
            "sketch": sketch,
            "spans": spans_of(text, reply.role, cues if is_prose else (), named),
        }
    )
    return card, tuple(notes)


def _note(notes: list[str], what: str, rejected: Iterable[str]) -> None:
    words = [printable_line(each)[:_MAX_LENGTH] for each in rejected]
    if words:
        notes.append(f"left out {what}: {', '.join(words[:_MAX_VALUES])}")


def _metric_ids(words: str, lexicon: Lexicon, base: Card) -> Sequence[str]:
    """Return the ids of the metrics and formulas that a model's words name; empty if the lexicon knows none."""
    name = "_".join(words.lower().split())
    if name in lexicon.metrics or name in lexicon.formulas:
        return [name]
    labelled = lexicon.metric_of_label(words, base.identity.statement)
    return [mention.id for mention in lexicon.mentions(words)] or ([labelled] if labelled else [])


def _periods(words: str, text: str, base: Card) -> Sequence[str]:
    """Return the periods that a model's words name, as `Q2 FY2023`, of years that the passage or its card has."""
    own = f"FY{base.identity.fiscal_year}"
    known = (*base.time.periods, own, f"Q{base.identity.quarter} {own}")
    named = requested_periods(words[:_MAX_LENGTH], "")
    return [str(one) for one in named if str(one) in known or contains_phrase(str(one.fiscal_year), text)]


_MAX_READ = 4_000
"""Characters of each page shown to the model."""
_MAX_SUMMARY_LENGTH = 800
_MAX_NAME_LENGTH = 80
_MAX_NAMES = 5
_MOST_OF_NODE = 24_000
"""Characters of a node's chunks shown to a model, divided equally."""


class ModelSummarizer:
    """Extends the rules' summary with a chat model's description of a filing's first pages, limited to what they state.

    The rules' lines come first and are kept: company, form and period are never taken from a model.
    """

    def __init__(self, client: ModelClient, workspace: Workspace) -> None:
        """Load the prompt and its model. Raises PromptError and ModelSetupError."""
        client.require("cover_summary")
        self._client, self._workspace = client, workspace

    def is_written_by_model(self, record: FilingRecord) -> bool:
        """Return whether a model has extended a filing's summary before."""
        return record.summary.startswith(f"{self.by_rules(record)}\n")

    def by_rules(self, record: FilingRecord) -> str:
        """Return the summary by rules."""
        outline = self._workspace.index.outline([record.doc_id])
        return summary_by_rules(record.identity, [each.page.title for each in outline if each.key.page < COVER_PAGES])

    def make(self, record: FilingRecord) -> tuple[str | None, tuple[str, ...]]:
        """Return the extended summary of a filing, and what was rejected of the model's reply.

        Without a usable reply the summary is None, and the notes say why. Raises ModelError if the model cannot be
        reached.
        """
        keys = [PageKey(record.doc_id, number) for number in range(min(COVER_PAGES, record.page_count))]
        texts = [stored.page.text for stored in self._workspace.index.pages(keys)]
        pages = [Quoted(text[:_MAX_READ], f"page {number}") for number, text in enumerate(texts, start=1)]
        try:
            said = self._client.value("cover_summary", SummaryReply, pages=pages)
        except (UnusableReplyError, RefusedByModelError) as failure:
            return None, (f"the rules' summary stays: {failure.what}",)
        base, text, notes = self.by_rules(record), "\n".join(texts), list[str]()
        lines = (printable_line(name)[:_MAX_NAME_LENGTH] for name in (said.company or "", *said.also_named))
        names = list(dict.fromkeys(filter(None, lines)))
        if odd := [name for name in names if not contains_phrase(name, text)]:
            notes.append(f"left out names that are not on the first pages: {', '.join(odd[:_MAX_NAMES])}")
        new = [name for name in names if name not in odd and not contains_phrase(name, base)][:_MAX_NAMES]
        summary = printable_line(said.summary)[:_MAX_SUMMARY_LENGTH]
        if wrong := self._unsupported_statements(summary, text, record.doc_id):
            notes.append(f"left out the summary, for {wrong}")
            summary = ""
        added = [*([f"also named {', '.join(new)}"] if new else []), *([summary] if summary else [])]
        if not added:
            return None, tuple(notes) or ("the rules' summary stays: nothing was added",)
        return "\n".join([base, *added]), tuple(notes)

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


class ModelNodeWriter:
    """Writes title, summary and questions of the nodes of FinGEAR's trees, one call per node.

    Rules write if the reply is unusable.
    """

    def __init__(self, client: ModelClient) -> None:
        """Load the prompt and its model. Raises PromptError and ModelSetupError."""
        client.require("tree_node")
        self._client = client
        self.name = client.model_name("tree_node")
        self.by_rules = 0
        """Number of nodes written by rules."""

    def write(self, chunks: Sequence[Chunk]) -> NodeText:
        """See NodeWriter. Never raises because of a model's reply."""
        room = _MOST_OF_NODE // len(chunks)
        shown = [Quoted(chunk.text[:room], f"chunk {number}") for number, chunk in enumerate(chunks, start=1)]
        said = self._client.ask("tree_node", TreeNodeReply, passages=shown)
        asked = list(filter(None, map(printable_line, said.questions))) if said else []
        if said is None or not (asked and printable_line(said.summary)):
            self.by_rules += 1
            return write_by_rules(chunks)
        title = printable_line(said.title)[:_MAX_NAME_LENGTH]
        summary = printable_line(said.summary)[:_MAX_SUMMARY_LENGTH]
        return NodeText(title, summary, tuple(dict.fromkeys(asked))[:QUESTIONS])
