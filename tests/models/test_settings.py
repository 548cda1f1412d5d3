"""Settings of models: what may be said, what is refused, and that no key is among them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from fin_agent.config import Settings
from fin_agent.models import Budget, ModelSettings, Role
from fin_agent.models.settings import OutputMode, Preset


def test_nothing_is_needed_and_no_model_is_given() -> None:
    settings = ModelSettings()
    assert settings.model is None and settings.preset is Preset.DEFAULT and settings.output is OutputMode.AUTO
    assert settings.budget == settings.batch_budget == Budget()


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_name_is_none(blank: str) -> None:
    settings = ModelSettings(model=blank, small=blank, base_url=blank, key_variable=blank)
    assert settings == ModelSettings() and settings.model is None
    assert ModelSettings(model=" openai:x ").model == "openai:x"


@pytest.mark.parametrize(
    "wrong",
    [
        {"preset": "quick"},
        {"output": "yaml"},
        {"timeout": 0},
        {"timeout": 4_000},
        {"attempts": 0},
        {"attempts": 21},
        {"at_once": 0},
        {"roles": {"nobody": "openai:x"}},
        {"budget": {"calls": -1}},
        {"budget": {"minutes": 1}},
        {"key": "sk-0123456789"},
        {"temperature": 1},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ModelSettings.model_validate(wrong)


def test_roles_by_their_names() -> None:
    named = ModelSettings.model_validate({"roles": {"curation": "openai:x", "query_rewrite": "openai:y"}})
    assert named.roles == {Role.CURATION: "openai:x", Role.QUERY: "openai:y"}


@pytest.mark.parametrize(
    ("analyst", "model", "by_model"),
    [
        ("auto", None, False),
        ("auto", "openai:x", True),
        ("rules", "openai:x", False),
        ("llm", "openai:x", True),
        ("llm", None, True),
    ],
)
def test_who_reasons(analyst: str, model: str | None, by_model: bool) -> None:
    settings = Settings.model_validate({"analyst": analyst, "models": {"model": model}})
    assert settings.by_model is by_model


def test_they_are_written_and_read_again() -> None:
    settings = ModelSettings.model_validate(
        {"model": "openai:x", "roles": {"reasoning": "openai:y"}, "budget": {"dollars": 0.5}, "preset": "thorough"}
    )
    assert ModelSettings.model_validate_json(settings.model_dump_json()) == settings
