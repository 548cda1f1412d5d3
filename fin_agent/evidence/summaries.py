"""Summaries: what a filing is, in a few lines, as a cover page would say it (HiREC)."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.page import Page


def summary_of(filing: Filing) -> str:
    """What the filing is, in a few lines: the text its document stage is searched by."""
    identity = filing.identity
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
    return "\n".join([*lines, *_first_titles(filing.pages)])


_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth"}


def _first_titles(pages: Sequence[Page]) -> list[str]:
    titles = [page.title for page in pages[:3] if page.title]
    return list(dict.fromkeys(titles))
