"""Cards by rules: each passage of a filing abstracted from the structure that reading it gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fin_agent.evidence.cards.card import (
    AnswerabilityProfile,
    Card,
    CardIdentity,
    ClaimRole,
    EvidenceType,
    MeasurementBasis,
    ScopeSignature,
    TemporalAnchor,
    Verifiability,
)
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.page import Page

_MOST_METRICS = 60
_SKETCH_CHARACTERS = 160


def cards_of(filing: Filing) -> list[Card]:
    """A card for each passage, in their order, by rules."""
    pages = {page.number: page for page in filing.pages}
    facts: dict[int, list[Fact]] = {}
    for fact in filing.facts:
        facts.setdefault(fact.page, []).append(fact)
    return [_card(filing, pages, passage, facts.get(passage.page, ())) for passage in filing.passages]


def _card(filing: Filing, pages: Mapping[int, Page], passage: Passage, facts: Sequence[Fact]) -> Card:
    page = pages[passage.page]
    table = passage.kind is PassageKind.TABLE
    own = [fact for fact in facts if passage.box is not None and passage.box.spans_height_of(fact.box)] if table else []
    periods = {(fact.period.fiscal_year, fact.period.quarter or 0) for fact in own}
    kind = EvidenceType.NARRATIVE
    if table:
        kind = EvidenceType.STATEMENT if page.statement else EvidenceType.TABLE
    identity = filing.identity
    return Card(
        identity=CardIdentity(
            doc_id=filing.doc_id,
            page=passage.page,
            ordinal=passage.ordinal,
            company=identity.company,
            form=identity.form,
            fiscal_year=identity.fiscal_year,
            quarter=identity.quarter,
            item=page.item,
            statement=page.statement,
            table_kind=page.kind,
            note=page.note,
            heading=page.title,
        ),
        role=ClaimRole.REPORTS if table else ClaimRole.DESCRIBES,
        evidence_type=kind,
        metrics=tuple(dict.fromkeys(fact.metric for fact in own if fact.metric))[:_MOST_METRICS],
        answers=AnswerabilityProfile(numeric=bool(own)),
        time=TemporalAnchor(
            periods=tuple(
                f"Q{quarter} FY{year}" if quarter else f"FY{year}" for year, quarter in sorted(periods, reverse=True)
            )
        ),
        scope=ScopeSignature(consolidated=any(fact.scope is None for fact in own)),
        basis=MeasurementBasis(units=tuple(sorted({fact.unit for fact in own}))),
        verifiability=Verifiability(facts=len(own)),
        sketch=" ".join(passage.text.split())[:_SKETCH_CHARACTERS],
    )
