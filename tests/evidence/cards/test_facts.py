"""Cards fetched from an index are joined to their figures, which the index keeps on their own."""

from __future__ import annotations

from fin_agent.analyst.rules.curation import cards_of
from fin_agent.evidence.cards.card import Card, EvidenceType
from fin_agent.evidence.cards.rule_based_abstraction import with_facts
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.index.protocol import PageKey, StoredPassage
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.page import Statement
from fin_agent.workspace import Workspace


def income_pages(workspace: Workspace) -> list[PageKey]:
    doc_ids = [record.doc_id for record in workspace.index.filings()]
    return [page.key for page in workspace.index.outline(doc_ids) if page.page.statement == Statement.INCOME][:3]


def stored_cards(workspace: Workspace) -> list[Card]:
    passages = workspace.index.passages(income_pages(workspace))
    return [Card.model_validate_json(passage.card) for passage in passages]


def retrieved(stored: StoredPassage) -> RetrievedPassage:
    passage = stored.passage
    return RetrievedPassage(
        doc_id=stored.doc_id,
        page=passage.page,
        ordinal=passage.ordinal,
        kind=passage.kind,
        text=passage.text,
        score=1,
        round=1,
    )


def test_each_card_gets_as_many_facts_as_were_counted_when_it_was_made(workspace: Workspace) -> None:
    cards = stored_cards(workspace)
    joined = with_facts(cards, workspace.index)
    assert [len(card.facts) for card in joined] == [card.verifiability.facts for card in cards]
    statements = [card for card in joined if card.evidence_type is EvidenceType.STATEMENT]
    assert any(fact.metric == "revenue" for card in statements for fact in card.facts)
    assert all({fact.period for fact in card.facts} <= set(card.time.periods) for card in statements)


def test_nothing_but_the_facts_changes_and_the_order_stays(workspace: Workspace) -> None:
    cards = stored_cards(workspace)[::-1]
    joined = with_facts(cards, workspace.index)
    assert [card.model_copy(update={"facts": ()}) for card in joined] == cards
    assert with_facts([], workspace.index) == []


def test_a_card_of_no_filing_in_the_index_is_left_as_it_is(workspace: Workspace) -> None:
    card = stored_cards(workspace)[0]
    stranger = card.model_copy(update={"identity": card.identity.model_copy(update={"doc_id": "unknown"})})
    assert with_facts([stranger], workspace.index) == [stranger]


def test_cards_are_extracted_for_passages_with_their_facts_where_asked_for(workspace: Workspace) -> None:
    stored = [
        entry for entry in workspace.index.passages(income_pages(workspace)) if entry.passage.kind is PassageKind.TABLE
    ]
    passages = [retrieved(entry) for entry in stored]
    plain = cards_of(passages, workspace.index)
    assert [(card.identity.doc_id, card.identity.ordinal) for card in plain] == [passage.key for passage in passages]
    assert not any(card.facts for card in plain)
    assert all(card.facts for card in with_facts(plain, workspace.index))
