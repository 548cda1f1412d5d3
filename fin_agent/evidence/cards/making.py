"""Cards by rules: each passage of a filing abstracted from the structure that reading it gave."""

from __future__ import annotations

from fin_agent.evidence.cards.answerability import answerability_of
from fin_agent.evidence.cards.card import Card, EvidenceType
from fin_agent.evidence.cards.card_metrics import metrics_in_rows, metrics_in_words, metrics_of
from fin_agent.evidence.cards.cues import CueText, cues_in
from fin_agent.evidence.cards.evidence_types import evidence_type_of, has_figures
from fin_agent.evidence.cards.headings import heading_of
from fin_agent.evidence.cards.identity import identity_of
from fin_agent.evidence.cards.measurement import basis_of
from fin_agent.evidence.cards.risk_signals import is_forward, risks_of
from fin_agent.evidence.cards.roles import is_appended, role_of
from fin_agent.evidence.cards.scopes import part_names, scope_of
from fin_agent.evidence.cards.sketches import sketch_of
from fin_agent.evidence.cards.sources import PassageSource, sources_of
from fin_agent.evidence.cards.spans import spans_of
from fin_agent.evidence.cards.time_anchors import anchor_of
from fin_agent.evidence.cards.verifiability import verifiability_of
from fin_agent.evidence.cards.word_rarity import WordRarity
from fin_agent.lexicon.lexicon import Lexicon, load_lexicon
from fin_agent.vocabulary.filing import Filing


def cards_of(filing: Filing) -> list[Card]:
    """A card for each passage, in their order, by rules. Cards hold no facts: `facts.with_facts` joins them."""
    sources = list(sources_of(filing))
    told = [source for source in sources if not source.is_table and not is_appended(source)]
    rarity = WordRarity({source.passage.ordinal: source.flat for source in told})
    parts = part_names(filing.facts)
    lexicon = load_lexicon()
    return [_card(source, parts, rarity, lexicon) for source in sources]


def _card(source: PassageSource, parts: tuple[str, ...], rarity: WordRarity, lexicon: Lexicon) -> Card:
    kind = evidence_type_of(source)
    prose = kind in (EvidenceType.NARRATIVE, EvidenceType.MIXED)
    heading = heading_of(source)
    # A third of a large filing is contracts and lists among its exhibits: nothing is looked for in their words.
    formal = is_appended(source)
    words = CueText("" if formal else source.flat)
    cues = cues_in(words, "claim_words") if prose else {}
    care = cues_in(words, "risk_words")
    role = role_of(source, cues, heading, prose)
    named = metrics_in_words(source, role, lexicon) if prose else metrics_in_rows(source)
    time = anchor_of(source, is_forward(care, role))
    figures = prose and not formal and has_figures(source.flat)
    scope = scope_of(source, parts, figures)
    verifiability = verifiability_of(source, role, cues)
    spans = spans_of(source.passage.text, role, verifiability.cues if prose else (), named)
    return Card(
        identity=identity_of(source, heading),
        role=role,
        evidence_type=kind,
        metrics=() if formal else metrics_of(source, named, heading, lexicon),
        answers=answerability_of(source.facts, role, cues, scope, bool(source.facts or (figures and time.periods))),
        time=time,
        scope=scope,
        basis=basis_of(source, care, figures),
        verifiability=verifiability,
        risks=tuple(risks_of(source, care, role, scope, bool(time.periods))),
        sketch=sketch_of(source, heading, spans if prose else None, rarity, lexicon),
        spans=spans,
    )
