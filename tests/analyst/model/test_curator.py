"""Curation by a model over that of rules: one call judges and answers; what it drops is dropped for good.

With `thorough`, the call only judges.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from fin_agent.analyst.events import journal
from fin_agent.analyst.model.analyst import ModelAnalyst
from fin_agent.analyst.model.prompt_context import join_row_numbers
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.evidence.evidence import Curation, RetrievedPassage
from fin_agent.index.protocol import PageKey
from fin_agent.models.settings import Preset
from fin_agent.testing import ScriptedChatModel
from fin_agent.workspace import Workspace
from tests.analyst.model.clients import Replying, client, keeps, passages, roles

SALES = "What was Harborlight's revenue in FY2024?"
MEDIAN = "What was the median of Harborlight's revenue over FY2022 - FY2024?"
BEFORE = "What was Harborlight's revenue in FY2019 and FY2024?"
SUIT = "Which patent suit did Harborlight settle in 2024?"
PAGES = (4, 8, 9, 15)
FILING = "harborlight_2024_10k"
NOTHING: dict[str, object] = {"answer": None, "missing": ["the suit"], "keep": [], "complementary_question": "Which?"}


def retrieved(workspace: Workspace) -> list[RetrievedPassage]:
    stored = workspace.index.passages([PageKey(FILING, page) for page in PAGES])
    return [RetrievedPassage.of(each, 1.0, 1) for each in stored]


def curated(
    workspace: Workspace,
    question: str,
    reply: Replying | Mapping[str, object] | str,
    preset: Preset = Preset.DEFAULT,
    *,
    most: int = 10,
    passages: list[RetrievedPassage] | None = None,
) -> tuple[Curation, Curation, tuple[str, ...], ScriptedChatModel]:
    """What comes of it, what rules alone make of it, the warnings, and the model."""
    asked, model = client({"reasoning": reply, "curation": reply, "*": "no JSON"}, preset=preset)  # type: ignore[dict-item]
    curating = ModelAnalyst(asked, workspace, preset=preset, most_evidence=most)
    own = RulesAnalyst(workspace, most_evidence=most)
    intent = curating.intent(question) if question == MEDIAN else own.intent(question)
    del model._calls[:]
    plan = own.plan(intent)
    given = retrieved(workspace) if passages is None else passages
    with journal() as notes:
        found = curating.curate(intent, plan, given, [FILING])
    return found, own.curate(intent, plan, given, [FILING]), notes.warnings, model


@pytest.mark.parametrize(
    ("question", "preset", "asked"),
    [
        (SALES, Preset.FAST, False),
        (SALES, Preset.DEFAULT, False),
        (SUIT, Preset.FAST, False),
        (SUIT, Preset.DEFAULT, True),
        (MEDIAN, Preset.FAST, False),
    ],
)
def test_one_call_a_round_where_rules_leave_something_open(
    workspace: Workspace, question: str, preset: Preset, asked: bool
) -> None:
    found, own, _, model = curated(workspace, question, NOTHING, preset)
    assert roles(model) == ["reasoning"] * asked
    if not asked and question != MEDIAN:
        assert found == own
    if question == MEDIAN:
        assert (found.answerable, own.answerable) == (False, True) and "median" in found.missing[0]


def test_what_the_model_drops_is_dropped_and_what_is_missing_is_asked_next(workspace: Workspace) -> None:
    found, own, _, _ = curated(workspace, SUIT, NOTHING)
    assert own.kept and found.kept == () and not found.answerable
    assert (found.missing, found.complementary_question) == (("the suit",), "Which?")
    assert {(each.doc_id, each.ordinal) for each in found.judged} <= set(found.dropped)
    assert all(each.why.startswith("the model does not keep it; ") for each in found.judged)


def test_passages_to_read_again_are_kept(workspace: Workspace) -> None:
    found, _, _, _ = curated(workspace, SUIT, {**NOTHING, "keep": [2, 99]})
    (kept,) = found.kept
    assert kept.passage in retrieved(workspace) and kept.passage.key not in found.dropped


def test_a_reply_that_cannot_be_used_leaves_the_curation_of_rules(workspace: Workspace) -> None:
    found, own, warnings, model = curated(workspace, SUIT, "no JSON")
    assert found == own and roles(model) == ["reasoning", "reasoning"]
    (warning,) = warnings
    assert warning.startswith("the reasoning of the model could not be had: ")


def test_nothing_is_asked_of_no_passages(workspace: Workspace) -> None:
    found, own, warnings, model = curated(workspace, SUIT, NOTHING, passages=[])
    assert found == own and model.calls == [] and warnings == ()


THOROUGH = Preset.THOROUGH


def said(**fields: object) -> dict[str, object]:
    return {"kept": [], "missing": [], "answerable": False, "complementary_question": None, **fields}


@pytest.mark.parametrize("question", [SALES, SUIT, MEDIAN])
def test_thorough_has_one_call_that_only_judges(workspace: Workspace, question: str) -> None:
    _, _, warnings, model = curated(workspace, question, keeps("Net sales"), THOROUGH)
    assert roles(model) == ["curation"] and warnings == ()


def test_what_the_model_keeps_comes_first_with_its_reason(workspace: Workspace) -> None:
    found, own, _, model = curated(workspace, SUIT, keeps("Corvane Metrology"), THOROUGH)
    assert found.answerable and found.missing == () and found.complementary_question == ""
    first = found.kept[0]
    assert "Corvane Metrology" in first.passage.text and "it has the words" in first.why
    assert {each.passage.key for each in own.kept} <= {each.passage.key for each in found.kept}
    by_rules = {each.passage.key for each in own.kept}
    assert {each.passage.key for each in found.kept if each.by_model}.isdisjoint(by_rules)
    judged = {(each.doc_id, each.ordinal): each for each in found.judged}
    assert len(judged) == len(retrieved(workspace))
    kept = {each.passage.key for each in found.kept}
    assert all(each.kept == (key in kept) for key, each in judged.items())
    assert all(each.why.startswith("the model does not keep it; ") for key, each in judged.items() if key not in kept)
    assert f"at most {10} passages" in model.calls[0].text


def test_what_is_missing_and_asked_next(workspace: Workspace) -> None:
    reply = said(missing=["the  suit\nitself", "the suit itself", ""], complementary_question=" Which\nsuit? ")
    reply["missing"].append("the answer is 987.6")  # type: ignore[attr-defined]
    found, _, warnings, _ = curated(workspace, SUIT, reply, THOROUGH)
    assert (found.answerable, found.missing, found.complementary_question) == (
        False,
        ("the suit itself",),
        "Which suit?",
    )
    assert warnings == ()
    silent, own, _, _ = curated(workspace, SUIT, said(), THOROUGH)
    assert silent.missing == (own.missing or ("what the model did not find",)) and not silent.answerable


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (said(answerable=True), "it says that the question can be answered but selects no passage"),
        (said(kept=[77, 78], answerable=True), "it keeps passages 77, 78; there are 1 to"),
        (said(kept=[{"passage": -1}]), "it keeps passages -1"),
        (said(kept=[0]), "it keeps passages 0"),
        ("{}", "answerable: Field required"),
        ("", "the reply"),
    ],
)
def test_a_curation_that_cannot_be_used_leaves_that_of_rules(
    workspace: Workspace, reply: dict[str, object] | str, told: str
) -> None:
    found, own, warnings, model = curated(workspace, SUIT, reply, THOROUGH)
    assert found == own and roles(model) == ["curation", "curation"]
    (warning,) = warnings
    assert warning.startswith("the curation of the model could not be had: ") and (told in warning or reply == "")


def test_numbers_of_no_passage_are_passed_over_among_others(workspace: Workspace) -> None:
    found, _, warnings, model = curated(workspace, SUIT, said(kept=[99, 2, 2, -3], answerable=True), THOROUGH)
    shown = passages(model.calls[0].text)
    assert found.answerable and join_row_numbers(found.kept[0].passage.text) == shown[2] and warnings == ()
    keys = [each.passage.key for each in found.kept]
    assert len(keys) == len(set(keys))


def test_what_holds_the_figures_is_kept_whatever_the_model_says(workspace: Workspace) -> None:
    last = said(kept=[4], missing=["revenue"], complementary_question="What was it?")
    found, own, warnings, _ = curated(workspace, SALES, last, THOROUGH, most=1)
    assert own.answerable and found.answerable and found.missing == () and found.ledger == own.ledger
    assert {each.passage.key for each in own.kept} <= {each.passage.key for each in found.kept}
    assert warnings == ()


def test_figures_that_rules_lack_are_enough_where_the_model_says_so(workspace: Workspace) -> None:
    found, own, _, model = curated(workspace, BEFORE, keeps("Net sales"), THOROUGH)
    assert roles(model) == ["curation"] and not own.answerable
    assert found.answerable and found.ledger == own.ledger and found.missing == ()
    assert "figures found by rules: " in model.calls[0].text


def test_no_more_is_kept_than_may_be(workspace: Workspace) -> None:
    found, _, _, model = curated(workspace, SUIT, said(kept=list(range(1, 9)), answerable=True), THOROUGH, most=3)
    shown = passages(model.calls[0].text)
    assert [join_row_numbers(each.passage.text) for each in found.kept] == [shown[1], shown[2], shown[3]]
    assert "at most 3 passages" in model.calls[0].text


@pytest.mark.parametrize("kept", [[1, 3], [3, 1], [1, 2, 4, 5], [1, 2, 3, 4]])
def test_what_holds_the_figures_takes_the_room_of_what_the_model_keeps(workspace: Workspace, kept: list[int]) -> None:
    found, own, _, _ = curated(workspace, SALES, said(kept=kept, missing=["revenue"]), THOROUGH, most=1)
    assert [each.passage for each in found.kept] == [each.passage for each in own.kept] == [retrieved(workspace)[2]]


def test_passages_are_shown_with_whose_they_are(workspace: Workspace) -> None:
    _, _, _, model = curated(workspace, SUIT, said(), THOROUGH)
    assert 'of="Harborlight Instruments, Inc., 10-K, FY2024, ended 2024-12-31, page 16"' in model.calls[0].text


TEXTS = st.one_of(st.text(max_size=12), st.sampled_from(["42", "the answer is 987.6", "what\nelse"]))
ANY = st.fixed_dictionaries(
    {
        "kept": st.lists(st.fixed_dictionaries({"passage": st.integers(-3, 20), "reason": TEXTS}), max_size=6),
        "missing": st.lists(TEXTS, max_size=8),
        "answerable": st.booleans(),
        "complementary_question": st.one_of(st.none(), TEXTS),
    }
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reply=ANY, question=st.sampled_from([SALES, SUIT, BEFORE]), most=st.integers(1, 5))
def test_whatever_is_kept_is_of_the_passages_and_the_ledger_is_that_of_rules(
    workspace: Workspace, reply: dict[str, JsonValue], question: str, most: int
) -> None:
    found, own, _, _ = curated(workspace, question, reply, THOROUGH, most=most)
    given = retrieved(workspace)
    assert all(each.passage in given for each in found.kept)
    assert len(found.kept) <= max(most, len(own.kept)) and found.ledger == own.ledger
    assert found.answerable or found.missing
    assert not found.answerable or (found.kept and not found.missing)
    if own.answerable and question == SALES:
        assert found.answerable
    assert not any("987.6" in each for each in found.missing)
    assert all("\n" not in each and len(each) <= 240 for each in (*found.missing, found.complementary_question))
