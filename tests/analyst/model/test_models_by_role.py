"""Which model fills which role: of its own name, of a setting for its strategy, or the one that answers."""

from __future__ import annotations

import pytest

from fin_agent.analyst.model.model_client import callers_for_roles, has_model_for_role, role_models
from fin_agent.analyst.strategy_adapters import strategy_for
from fin_agent.config import Settings
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.models import LoadedModel, ModelSettings, Role
from fin_agent.retrieval.search_query import Query
from fin_agent.workspace import Workspace
from tests.analyst.model.conftest import Script

PASSAGE = "On June 18, 2024 the board appointed a new chief executive officer of the Company."
SUIT = "Which patent suit did Harborlight settle in 2024?"


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> dict[str, Script]:
    """Models by their names, as soon as they are put in."""
    models: dict[str, Script] = {}

    def load(name: str, **_: object) -> LoadedModel:
        return models[name].caller.model

    monkeypatch.setattr("fin_agent.models.caller.load_chat_model", load)
    return models


def test_settings_of_strategies_name_models_of_their_roles() -> None:
    models = ModelSettings(model="a:large", small="a:small", roles={"next-thought": "a:own"})
    settings = Settings(chat_model="a:chat", card_model="a:card", judge_model="a:judge", models=models)
    callers = callers_for_roles(settings)
    assert {role: callers.name(role) for role in Role} == {
        **dict.fromkeys(Role, "a:small"),
        **dict.fromkeys(
            (Role.REASONING, Role.VERIFICATION, Role.TEXT_JUDGE, Role.PASSAGES_JUDGE, Role.ASSISTANT), "a:large"
        ),
        **dict.fromkeys((Role.HYDE, Role.MULTI_HYDE), "a:chat"),
        **dict.fromkeys((Role.GROUP, Role.LISTWISE), "a:judge"),
        Role.CARD: "a:card",
        Role.THOUGHT: "a:own",
    }
    assert has_model_for_role(settings, Role.CARD) and not has_model_for_role(settings, Role.INTENT)
    assert role_models(Settings()) == ModelSettings()


@pytest.mark.parametrize(
    "settings",
    [
        Settings(strategy="hyde:bm25", chat_model="some:model"),
        Settings(strategy="hyde:bm25", models=ModelSettings(model="some:model")),
        Settings(strategy="hyde:bm25", models=ModelSettings(model="a:large", roles={Role.HYDE: "some:model"})),
    ],
)
def test_a_strategy_is_written_for_by_any_model_that_is_named(
    settings: Settings, loaded: dict[str, Script], workspace: Workspace
) -> None:
    loaded |= {"some:model": Script(PASSAGE), "a:large": Script("never"), "a:small": Script("never")}
    found = strategy_for(settings, workspace).search(Query("Who leads the firm now?", terms=()))
    assert found.passages[0].stored.doc_id == "tellurond_2024_8k"
    assert len(loaded["some:model"].prompts) == 1


def test_what_a_strategy_does_without_its_model_is_told_in_the_answer(
    loaded: dict[str, Script], silent: Script, workspace: Workspace
) -> None:
    loaded["some:model"] = silent
    notes: list[str] = []
    settings = Settings(strategy="hyde:bm25", chat_model="some:model")
    answer = answer_question(SUIT, AnswerContext.from_settings(workspace, settings, notify=notes.append))
    plain = answer_question(SUIT, AnswerContext.from_settings(workspace, Settings(strategy="bm25")))
    assert answer.answer == plain.answer and not answer.refused
    assert any("the search uses the question itself" in warning for warning in answer.warnings)
    assert set(notes) <= set(answer.warnings) != set() and plain.warnings == ()
