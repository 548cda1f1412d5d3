"""Summaries of filings in a few lines, as on a cover page (HiREC)."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.identity import Identity


def summary_of(filing: Filing) -> str:
    """Return the summary of a filing: the text that the document stage searches."""
    return summary_by_rules(filing.identity, [page.title for page in filing.pages[:COVER_PAGES]])


COVER_PAGES = 3
"""Pages whose titles are part of the summary."""


def summary_by_rules(identity: Identity, titles: Sequence[str]) -> str:
    """Return the summary from the filing's identity and the titles of its first pages."""
    lines = [f"{identity.company} ({identity.ticker})" if identity.ticker else identity.company]
    period = f"Q{identity.quarter} " if identity.quarter else ""
    lines.append(f"{identity.form.value} for {period}fiscal {identity.fiscal_year or 'year unknown'}")
    if identity.results:
        quarter = f"the {_ORDINALS[identity.results.quarter]} quarter of " if identity.results.quarter else ""
        lines.append(f"results of {quarter}fiscal {identity.results.fiscal_year}")
    if identity.period_end:
        lines.append(f"period ended {identity.period_end:%B} {identity.period_end.day}, {identity.period_end.year}")
    if identity.other_names:
        lines.append("also known as " + ", ".join(identity.other_names))
    return "\n".join([*lines, *dict.fromkeys(filter(None, titles))])


_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth"}
