"""Curation by a model over that of rules: one call judges and answers; what it drops is dropped for good."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fin_agent.analyst.events import journal
from fin_agent.analyst.model.analyst import ModelAnalyst
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.evidence.evidence import Curation, RetrievedPassage
from fin_agent.index.protocol import PageKey
from fin_agent.models.settings import Preset
from fin_agent.testing import ScriptedChatModel
from fin_agent.workspace import Workspace
from tests.analyst.model.clients import client, roles

SALES = "What was Harborlight's revenue in FY2024?"
MEDIAN = "What was the median of Harborlight's revenue over FY2022 - FY2024?"
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
    reply: Mapping[str, object] | str,
    preset: Preset = Preset.DEFAULT,
    passages: list[RetrievedPassage] | None = None,
) -> tuple[Curation, Curation, tuple[str, ...], ScriptedChatModel]:
    """What comes of it, what rules alone make of it, the warnings, and the model."""
    asked, model = client({"reasoning": reply, "*": "no JSON"}, preset=preset)  # type: ignore[dict-item]
    curating = ModelAnalyst(asked, workspace, preset=preset)
    own = RulesAnalyst(workspace)
    intent = curating._questions.complete(own.intent(question)) if question == MEDIAN else own.intent(question)
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
