"""Settings and where the index is."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from fin_agent.config import INDEX_VARIABLE, MODEL_VARIABLES, Settings, index_folder, settings_from_environment


def test_defaults_are_those_published() -> None:
    assert Settings().model_dump() == {
        "documents": 5, "pages": 20, "passages": 5, "listed": 10, "rounds": 3, "evidence": 10,
        "strategy": "default", "encoder": "minilm", "sparse_encoder": None, "reranker": None, "chat_model": None,
        "card_model": None, "judge_model": None, "executor": "monty", "prompts": None,
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


def test_models_not_given_are_those_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in MODEL_VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    assert settings_from_environment() == Settings()
    monkeypatch.setenv("FIN_AGENT_CHAT_MODEL", "openai:x")
    monkeypatch.setenv("FIN_AGENT_RERANKER", "")
    monkeypatch.setenv("FIN_AGENT_PROMPTS", "my/prompts")
    found = settings_from_environment(strategy="hyde")
    assert found == Settings(strategy="hyde", chat_model="openai:x", prompts=Path("my/prompts"))
    assert settings_from_environment(chat_model="ollama:y").chat_model == "ollama:y"


def test_every_model_of_the_settings_can_be_named_by_the_environment() -> None:
    assert set(MODEL_VARIABLES) <= set(Settings.model_fields)
    assert set(MODEL_VARIABLES) == {
        "encoder", "sparse_encoder", "reranker", "chat_model", "card_model", "judge_model", "prompts"
    }  # fmt: skip
