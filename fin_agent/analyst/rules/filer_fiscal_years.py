"""Years of a question of words by the names that their filer gives them."""

from __future__ import annotations

from fin_agent.analyst.rules.search_queries import looks_forward
from fin_agent.evidence.intent import Intent
from fin_agent.workspace import Workspace


def with_own_years(intent: Intent, workspace: Workspace) -> Intent:
    """`intent` of one company with each year that no filing is named for as the one that ended in it, and a note.

    Numbers find their years in the plan (`FiscalYears.meant`). A year to come stays as it is asked: what is expected of
    it was said before it.
    """
    if intent.numeric or len(intent.companies) != 1 or looks_forward(intent):
        return intent
    filed = workspace.years[intent.companies[0].key]
    meant = [filed.meant(period) for period in intent.periods]
    periods = tuple(dict.fromkeys(period for period, _ in meant))
    if periods == intent.periods or len(periods) < len(intent.periods):
        return intent
    notes = [note for _, note in meant if note]
    return intent.model_copy(update={"periods": periods, "assumed": (*intent.assumed, *notes)})
