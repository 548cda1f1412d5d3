"""One node of a run and what it left, for reading before the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.evidence.trace import TraceStep
from fin_agent.graphs.answer.state import AnswerState
from fin_agent.presentation.ledgers import LedgerView
from fin_agent.presentation.plain import one_line
from fin_agent.presentation.programs import program_view
from fin_agent.presentation.step_notes import step_notes

_MOST_DETAILS = 8
_WORDS_SHOWN = 70


def step_view(step: TraceStep) -> RenderableType:
    """What a node did; the first of its details."""
    head = Text.assemble((f"\n{step.node}", "bold cyan"), (f"  round {step.round}", "dim"))
    # What the filter says of the ledger stands in the ledger, which is shown after it.
    told = () if step.node == "filter_passages" else step.details
    details = [Text(one_line(detail), style="dim") for detail in told[:_MOST_DETAILS]]
    if len(told) > _MOST_DETAILS:
        details.append(Text(f"and {len(told) - _MOST_DETAILS} more", style="dim"))
    dropped = [each for each in step.judged if not each.kept]
    details += [
        Text(f"dropped {each.doc_id} page {each.page + 1}: {one_line(each.why)}", style="dim") for each in dropped
    ]
    under = [_under(each, 4) for each in (*details, *step_notes(step))]
    return Group(head, _under(Text(one_line(step.summary)), 2), *under)


def _under(shown: RenderableType, columns: int) -> RenderableType:
    return Padding(shown, (0, 0, 0, columns), expand=False)


def left_view(state: AnswerState, following: str, passages: Sequence[RetrievedPassage]) -> RenderableType:
    """What the next node is given: the words of a search, the passages, the ledger."""
    return _under(Group(*_left(state, following, passages)), 2)


def _left(state: AnswerState, following: str, passages: Sequence[RetrievedPassage]) -> Iterator[RenderableType]:
    if following == "search_documents":
        yield Text(f"searches for: {one_line(state['query'].text)}")
    if following in ("filter_passages", "check_answerability", "answer_with_reasoning"):
        kept = {evidence.passage.key: evidence.why for evidence in state.get("evidence", [])}
        for number, passage in enumerate(passages, start=1):
            why = kept.get(passage.key, "")
            place = f"{number:>2}  {passage.doc_id} page {passage.page + 1} ({passage.kind.value})"
            said = f": {one_line(why)}" if why else f"  {one_line(passage.text, _WORDS_SHOWN)}"
            yield Text(f"{place}{said}", no_wrap=True, overflow="ellipsis")
    if following == "check_answerability" and state["ledger"].entries:
        yield LedgerView(state["ledger"].entries)


def about_to_run(program: str) -> RenderableType:
    """A program that waits to be run."""
    return _under(Group(Text("about to run:"), program_view(program)), 2)
