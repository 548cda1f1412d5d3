"""Cards in the fields of FinCards' own schema."""

from __future__ import annotations

import pytest

from fin_agent.evidence.cards.card import Card, ClaimRole, EvidenceType, Use
from fin_agent.evidence.cards.fincards_schema import TERMS, PublishedCard, published_card, shingles
from fin_agent.index.protocol import PageKey
from fin_agent.workspace import Workspace

FILING = "harborlight_2024_10k"


@pytest.fixture(scope="module")
def cards(workspace: Workspace) -> dict[int, list[tuple[Card, str, PublishedCard]]]:
    """The cards of a filing by page, with their passages; boilerplate is held against another year's filing."""
    found: dict[int, list[tuple[Card, str, PublishedCard]]] = {}
    other = [PageKey("harborlight_2023_10k", number) for number in range(20)]
    held = frozenset().union(*(shingles(stored.passage.text) for stored in workspace.index.passages(other)))
    keys = [PageKey(FILING, number) for number in range(workspace.index.filing(FILING).page_count)]
    for stored in workspace.index.passages(keys):
        card, text = Card.model_validate_json(stored.card), stored.passage.text
        made = published_card(card, text, workspace.lexicon, held)
        found.setdefault(stored.key.page, []).append((card, text, made))
    return found


def test_every_value_is_one_of_the_published_schema(cards: dict[int, list[tuple[Card, str, PublishedCard]]]) -> None:
    assert set(TERMS["roles"]) == set(ClaimRole) and set(TERMS["answers"].values()) == {
        "single_fact", "comparison", "trend", "aggregation", "attribution"
    }  # fmt: skip
    for _, _, made in (each for of_page in cards.values() for each in of_page):
        assert made.claim_role in (
            "primary_evidence", "supporting_context", "definition", "caveat", "boilerplate", "structural_heading"
        )  # fmt: skip
        assert made.evidence_type in (
            "table_numeric", "narrative_numeric", "qualitative_explanation", "policy_text", "guidance", "none"
        )  # fmt: skip
        assert made.measurement_basis in ("GAAP", "non-GAAP", "adjusted", "reported", "unknown")
        assert made.boilerplate_likelihood is not None and 0 <= made.boilerplate_likelihood <= 1


def test_a_statement_is_primary_evidence_with_its_numbers_span_and_triples(
    cards: dict[int, list[tuple[Card, str, PublishedCard]]],
) -> None:
    card, text, made = cards[8][0]
    assert (made.claim_role, made.evidence_type, made.measurement_basis) == (
        "primary_evidence",
        "table_numeric",
        "GAAP",
    )
    assert made.temporal_quality == "exact" and made.temporal_span[1] == "2024-12"
    assert made.numbers and all(number in text for number in made.numbers)
    entity, metric, period = made.triples[0]
    assert entity == card.identity.company and metric in card.metrics and period in card.time.periods
    assert all(text[start:end].strip() for start, end in made.spans)


def test_what_last_years_filing_says_as_well_is_boilerplate(workspace: Workspace) -> None:
    text = "This report contains statements about the future that are subject to risks and uncertainties of many kinds."
    stored = workspace.index.passages([PageKey(FILING, 4)])[0]
    card = Card.model_validate_json(stored.card).model_copy(
        update={"role": ClaimRole.WARNS, "evidence_type": EvidenceType.NARRATIVE}
    )
    alone = published_card(card, text, workspace.lexicon, frozenset())
    shared = published_card(card, text, workspace.lexicon, shingles(text))
    unknown = published_card(card, text, workspace.lexicon)
    assert (alone.claim_role, alone.boilerplate_likelihood) == ("caveat", 0.0)
    assert (shared.claim_role, shared.boilerplate_likelihood) == ("boilerplate", 1.0)
    assert unknown.boilerplate_likelihood is None
    assert Use.DEFINITION not in TERMS["answers"]
