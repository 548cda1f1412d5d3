"""What a chat model adds to an index: summaries of filings, and the nodes of FinGEAR's trees."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.analyst.model.grounding import contains_phrase, numbers_not_in, printable_line
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.replies import SummaryReply, TreeNodeReply
from fin_agent.evidence.summaries import COVER_PAGES, summary_by_rules
from fin_agent.index.protocol import FilingRecord, PageKey
from fin_agent.models.errors import RefusedByModelError, UnusableReplyError
from fin_agent.prompts import Quoted
from fin_agent.retrieval.fingear.tree_building import QUESTIONS, Chunk, NodeText, RuleWriter
from fin_agent.workspace import Workspace

_MAX_READ = 4_000
"""Characters of each page shown to the model."""
_MAX_LENGTH = 800
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
        return summary_by_rules(record.identity, [page.title for page in outline if page.key.page < COVER_PAGES])

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
        summary = printable_line(said.summary)[:_MAX_LENGTH]
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
        self._rules = RuleWriter()
        self.name = client.model_name("tree_node")
        self.by_rules = 0
        """Number of nodes written by rules."""

    def write(self, chunks: Sequence[Chunk]) -> NodeText:
        """See NodeWriter.write. Never raises because of a model's reply."""
        room = _MOST_OF_NODE // len(chunks)
        shown = [Quoted(chunk.text[:room], f"chunk {number}") for number, chunk in enumerate(chunks, start=1)]
        said = self._client.ask("tree_node", TreeNodeReply, passages=shown)
        asked = list(filter(None, map(printable_line, said.questions))) if said else []
        if said is None or not (asked and printable_line(said.summary)):
            self.by_rules += 1
            return self._rules.write(chunks)
        title, summary = printable_line(said.title)[:_MAX_NAME_LENGTH], printable_line(said.summary)[:_MAX_LENGTH]
        return NodeText(title, summary, tuple(dict.fromkeys(asked))[:QUESTIONS])
