"""Cards: passages abstracted over the fields that questions ask by (FinCards)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Page, Statement

_MOST_METRICS = 60
_SKETCH_CHARACTERS = 160


class EvidenceType(StrEnum):
    """What kind of evidence a passage is."""

    STATEMENT = "statement"
    """A table of a primary statement."""
    TABLE = "table"
    NARRATIVE = "narrative"


class Card(BaseModel):
    """What a passage is about, without its text."""

    model_config = ConfigDict(frozen=True)

    doc_id: str
    page: int
    company: str
    form: Form
    fiscal_year: int | None = None
    quarter: int | None = None
    item: str | None = None
    statement: Statement | None = None
    evidence_type: EvidenceType
    metrics: tuple[str, ...]
    """Canonical metrics of its facts."""
    periods: tuple[str, ...]
    """Periods of its facts, latest first: `FY2023`, `Q2 FY2023`."""
    units: tuple[str, ...]
    sketch: str
    """How it begins."""


def cards_of(filing: Filing) -> list[Card]:
    """A card for each passage, in their order, by rules."""
    pages = {page.number: page for page in filing.pages}
    facts: dict[int, list[Fact]] = {}
    for fact in filing.facts:
        facts.setdefault(fact.page, []).append(fact)
    return [_card(filing, pages, passage, facts.get(passage.page, ())) for passage in filing.passages]


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


def _card(filing: Filing, pages: Mapping[int, Page], passage: Passage, facts: Sequence[Fact]) -> Card:
    page = pages[passage.page]
    table = passage.kind is PassageKind.TABLE
    own = [fact for fact in facts if passage.box is not None and passage.box.spans_height_of(fact.box)] if table else []
    periods = {(fact.period.fiscal_year, fact.period.quarter or 0) for fact in own}
    kind = EvidenceType.NARRATIVE
    if table:
        kind = EvidenceType.STATEMENT if page.statement else EvidenceType.TABLE
    return Card(
        doc_id=filing.doc_id,
        page=passage.page,
        company=filing.identity.company,
        form=filing.identity.form,
        fiscal_year=filing.identity.fiscal_year,
        quarter=filing.identity.quarter,
        item=page.item,
        statement=page.statement,
        evidence_type=kind,
        metrics=tuple(dict.fromkeys(fact.metric for fact in own if fact.metric))[:_MOST_METRICS],
        periods=tuple(
            f"Q{quarter} FY{year}" if quarter else f"FY{year}" for year, quarter in sorted(periods, reverse=True)
        ),
        units=tuple(sorted({fact.unit for fact in own})),
        sketch=" ".join(passage.text.split())[:_SKETCH_CHARACTERS],
    )


def _first_titles(pages: Sequence[Page]) -> list[str]:
    titles = [page.title for page in pages[:3] if page.title]
    return list(dict.fromkeys(titles))
