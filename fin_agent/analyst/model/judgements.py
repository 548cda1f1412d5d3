"""Questions that ask for a judgement: yes or no where figures alone do not settle it, or whether a measure suits."""

from __future__ import annotations

import re

from fin_agent.evidence.intent import Intent

_YES_OR_NO = re.compile(
    r"^\W*(?:(?:so|and|then),?\s+)?(?:is|are|was|were|does|do|did|has|have|had|can|could|should|would)\b", re.I
)
_IF_NOT_USEFUL = re.compile(
    r"\bif\b.{0,80}?\b(?:not|n't|isn't)\b.{0,60}?\b(?:useful|relevant|meaningful|applicable|appropriate|used|something)\b",
    re.I | re.S,
)
_VERDICT = re.compile(r"\W*(?:yes|no)\b", re.I)


def asks_judgement(intent: Intent, computed: str) -> bool:
    """Whether yes or no is asked for that a result does not settle, or whether the measure suits the company."""
    unsettled = asks_yes_or_no(intent) and not gives_verdict(computed)
    return unsettled or bool(_IF_NOT_USEFUL.search(intent.question))


def asks_yes_or_no(intent: Intent) -> bool:
    """Whether the question begins as one that yes or no answers.

    >>> asks_yes_or_no(Intent(question="Is it?", core="Is Acme a capital-intensive business?"))
    True
    """
    return bool(_YES_OR_NO.match(intent.core))


def gives_verdict(text: str) -> bool:
    """Whether an answer begins with yes or no."""
    return bool(_VERDICT.match(text))
