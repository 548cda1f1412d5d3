"""Questions taken apart: by the figures they need, or by a model within what they name."""

from __future__ import annotations

import json

import pytest

from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import (
    AnalystDecomposer,
    EvidenceRoles,
    strategy_for,
)
from fin_agent.config import Settings
from fin_agent.retrieval.search_query import Query
from fin_agent.workspace import Workspace
from tests.analyst.model.conftest import Script

GROWTH = "How much did the net sales of Harborlight grow from FY2022 to FY2023?"
WORDS = "Why did net sales of Harborlight rise in FY2023, and which suit did it settle in 2024?"


def query_of(workspace: Workspace, question: str) -> Query:
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(question)
    return analyst.query(intent, analyst.plan(intent), None)


def decomposer(workspace: Workspace, model: Script | None, notes: list[str]) -> AnalystDecomposer:
    client = None if model is None else ModelClient(model.callers, notify=notes.append)
    return AnalystDecomposer(RulesAnalyst(workspace), workspace, client, notify=notes.append)


def test_rules_ask_for_each_figure(workspace: Workspace) -> None:
    parts = decomposer(workspace, None, []).parts(query_of(workspace, GROWTH))
    assert [[slot.fiscal_year for slot in part.slots] for part in parts] == [[2022], [2023]]
    assert decomposer(workspace, None, []).parts(query_of(workspace, WORDS)) == []
    found = strategy_for(Settings(strategy="sub-questions"), workspace).search(query_of(workspace, GROWTH))
    assert {"harborlight_2022_10k", "harborlight_2023_10k"} <= {filing.doc_id for filing in found.filings}


def test_a_model_takes_words_apart(workspace: Workspace) -> None:
    asked = ["Why did net sales of Harborlight rise in FY2023?", "Which suit did Harborlight settle in 2024?"]
    model, notes = Script(json.dumps({"questions": [*asked, asked[0]]})), list[str]()
    parts = decomposer(workspace, model, notes).parts(query_of(workspace, WORDS))
    assert [part.companies for part in parts] == [query_of(workspace, WORDS).companies] * 2
    assert notes == [] and WORDS.split(",")[0] in model.prompts[0] and "Harborlight Instruments" in model.prompts[0]


def test_other_companies_are_left_out_and_it_is_told(workspace: Workspace) -> None:
    asked = [
        "What were net sales of Quillmark?",
        "What were net sales of Harborlight in FY2023?",
        "Its cash in FY2022?",
    ]
    notes: list[str] = []
    kept = decomposer(workspace, Script(json.dumps({"questions": asked})), notes).questions(query_of(workspace, GROWTH))
    assert kept == (asked[1], asked[2])
    assert notes == ["left out 1 sub-questions on companies that were not asked about"]


@pytest.mark.parametrize(
    "reply", ['{"questions": []}', '{"questions": ["???"]}', "none", '{"questions": ["Quillmark?"]}']
)
def test_where_a_model_is_of_no_use_rules_take_it_apart(workspace: Workspace, reply: str) -> None:
    notes: list[str] = []
    query = query_of(workspace, GROWTH)
    asked = decomposer(workspace, Script(reply), notes).questions(query)
    assert asked == decomposer(workspace, None, []).questions(query) and len(asked) == 2
    assert any("the sub-questions of the model" in note or "left out 1" in note for note in notes)


def test_a_question_that_is_one_stays_one(workspace: Workspace) -> None:
    query = query_of(workspace, GROWTH)
    assert decomposer(workspace, Script(json.dumps({"questions": [query.text]})), []).parts(query) == []


SUIT = "Which patent suit did Harborlight settle in 2024?"


def evidence_roles(workspace: Workspace, replies: list[str], notes: list[str]) -> tuple[EvidenceRoles, Script]:
    model = Script(*replies)
    return EvidenceRoles(RulesAnalyst(workspace), workspace, ModelClient(model.callers, notify=notes.append), 3), model


def test_a_model_curates_in_one_call_and_rules_add_nothing(workspace: Workspace) -> None:
    found = strategy_for(Settings(strategy="bm25"), workspace).search(query_of(workspace, SUIT)).passages
    reply = {
        "kept": [{"passage": number, "reason": "it says so"} for number in (4, 2, 4, 99, 1, 3)],
        "missing": ["the amount"],
        "answerable": False,
        "complementary_question": "What did Harborlight pay in FY2024?",
    }
    notes: list[str] = []
    curator, model = evidence_roles(workspace, [json.dumps(reply)], notes)
    verdict = curator.curate(query_of(workspace, SUIT), found, [])
    assert [found.index(each) for each in verdict.kept] == [3, 1, 0], "as it says, three at most"
    assert not verdict.answerable and len(model.prompts) == 1 and not notes
    assert verdict.complementary is not None
    assert verdict.complementary.text == reply["complementary_question"] and verdict.complementary.companies


def test_a_model_rewrites_and_rules_do_where_it_cannot(workspace: Workspace) -> None:
    notes: list[str] = []
    query = query_of(workspace, GROWTH)
    rewriter, _ = evidence_roles(workspace, [json.dumps({"query": "Harborlight 10-K FY2023 net sales"})], notes)
    assert rewriter.rewrite(query) == "Harborlight 10-K FY2023 net sales" and not notes
    silent, _ = evidence_roles(workspace, [], notes)
    rules = EvidenceRoles(RulesAnalyst(workspace), workspace)
    assert silent.rewrite(query) == rules.rewrite(query) != ""
    found = strategy_for(Settings(strategy="bm25"), workspace).search(query_of(workspace, SUIT)).passages
    by_rules = rules.curate(query_of(workspace, SUIT), found, [])
    assert silent.curate(query_of(workspace, SUIT), found, []) == by_rules
    assert [note.split(" of the model")[0] for note in notes] == ["the query-rewrite", "the curation"]
