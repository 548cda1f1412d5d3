"""What speaks for a page, over the sample filings."""

from __future__ import annotations

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.retrieval.page_ranking import MEANINGS, Candidate, candidates_of, greedy_select, rank_pages
from fin_agent.retrieval.search_query import Query, RankedFiling, RankedPage
from fin_agent.workspace import Workspace


def asked(workspace: Workspace, question: str) -> tuple[Query, list[RankedFiling]]:
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(question)
    query = analyst.query(intent, analyst.plan(intent), None)
    return query, rank_filings(query, workspace)


def candidates(workspace: Workspace, question: str) -> dict[PageKey, Candidate]:
    query, filings = asked(workspace, question)
    return {page.key: page for page in candidates_of(query, filings, workspace)}


def pages(workspace: Workspace, question: str, only: set[PageKey] | None = None, **weights: float) -> list[RankedPage]:
    query, filings = asked(workspace, question)
    if weights:
        given = dict.fromkeys(MEANINGS, 0.0) | weights
        return greedy_select(candidates_of(query, filings, workspace, only=only), given, 20)
    return rank_pages(query, filings, workspace, only=only)


def test_every_page_of_the_filings_has_every_feature_as_a_share(workspace: Workspace) -> None:
    found = candidates(workspace, "What drove the change in Harborlight's net sales in 2024?")
    records = {key.doc_id: workspace.index.filing(key.doc_id) for key in found}
    assert len(found) == sum(record.page_count for record in records.values())
    for page in found.values():
        assert page.features.keys() == MEANINGS.keys() - {"slots"}
        assert all(0 <= value <= 1 for value in page.features.values()), page


def test_features_say_where_a_thing_is_told(workspace: Workspace) -> None:
    def best(question: str, feature: str) -> set[int]:
        found = candidates(workspace, question)
        of_filing = {key.page: page.features[feature] for key, page in found.items() if "2024_10k" in key.doc_id}
        return {page for page, value in of_filing.items() if value and value == max(of_filing.values())}

    assert best("Which legal proceedings is Harborlight party to in 2024?", "item start") == {4}
    assert best("What was Harborlight's gross profit in 2024?", "statement") == {8}
    assert 8 in best("Why did Harborlight's gross profit change in 2024?", "facts")


def test_the_words_of_everyday_speech_find_what_filings_write(workspace: Workspace) -> None:
    question = "Is anybody suing Harborlight in 2024?"
    query, _ = asked(workspace, question)
    assert "litigation" in query.synonyms
    assert pages(workspace, question)[0].key == PageKey("harborlight_2024_10k", 4)


def test_what_each_feature_adds_makes_up_the_score(workspace: Workspace) -> None:
    for page in pages(workspace, "What was Harborlight's inventory turnover in 2024?"):
        assert abs(sum(added for _, added in page.features) - page.score) < 0.001
        assert {name for name, _ in page.features} == MEANINGS.keys()


def test_only_the_pages_given_are_ranked(workspace: Workspace) -> None:
    only = {PageKey("harborlight_2024_10k", 3), PageKey("harborlight_2023_10k", 8), PageKey("nowhere", 1)}
    found = pages(workspace, "What was Harborlight's gross profit in 2024?", only)
    assert {page.key for page in found} == only - {PageKey("nowhere", 1)}


def test_weights_of_ones_own_order_the_pages(workspace: Workspace) -> None:
    question = "What was Harborlight's gross profit in 2024?"
    first_pages = pages(workspace, question, early=1.0)[:3]
    assert {page.key.page for page in first_pages} == {0}
    assert pages(workspace, question, slots=1.0)[0].key == PageKey("harborlight_2024_10k", 8)


def test_the_likeness_of_vectors_is_one_feature_among_others(workspace: Workspace) -> None:
    query, filings = asked(workspace, "Which patent suit did Harborlight settle in 2024?")
    near, nearer = PageKey("harborlight_2024_10k", 13), PageKey("harborlight_2024_10k", 4)
    found = {
        page.key: page.features["likeness"]
        for page in candidates_of(query, filings, workspace, likeness={near: 0.2, nearer: 0.4, PageKey("x", 1): -0.1})
    }
    assert (found[near], found[nearer]) == (0.5, 1.0)
    assert {value for key, value in found.items() if key not in (near, nearer)} == {0.0}
