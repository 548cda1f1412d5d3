"""Questions taken apart for a search: by the figures they need, or by a chat model within what they name."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.analyst.model.sub_questions import ModelSubQuestions
from fin_agent.analyst.protocol import Analyst
from fin_agent.errors import QuestionError
from fin_agent.models.errors import ModelError
from fin_agent.retrieval.query import Query
from fin_agent.retrieval.strategies.protocol import Notify, logged
from fin_agent.workspace import Workspace

MOST_PARTS = 8


class AnalystDecomposer:
    """See `fin_agent.retrieval.strategies.hirec.Decomposer`.

    By rules the parts are the single figures that the plan of the question needs. A chat model takes questions in words
    apart as well; a part that names a company the question does not name is left out.
    """

    def __init__(
        self,
        analyst: Analyst,
        workspace: Workspace,
        model: ModelSubQuestions | None = None,
        *,
        notify: Notify = logged,
    ) -> None:
        """`notify` is told what of the model could not be used."""
        self._analyst = analyst
        self._workspace = workspace
        self._model = model
        self._notify = notify

    def parts(self, query: Query) -> Sequence[Query]:
        """See Decomposer.parts."""
        return [read for text in self.questions(query) if (read := self._read(text)) is not None]

    def questions(self, query: Query) -> tuple[str, ...]:
        """The parts in words; none where the question is one of one part."""
        if self._model is None:
            return by_slots(query)
        directory = self._workspace.directory
        names = [directory.by_key[key].name for key in query.companies if key in directory.by_key]
        try:
            asked = self._model.questions(query.text, names, MOST_PARTS)
        except ModelError as failure:
            self._notify(f"the question was taken apart by rules: {failure.what}")
            return by_slots(query)
        kept = tuple(text for text in asked if self._is_within(text, query))
        if len(kept) < len(asked):
            self._notify(f"left out {len(asked) - len(kept)} sub-questions on companies that were not asked about")
        if not kept:
            self._notify("the question was taken apart by rules: the chat model left nothing of it")
            return by_slots(query)
        return kept if len(kept) > 1 or kept[0] != query.text else ()

    def _is_within(self, text: str, query: Query) -> bool:
        named = {mention.company.key for mention in self._workspace.directory.mentions(text)}
        return not query.companies or named <= set(query.companies)

    def _read(self, text: str) -> Query | None:
        try:
            intent = self._analyst.intent(text)
        except QuestionError:
            return None
        return self._analyst.query(intent, self._analyst.plan(intent), None)


def by_slots(query: Query) -> tuple[str, ...]:
    """A question for each figure that is needed, where these are several."""
    asked = tuple(dict.fromkeys(f"What was the {slot}?" for slot in query.slots))[:MOST_PARTS]
    return asked if len(asked) > 1 else ()
