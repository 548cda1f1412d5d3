"""The model of each role: who fills it, that it is loaded once, and what it is called."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

from fin_agent.models import Callers, LoadedModel, ModelSettings, ModelSetupError, PricesError, Role
from fin_agent.models.caller import LARGE_ROLES
from fin_agent.testing import ScriptedChatModel
from tests.models.scripted import loaded, text_call

LARGE, SMALL = "openai:gpt-4o", "openai:gpt-4o-mini"


class Loads:
    """Gives scripted models, and keeps what was asked for."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._guard = threading.Lock()

    def __call__(self, name: str, settings: ModelSettings) -> LoadedModel:
        with self._guard:
            self.names.append(name)
        return loaded("said", name=name)


def test_large_roles_have_the_model_and_all_others_the_small_one() -> None:
    callers = Callers(ModelSettings(model=LARGE, small=SMALL))
    assert {role for role in Role if callers.name(role) == LARGE} == LARGE_ROLES
    assert {Role.REASONING, Role.ASSISTANT} <= LARGE_ROLES
    assert {callers.name(role) for role in set(Role) - LARGE_ROLES} == {SMALL}


def test_a_role_may_have_a_model_of_its_own() -> None:
    named = ModelSettings.model_validate({"model": LARGE, "roles": {"query-rewrite": "x:one", "text_judge": "x:two"}})
    callers = Callers(named)
    assert (callers.name(Role.QUERY), callers.name(Role.TEXT_JUDGE)) == ("x:one", "x:two")
    assert callers.name(Role.REASONING) == LARGE
    only = Callers(ModelSettings(roles={Role.QUERY: "x:one"}))
    assert only.name(Role.QUERY) == "x:one"
    with pytest.raises(ModelSetupError, match="no chat model is named") as raised:
        only.name(Role.REASONING)
    assert "--model" in raised.value.remedy


def test_the_small_model_of_a_family_but_not_of_a_server() -> None:
    def small(settings: ModelSettings) -> str:
        return Callers(settings).name(Role.INTENT)

    assert small(ModelSettings(model="openai:gpt-4o")) == "openai:gpt-4o-mini"
    assert small(ModelSettings(model="openai:gpt-4o", base_url="http://localhost:8000/v1")) == "openai:gpt-4o"
    assert small(ModelSettings(model="ollama:llama3.1")) == "ollama:llama3.1"


def test_a_model_is_loaded_once_for_all_its_roles_and_threads() -> None:
    loads = Loads()
    callers = Callers(ModelSettings(model=LARGE, small=SMALL), load=loads)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(callers.of, [*Role] * 4))
    assert sorted(loads.names) == [LARGE, SMALL] and len({id(caller) for caller in found}) == 2
    callers.load_all()
    assert len(loads.names) == 2


def test_one_model_that_is_there_already_fills_all_roles() -> None:
    model = ScriptedChatModel("said", model_name="mine")
    given = ModelSettings(model=LARGE, small=SMALL, roles={Role.QUERY: "x:one"})
    with nullcontext(Callers.with_model(model, given)) as callers:
        (name,) = {callers.name(role) for role in Role}
        assert name.endswith(":mine") and callers.of(Role.QUERY) is callers.of(Role.REASONING)
        assert callers.of(Role.QUERY).reply(text_call()).text == "said"
    assert Callers.with_model(model, name="openai:mine").name(Role.INTENT) == "openai:mine"


def test_settings_reach_the_callers(tmp_path: Path) -> None:
    loads = Loads()
    settings = ModelSettings.model_validate(
        {"model": LARGE, "output": "json", "attempts": 1, "cache": tmp_path / "kept.sqlite"}
    )
    with nullcontext(Callers(settings, load=loads)) as callers:
        caller = callers.of(Role.REASONING)
        assert "schema" in caller.left_out
        assert not caller.reply(text_call()).from_cache and caller.reply(text_call()).from_cache
    assert (tmp_path / "kept.sqlite").exists()


def test_what_is_wrong_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "FIN_AGENT_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ModelSetupError):
        Callers(ModelSettings(model="no-provider")).load_all()
    with pytest.raises(ModelSetupError):
        Callers(ModelSettings()).load_all()
    with pytest.raises(PricesError):
        Callers(ModelSettings(model=LARGE, prices=tmp_path / "none.yaml"))
