"""Convert cards to FinCards' own schema (Figure 3) and the core fields of Section 3.2.

The fields are derived from those of `Card` by the tables below, whoever made the card; none is stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import BaseModel

from fin_agent.evidence.cards.card import Card, ClaimRole, EvidenceType, RiskSignal
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.words import load_yaml

_NUMBER = re.compile(r"\(?[$€£]?\s?\d[\d,]*(?:\.\d+)?%?\)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MAX_NUMBERS = 40
_MAX_ANCHORS = 3
_SHINGLE = 8

TERMS: Mapping[str, Mapping[str, str]] = load_yaml("fincards_terms", __package__)
BOILERPLATE_FROM = 0.5
"""Share of a prose passage's word sequences found in other filings, from which it counts as boilerplate."""


class PublishedCard(BaseModel, frozen=True):
    """A Chunk Card as published by FinCards."""

    claim_role: str
    evidence_type: str
    answerability_profile: tuple[str, ...]
    temporal_quality: str
    """`exact` if periods are named, `dates` for days only, else `none`."""
    temporal_span: tuple[str | None, str | None]
    """First and last month, `YYYY-MM`; a fiscal year counts as the calendar year of that number."""
    entity: str
    geography: tuple[str, ...]
    """Parts of the company as printed; rules do not distinguish regions from products."""
    measurement_basis: str
    boilerplate_likelihood: float | None
    """0 to 1; None if there are no filings to compare with."""
    limitations: tuple[str, ...]
    sketch: str
    topic_anchors: tuple[str, ...]
    topic: str
    """T of the core: the topic."""
    entities: tuple[str, ...]
    """E of the core: entities."""
    metrics: tuple[str, ...]
    """M of the core: metrics."""
    numbers: tuple[str, ...]
    """N of the core: numbers as printed."""
    periods: tuple[str, ...]
    """P of the core: periods."""
    section: str | None
    """S of the core: the section."""
    triples: tuple[tuple[str, str, str], ...]
    """D of the core: (entity, metric, period)."""
    spans: tuple[tuple[int, int], ...]
    """Xi of the core: character offsets in the passage."""


def published_card(card: Card, text: str, lexicon: Lexicon, others: frozenset[str] | None = None) -> PublishedCard:
    """Convert a card to FinCards' schema.

    `others` are the `shingles` of other filings, for the likelihood of boilerplate; None leaves it out.
    """
    identity, role, kind = card.identity, card.role, card.evidence_type
    own = shingles(text)
    likelihood = None if others is None else len(own & others) / max(1, len(own))
    prose = kind is EvidenceType.NARRATIVE and role is not ClaimRole.FORMAL
    formulaic = prose and likelihood is not None and likelihood >= BOILERPLATE_FROM
    topics = tuple(topic.words[0] for topic in lexicon.topics(f"{identity.heading}. {card.sketch}"))
    entities = tuple(dict.fromkeys((identity.company, *card.scope.parts)))
    periods, dates, terms = card.time.periods, card.time.dates, TERMS["answers"]
    return PublishedCard(
        claim_role="boilerplate" if formulaic else TERMS["roles"][role],
        evidence_type=TERMS["evidence"].get(role) or TERMS["kinds"][kind],
        answerability_profile=tuple(dict.fromkeys(terms[use] for use in card.answers.uses if use in terms)),
        temporal_quality="exact" if periods else "dates" if dates else "none",
        temporal_span=_span(card),
        entity="company" if card.scope.consolidated else "part" if card.scope.parts else "unknown",
        geography=card.scope.parts,
        measurement_basis=_basis(card),
        boilerplate_likelihood=likelihood,
        limitations=tuple(risk.value for risk in card.risks),
        sketch=card.sketch,
        topic_anchors=(*topics, *card.metrics)[:_MAX_ANCHORS],
        topic=(*topics, *card.metrics, "Other")[0],
        entities=entities,
        metrics=card.metrics,
        numbers=tuple(found[0].strip() for found in _NUMBER.finditer(text))[:_MAX_NUMBERS],
        periods=periods,
        section=identity.item,
        triples=tuple((entities[0], metric, period) for metric in card.metrics for period in periods),
        spans=tuple((span.start, span.end) for span in card.spans),
    )


def shingles(text: str) -> frozenset[str]:
    """Return the sequences of eight words in a text, without numbers; near-copies share them."""
    words = re.findall(r"[a-z]+", text.lower())
    return frozenset(" ".join(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1))


def _basis(card: Card) -> str:
    if RiskSignal.NON_GAAP in card.risks:
        return "non-GAAP"
    if card.basis.adjusted:
        return "adjusted"
    if card.evidence_type is EvidenceType.STATEMENT:
        return "GAAP"
    return "reported" if card.basis.units else "unknown"


def _span(card: Card) -> tuple[str | None, str | None]:
    years, dates = sorted(_YEAR.findall(" ".join(card.time.periods))), card.time.dates
    if years:
        return f"{years[0]}-01", f"{years[-1]}-12"
    return (f"{dates[0]:%Y-%m}", f"{dates[-1]:%Y-%m}") if dates else (None, None)
