"""Every kind of generated question asked, and each answer scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fin_agent.answering.answer import Answer
from fin_agent.evaluation.generated.drawing import Material
from fin_agent.evaluation.generated.lookups import lookup_questions
from fin_agent.evaluation.generated.multi_filing import multi_filing_questions
from fin_agent.evaluation.generated.question import Family, GeneratedQuestion
from fin_agent.evaluation.generated.scoring import Outcome, canonical, judge
from fin_agent.evaluation.generated.unanswerable import unanswerable_questions
from fin_agent.workspace import Workspace

COUNTS: Mapping[Family, int] = {Family.MULTI_FILING: 100, Family.UNANSWERABLE: 60, Family.LOOKUP: 120}
"""How many questions of each family are made where nothing else is said."""
_MAKERS = {
    Family.MULTI_FILING: multi_filing_questions,
    Family.UNANSWERABLE: unanswerable_questions,
    Family.LOOKUP: lookup_questions,
}


def generated_questions(
    workspace: Workspace, families: Sequence[Family], seed: int, *, counts: Mapping[Family, int] = COUNTS
) -> tuple[GeneratedQuestion, ...]:
    """Questions over what the index holds, family by family; the same index and seed give the same ones."""
    material = Material(workspace)
    if not material.companies:
        return ()
    return tuple(question for family in families for question in _MAKERS[family](material, counts[family], seed))


def ask_generated(
    question: GeneratedQuestion, workspace: Workspace, ask: Callable[[str], Answer], *, repeat: int = 1
) -> tuple[Outcome, Answer]:
    """Ask `repeat` times: the first answer is scored, the others are held against it."""
    first = ask(question.text)
    again = [canonical(ask(question.text)) for _ in range(repeat - 1)]
    differing = sum(answer != canonical(first) for answer in again)
    return judge(question, first, workspace.directory.by_key, differing=differing), first
