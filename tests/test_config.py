"""Settings and where the index is."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from pydantic import ValidationError

from fin_agent.config import (
    INDEX_VARIABLE,
    VARIABLES,
    Settings,
    SettingsError,
    configured,
    index_folder,
    settings_from,
)
from fin_agent.config_sources import FILE_VARIABLE, SettingValue, types_of
from fin_agent.models import Budget, ModelSettings, OutputMode, Preset, Role

NO_LIMITS = {"tokens": None, "calls": None, "seconds": None, "dollars": None}


def test_defaults_are_those_published() -> None:
    assert Settings().model_dump() == {
        "documents": 5, "pages": 20, "passages": 5, "listed": 10, "rounds": 3, "evidence": 10,
        "strategy": "default", "encoder": "minilm", "sparse_encoder": None, "reranker": None, "rerank_candidates": 50,
        "chat_model": None,
        "card_model": None, "judge_model": None, "analyst": "auto", "prompts": None,
        "trees": None, "tree_chunks": "512:0",
        "models": {
            "model": None, "small": None, "roles": {}, "base_url": None, "key_variable": None, "output": "auto",
            "preset": "default", "budget": NO_LIMITS, "batch_budget": NO_LIMITS, "at_once": 8, "timeout": 120.0,
            "attempts": 4, "cache": None, "prices": None,
        },
    }  # fmt: skip


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"rounds": 4}, {"documents": 0}, {"pages": -1}, {"page": 5}])
def test_values_that_cannot_be_used(wrong: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        Settings(**wrong)


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().rounds = 1  # type: ignore[misc]


def test_index_given_before_the_environment_before_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(INDEX_VARIABLE, "/elsewhere")
    assert index_folder(Path("here")) == Path("here")
    assert index_folder() == Path("/elsewhere")
    monkeypatch.setenv(INDEX_VARIABLE, "~/filings")
    assert index_folder() == Path.home() / "filings"
    for unset in (lambda: monkeypatch.setenv(INDEX_VARIABLE, ""), lambda: monkeypatch.delenv(INDEX_VARIABLE)):
        unset()
        assert index_folder().is_absolute() and index_folder().parts[-2:] == ("fin-agent", "index")


def test_every_setting_has_a_variable_of_its_own() -> None:
    assert {tuple(setting.split(".")) for setting in VARIABLES} == set(types_of(Settings))
    assert len(set(VARIABLES.values())) == len(VARIABLES)
    named = ("rounds", "models.model", "models.small", "models.budget.tokens", "models.batch_budget.calls", "edgar.url")
    assert [VARIABLES[setting].removeprefix("FIN_AGENT_") for setting in named] == [
        "ROUNDS", "MODEL", "SMALL_MODEL", "MAX_TOKENS", "BATCH_MAX_CALLS", "EDGAR_URL"
    ]  # fmt: skip


def test_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_from() == Settings()
    for variable, value in {
        "FIN_AGENT_CHAT_MODEL": "openai:x",
        "FIN_AGENT_RERANKER": "",
        "FIN_AGENT_PROMPTS": "my/prompts",
        "FIN_AGENT_ROUNDS": "2",
        "FIN_AGENT_ANALYST": "llm",
        "FIN_AGENT_MODEL": " openai:large ",
        "FIN_AGENT_SMALL_MODEL": "openai:small",
        "FIN_AGENT_ROLES": "text-judge=openai:judge, reasoning = openai:writer",
        "FIN_AGENT_OUTPUT": "json",
        "FIN_AGENT_PRESET": "thorough",
        "FIN_AGENT_MAX_DOLLARS": "0.25",
        "FIN_AGENT_BATCH_MAX_CALLS": "75",
        "FIN_AGENT_CACHE": "~/replies.sqlite",
    }.items():
        monkeypatch.setenv(variable, value)
    assert settings_from() == Settings(
        chat_model="openai:x",
        prompts=Path("my/prompts"),
        rounds=2,
        analyst="llm",
        models=ModelSettings(
            model="openai:large",
            small="openai:small",
            roles={Role.TEXT_JUDGE: "openai:judge", Role.REASONING: "openai:writer"},
            output=OutputMode.JSON,
            preset=Preset.THOROUGH,
            budget=Budget(dollars=0.25),
            batch_budget=Budget(calls=75),
            cache=Path.home() / "replies.sqlite",
        ),
    )


def test_code_goes_before_flags_before_the_file_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "own.toml"
    monkeypatch.setenv("FIN_AGENT_MODEL", "openai:of-environment")
    monkeypatch.setenv("FIN_AGENT_SMALL_MODEL", "openai:small-of-environment")
    flags = [
        SettingValue(("models", "model"), "openai:of-flag", "--model"),
        SettingValue(("models", "preset"), "fast", "--preset"),
    ]
    file.write_text('[models]\nmodel = "openai:of-file"\npreset = "thorough"\nat_once = 2\n', encoding="utf-8")

    def chosen(*said: SettingValue, **given: object) -> tuple[str | None, Preset]:
        models = settings_from(said, file=file, **given).models
        assert (models.small, models.at_once) == ("openai:small-of-environment", 2)
        return models.model, models.preset

    assert chosen() == ("openai:of-file", Preset.THOROUGH)
    assert chosen(*flags) == ("openai:of-flag", Preset.FAST)
    assert chosen(*flags, models={"model": "openai:of-code"}) == ("openai:of-code", Preset.FAST)
    assert chosen(*flags, models=ModelSettings(model="openai:of-code")) == ("openai:of-code", Preset.FAST)
    monkeypatch.setenv(FILE_VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    assert settings_from().models.model == "openai:of-environment"


def test_roles_are_named_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_AGENT_ROLES", "reasoning=openai:a,intent=openai:a")
    text = '[models.roles]\nintent = "openai:b"\nquery-rewrite = "openai:b"'
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    flags = [SettingValue(("models", "roles", "query-rewrite"), "openai:c", "--role")]
    found = configured(flags, file=tmp_path / "own.toml")
    assert found.settings.models.roles == {
        Role.REASONING: "openai:a", Role.INTENT: "openai:b", Role.QUERY: "openai:c"
    }  # fmt: skip
    assert {place[-1]: each.by for place, each in found.sources.items()} == {
        "reasoning": "FIN_AGENT_ROLES", "intent": str(tmp_path / "own.toml"), "query-rewrite": "--role"
    }  # fmt: skip


def test_a_role_with_underscores_is_the_same_role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_AGENT_ROLES", "query-rewrite=openai:a")
    (tmp_path / "own.toml").write_text('[models.roles]\nquery_rewrite = "openai:b"', encoding="utf-8")
    flags = [SettingValue(("models", "roles", "query_rewrite"), "openai:c", "--role")]
    assert settings_from(file=tmp_path / "own.toml").models.roles == {Role.QUERY: "openai:b"}
    assert settings_from(flags, file=tmp_path / "own.toml").models.roles == {Role.QUERY: "openai:c"}


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("FIN_AGENT_PRESET", "quick", "'quick' cannot be used for `models.preset`: it should be 'fast', 'default' or"),
        ("FIN_AGENT_MAX_TOKENS", "many", "it should be a valid integer"),
        ("FIN_AGENT_ROUNDS", "9", "less than or equal to 3"),
        ("FIN_AGENT_ROLES", "openai:x", "is not a role with its model. Give ROLE=MODEL"),
        ("FIN_AGENT_ROLES", "nobody=openai:x", "it should be 'cover-summary', 'tree-node'"),
    ],
)
def test_a_value_that_cannot_be_used_is_told_with_its_variable(
    variable: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=told) as raised:
        settings_from()
    assert raised.value.subject == variable


def test_a_variable_with_a_slip_is_told_with_the_closest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_AGENT_MAX_TOKEN", "9")
    with pytest.warns(
        UserWarning, match="FIN_AGENT_MAX_TOKEN is set, but nothing reads it. Did you mean FIN_AGENT_MAX_TOK"
    ):
        settings_from()
    monkeypatch.delenv("FIN_AGENT_MAX_TOKEN")
    monkeypatch.setenv("FIN_AGENT_TEST_ES_URL", "http://127.0.0.1:9200")  # of this repository's own checks
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        settings_from()


def test_what_is_stronger_hides_what_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_AGENT_ROUNDS", "9")
    assert settings_from(rounds=1).rounds == 1
    with pytest.raises(SettingsError, match="settings given in code: 7 cannot be used for `rounds`"):
        settings_from(rounds=7)


@pytest.mark.parametrize(
    "variable", ["FIN_AGENT_PRESET", "FIN_AGENT_KEY_VARIABLE", "FIN_AGENT_MODEL", "FIN_AGENT_ROLES"]
)
def test_a_key_in_a_wrong_place_is_refused_and_not_shown(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "gsk_0123456789abcdefghij"
    monkeypatch.setenv(variable, f"reasoning={key}" if variable == "FIN_AGENT_ROLES" else key)
    with pytest.raises(SettingsError, match="looks like a key") as raised:
        settings_from()
    assert key not in str(raised.value) and raised.value.subject == variable
    assert settings_from(
        models={"key_variable": "MY_KEY", "model": "a:b", "preset": "fast", "roles": {"reasoning": "a:b"}}
    )
