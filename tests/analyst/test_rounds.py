"""What each round asks for, and what curation keeps of what it finds."""

from __future__ import annotations

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.curation import complementary_question
from fin_agent.evidence.evidence import Curation, RetrievedPassage
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.slots import Slot
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.page import Statement
from fin_agent.workspace import Workspace

TURNOVER = "What was Harborlight's inventory turnover in 2024?"


def passages_of(workspace: Workspace, doc_id: str, *pages: int) -> list[RetrievedPassage]:
    stored = workspace.index.passages([PageKey(doc_id, page) for page in pages])
    return [
        RetrievedPassage(
            doc_id=entry.doc_id, page=entry.passage.page, ordinal=entry.passage.ordinal, kind=entry.passage.kind,
            text=entry.passage.text, box=entry.passage.box, score=1.0, round=1,
        )
        for entry in stored
    ]  # fmt: skip


def curated(workspace: Workspace, question: str, *pages: int, doc_id: str = "harborlight_2024_10k") -> Curation:
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(question)
    return analyst.curate(intent, analyst.plan(intent), passages_of(workspace, doc_id, *pages), [doc_id])


def test_the_first_round_asks_for_everything(workspace: Workspace) -> None:
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(TURNOVER)
    query = analyst.query(intent, analyst.plan(intent), None)
    assert {(slot.metric, slot.fiscal_year) for slot in query.slots} == {
        ("cost_of_revenue", 2024), ("inventories", 2024), ("inventories", 2023),
    }  # fmt: skip
    assert set(query.statements) == {Statement.INCOME, Statement.BALANCE_SHEET}
    assert query.text == TURNOVER


def test_a_later_round_asks_only_for_what_is_missing(workspace: Workspace) -> None:
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(TURNOVER)
    plan = analyst.plan(intent)
    income_only = curated(workspace, TURNOVER, 8)
    assert not income_only.answerable
    query = analyst.query(intent, plan, income_only.ledger)
    asked = {slot.metric for slot in query.slots}
    assert "inventories" in asked
    assert "cost_of_revenue" not in asked
    assert Statement.BALANCE_SHEET in query.statements
    assert "inventories" in income_only.complementary_question
    assert "FY2023" in income_only.complementary_question
    assert "cost" not in income_only.complementary_question


def test_a_page_with_the_figures_makes_it_answerable(workspace: Workspace) -> None:
    found = curated(workspace, TURNOVER, 3, 8, 10)
    assert found.answerable
    assert found.missing == ()
    assert {evidence.passage.page for evidence in found.kept} == {8, 10}
    assert all(evidence.passage.kind is PassageKind.TABLE for evidence in found.kept)
    assert all(evidence.why.startswith("contains ") for evidence in found.kept)
    assert all(evidence.card is not None for evidence in found.kept)


def test_a_figure_that_stands_on_no_retrieved_page_fills_nothing(workspace: Workspace) -> None:
    found = curated(workspace, TURNOVER, 3)
    assert found.ledger.figures == {}
    assert found.kept == ()
    assert len(found.missing) == 3


def test_another_filers_pages_hold_nothing_for_this_one(workspace: Workspace) -> None:
    found = curated(workspace, TURNOVER, 8, 10, doc_id="tellurond_2024_10k")
    assert found.ledger.figures == {}


def test_words_are_kept_by_how_much_of_the_question_they_hold(workspace: Workspace) -> None:
    question = "Which patent suit did Harborlight settle in 2024?"
    found = curated(workspace, question, 2, 4, 9)
    assert found.answerable
    assert found.kept[0].passage.page == 4
    assert found.ledger == Ledger()


def test_words_that_are_nowhere_are_missing(workspace: Workspace) -> None:
    found = curated(workspace, "What does Harborlight say on whaling quotas?", 2, 4)
    assert not found.answerable
    assert "whaling" in found.missing[0]
    assert found.complementary_question


def test_what_is_missing_is_asked_for_in_one_sentence(workspace: Workspace) -> None:
    intent = RulesAnalyst(workspace).intent(TURNOVER)

    def slot(label: str, year: int, company: str = "Acme") -> Slot:
        return Slot(company=company, company_name=company, metric="x", label=label, fiscal_year=year)

    asked = (slot("revenue", 2022), slot("revenue", 2023), slot("goodwill", 2022), slot("goodwill", 2023))
    assert complementary_question(asked, intent) == "What are the revenue and goodwill of Acme for FY2022 and FY2023?"
    two = (slot("revenue", 2022), slot("revenue", 2022, "Bell"))
    assert complementary_question(two, intent) == (
        "What are the revenue of Acme for FY2022 and the revenue of Bell for FY2022?"
    )
    assert TURNOVER in complementary_question((), intent)


def test_the_same_words_in_another_years_filing_are_dropped(workspace: Workspace) -> None:
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent("What drove Harborlight's net sales in 2024?")
    passages = passages_of(workspace, "harborlight_2024_10k", 5) + passages_of(workspace, "harborlight_2022_10k", 5)
    curation = analyst.curate(intent, analyst.plan(intent), passages, ["harborlight_2024_10k", "harborlight_2022_10k"])
    assert {evidence.passage.doc_id for evidence in curation.kept} == {"harborlight_2024_10k"}
    dropped = [judged for judged in curation.judged if judged.doc_id == "harborlight_2022_10k"]
    assert dropped
    assert all(not judged.kept and "of other years" in judged.why for judged in dropped)


def test_every_passage_given_is_judged_with_a_reason_and_the_fields_that_match(workspace: Workspace) -> None:
    curation = curated(workspace, TURNOVER, 8, 10, 5)
    given = passages_of(workspace, "harborlight_2024_10k", 8, 10, 5)
    assert [(judged.doc_id, judged.ordinal) for judged in curation.judged] == [passage.key for passage in given]
    assert all(judged.why for judged in curation.judged)
    kept = [judged for judged in curation.judged if judged.kept]
    assert {(judged.doc_id, judged.ordinal) for judged in kept} == {each.passage.key for each in curation.kept}
    assert any("metrics: inventories" in judged.fields and "time: FY2023" in judged.fields for judged in kept)
    assert all(judged.fields[0] == "company: Harborlight Instruments, Inc." for judged in kept)


def test_a_passage_that_holds_nothing_looked_for_says_so(workspace: Workspace) -> None:
    curation = curated(workspace, "What did Quillmark spend on research and development in fiscal 2024?", 8, 9)
    assert not curation.kept
    assert {judged.why for judged in curation.judged} == {"contains none of the required figures"}


def test_cards_made_for_the_run_take_the_place_of_the_indexs(workspace: Workspace) -> None:
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent("What drove Harborlight's net sales in 2024?")
    passages = passages_of(workspace, "harborlight_2024_10k", 5)
    plain = analyst.curate(intent, analyst.plan(intent), passages, ["harborlight_2024_10k"])
    own = [each.card.model_copy(update={"sketch": "made anew"}) for each in plain.kept if each.card is not None]
    made = analyst.curate(intent, analyst.plan(intent), passages, ["harborlight_2024_10k"], own)
    assert [each.card.sketch for each in made.kept if each.card is not None] == ["made anew"] * len(own)
