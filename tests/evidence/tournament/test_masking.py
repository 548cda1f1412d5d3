"""What a judge is not shown in an ablation."""

from __future__ import annotations

import pytest

from fin_agent.evaluation.passage_ranking import ABLATIONS
from fin_agent.evidence.cards.card import EvidenceType, ScopeSignature
from fin_agent.evidence.tournament.tournament import (
    CardDetail,
    HiddenField,
    TournamentSettings,
    mask_card,
    matched_fields,
    reduce_card,
    required_fields,
)
from fin_agent.vocabulary.page import Statement
from tests.evidence.tournament.entered import brief, card

FULL = card(3, metrics=("revenue",), periods=("FY2023",), statement=Statement.INCOME, parts=("Europe",))
ASKED = required_fields(brief(metrics=("revenue",), years=(2023,), statements=(Statement.INCOME,)).query, ("Europe",))


@pytest.mark.parametrize(
    ("hidden", "lost"),
    [
        (HiddenField.TIME, "time: FY2023"),
        (HiddenField.METRICS, "metrics: revenue"),
        (HiddenField.TABLES, "statement: income"),
        (HiddenField.SCOPE, "scope: Europe"),
    ],
)
def test_a_hidden_field_aligns_with_nothing_and_the_others_still_do(hidden: HiddenField, lost: str) -> None:
    owners = {"acme23": "acme"}
    assert matched_fields(FULL, ASKED, owners) == ASKED
    seen = mask_card(FULL, {hidden})
    assert matched_fields(seen, ASKED, owners) == tuple(field for field in ASKED if field != lost)
    assert (seen.identity.page, seen.identity.ordinal, seen.sketch) == (3, 3, FULL.sketch)


def test_tables_and_parts_are_hidden_whole() -> None:
    assert mask_card(FULL, {HiddenField.TABLES}).verifiability.table is None
    assert mask_card(FULL, {HiddenField.TABLES}).evidence_type is EvidenceType.NARRATIVE
    assert mask_card(FULL, {HiddenField.SCOPE}).scope == ScopeSignature()
    assert mask_card(FULL, {HiddenField.TIME}).identity.fiscal_year is None


def test_nothing_hidden_changes_nothing() -> None:
    assert mask_card(FULL, ()) is FULL


def test_every_ablation_is_a_change_of_settings() -> None:
    usual = TournamentSettings()
    changed = {name: TournamentSettings.model_validate({**usual.model_dump(), **of}) for name, of in ABLATIONS.items()}
    assert len(changed) == len(ABLATIONS) == 15
    assert all(settings != usual for settings in changed.values())


@pytest.mark.parametrize(("shown", "sketch"), [(CardDetail.SKETCH, FULL.sketch), (CardDetail.TEXT, "The text.")])
def test_a_judge_may_be_shown_a_line_or_the_text_and_nothing_else(shown: CardDetail, sketch: str) -> None:
    card = reduce_card(FULL, "The text.", shown)
    assert card.sketch == sketch and (card.identity.doc_id, card.identity.ordinal) == (
        FULL.identity.doc_id,
        FULL.identity.ordinal,
    )
    assert not (card.metrics or card.time.periods or card.scope.parts or card.verifiability.table or card.risks)
    assert reduce_card(FULL, "The text.", CardDetail.CARD) is FULL
