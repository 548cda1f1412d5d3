"""Nodes of FinGEAR's trees written by a chat model: title, summary and questions, from the chunks below each."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.analyst.model.grounding import printable_line
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.models_by_role import callers_for_roles
from fin_agent.analyst.model.replies import TreeNodeReply
from fin_agent.config import Settings
from fin_agent.models.call import Role
from fin_agent.prompts import Quoted
from fin_agent.retrieval.fingear.tree_building import QUESTIONS, Chunk, NodeText, RuleWriter

_MAX_TITLE_LENGTH = 80
_MAX_SUMMARY_LENGTH = 800
_MOST_OF_NODE = 24_000
"""Characters of a node's chunks shown to a model, divided equally."""


class ModelNodeWriter:
    """Writes the nodes of FinGEAR's trees, one call per node; rules write if the reply is unusable."""

    def __init__(self, client: ModelClient, name: str) -> None:
        """Set the client; `name` is the model's. Raises PromptError."""
        client.require("tree_node")
        self._client = client
        self._rules = RuleWriter()
        self.name = name
        self.by_rules = 0
        """Number of nodes written by rules."""

    def write(self, chunks: Sequence[Chunk]) -> NodeText:
        """See NodeWriter.write. Never raises because of a model's reply."""
        room = _MOST_OF_NODE // len(chunks)
        shown = [Quoted(chunk.text[:room], f"chunk {number}") for number, chunk in enumerate(chunks, start=1)]
        said = self._client.ask(Role.TREE_NODE, "tree_node", TreeNodeReply, passages=shown)
        title, summary = (printable_line(said.title), printable_line(said.summary)) if said else ("", "")
        asked = [line for question in said.questions if (line := printable_line(question))] if said else []
        if not (summary and asked):
            self.by_rules += 1
            return self._rules.write(chunks)
        return NodeText(
            title[:_MAX_TITLE_LENGTH], summary[:_MAX_SUMMARY_LENGTH], tuple(dict.fromkeys(asked))[:QUESTIONS]
        )


def node_writer(settings: Settings) -> ModelNodeWriter:
    """Return the writer with the chat model that the settings name. Raises ModelSetupError and PromptError."""
    callers = callers_for_roles(settings)
    return ModelNodeWriter(ModelClient(callers, prompts=settings.prompts), callers.name(Role.TREE_NODE))
