"""`fin-agent.toml`: which one is read, and what is said where it is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fin_agent.config import Settings, SettingsError, settings_from
from fin_agent.config_sources import FILE_NAME, FILE_VARIABLE, settings_file
from fin_agent.models import Budget, ModelSettings, Preset, Role

WHOLE = """
rounds = 2
strategy = "rerank:hybrid"
encoder = "./models/mine"
reranker = "cross-encoder/some-name"
prompts = "prompts"

[models]
model = "openai:gpt-4o"
base_url = "http://localhost:8000/v1"
key_variable = "MY_KEY"
preset = "fast"
timeout = 30
cache = "kept/replies.sqlite"
prices = "/etc/prices.yaml"

[models.roles]
text-judge = "openai:gpt-4o-mini"

[models.budget]
tokens = 20_000
dollars = 0.1

[models.batch_budget]
calls = 500
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory below `tmp_path`, and no file named."""
    monkeypatch.delenv(FILE_VARIABLE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    (tmp_path / "project" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "deep")
    return tmp_path


def written(folder: Path, text: str = "rounds = 1") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return folder / FILE_NAME


def test_all_of_it_can_be_said_in_a_file_and_paths_are_from_its_folder(folder: Path) -> None:
    written(folder / "project", WHOLE)
    here = folder / "project"
    assert settings_from(file=here / FILE_NAME) == Settings(
        rounds=2,
        strategy="rerank:hybrid",
        encoder=str(here / "models" / "mine"),
        reranker="cross-encoder/some-name",
        prompts=here / "prompts",
        models=ModelSettings(
            model="openai:gpt-4o",
            base_url="http://localhost:8000/v1",
            key_variable="MY_KEY",
            preset=Preset.FAST,
            timeout=30.0,
            cache=here / "kept" / "replies.sqlite",
            prices=Path("/etc/prices.yaml"),
            roles={Role.TEXT_JUDGE: "openai:gpt-4o-mini"},
            budget=Budget(tokens=20_000, dollars=0.1),
            batch_budget=Budget(calls=500),
        ),
    )


def test_the_nearest_is_read_and_no_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_file() is None
    own = written(folder / "own" / "fin-agent", "passages = 7")
    assert settings_file() == own
    above = written(folder / "project")
    assert settings_file() == above
    assert settings_from().passages == Settings().passages
    here = written(folder / "project" / "deep")
    assert settings_file() == here
    named = written(folder / "elsewhere")
    monkeypatch.setenv(FILE_VARIABLE, str(named))
    assert settings_file() == named
    assert settings_file(above) == above
    monkeypatch.setenv(FILE_VARIABLE, os.devnull)
    assert settings_from() == Settings()


def test_a_file_named_that_is_not_there(folder: Path) -> None:
    with pytest.raises(SettingsError, match="this settings file does not exist"):
        settings_from(file=folder / "none.toml")


@pytest.mark.parametrize(
    "said",
    [
        'strategy = "hybrid"\n[models]\nbase_url = "http://stranger.example/v1"',
        '[models]\nkey_variable = "AWS_SECRET_ACCESS_KEY"',
        '[models]\nmodel = "openai:gpt-4o"',
        '[models.roles]\nintent = "fireworks:x"',
        '[models]\ncache = "/home/me/.bashrc"',
        'chat_model = "openai:x"',
        'encoder = "stranger/model-on-a-hub"',
        'prompts = "prompts"',
        '[edgar]\nurl = "https://stranger.example"',
    ],
)
def test_a_file_that_was_only_found_decides_nothing_that_is_sent_or_opened(
    folder: Path, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive that is unpacked, a repository that is cloned: their owner is the user."""
    file = written(folder / "project", said)
    with pytest.raises(SettingsError, match="found in the working directory or above") as raised:
        settings_from()
    assert f"{FILE_VARIABLE}={file}" in raised.value.remedy and "stranger.example" not in raised.value.what
    assert settings_from(file=file) != Settings()  # consented to
    monkeypatch.setenv(FILE_VARIABLE, str(file))
    assert settings_from() != Settings()
    monkeypatch.delenv(FILE_VARIABLE)
    file.unlink()
    written(folder / "own" / "fin-agent", said)
    assert settings_from() != Settings()


def test_a_file_that_was_found_may_say_how_much_and_how(folder: Path) -> None:
    written(
        folder / "project", 'rounds = 1\nstrategy = "hybrid"\n[models]\npreset = "fast"\n[models.budget]\ncalls = 3'
    )
    settings = settings_from()
    assert (settings.rounds, settings.strategy, settings.models.budget.calls) == (1, "hybrid", 3)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files")
def test_a_file_that_another_user_left_above_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(folder / "project", '[models]\nbase_url = "http://elsewhere/v1"')
    me = os.getuid()
    plain = Path.stat

    def of_another(path: Path, **given: bool) -> os.stat_result:
        found = plain(path, **given)
        return os.stat_result([*found[:4], me + 1, *found[5:]]) if path == file else found

    monkeypatch.setattr(Path, "stat", of_another)
    monkeypatch.setattr(os, "getuid", lambda: me)
    with pytest.raises(SettingsError, match="belongs to another user") as raised:
        settings_from()
    assert f"{FILE_VARIABLE}={file}" in raised.value.remedy
    assert settings_from(file=file).models.base_url == "http://elsewhere/v1"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('rounds = "2"', "'2' cannot be used for `rounds`: it should be a valid integer"),
        ("rounds = true", "`rounds`: it should be a valid integer"),
        ("rounds = 9", "it should be less than or equal to 3"),
        ("rouns = 2", "there is no setting `rouns`. Did you mean `rounds`? Allowed here: analyst, "),
        ('[models]\npreset = "quick"', "`models.preset`: it should be 'fast', 'default' or 'thorough'"),
        ('[models]\nmodle = "openai:x"', "there is no setting `models.modle`. Did you mean `model`? Allowed here: at_"),
        ("[models.budget]\ntoken_limit = 5", "there is no setting `models.budget.token_limit`. Allowed here: calls"),
        (
            '[models.roles]\ncurator = "openai:x"',
            "`models.roles.curator`: it should be 'cover-summary', 'tree-node'",
        ),
        ('models = "openai:x"', "'openai:x' cannot be used for `models`"),
        ("rounds = 2000-01-01", "`rounds`: it should be a valid integer"),
        ("rounds = [1\nx", "it is not TOML (Unclosed array (at line 2, column 1))"),
        ("rounds = " + "[" * 9_999, "its tables are nested too deep"),
        (".".join("a" * 3_000) + " = 1", "its tables are nested too deep"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(folder: Path, text: str, told: str) -> None:
    file = written(folder / "project", text)
    with pytest.raises(SettingsError) as raised:
        settings_from(rounds=1)
    assert raised.value.subject == str(file)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        '[models]\napi_key = "abc"',
        'OPENAI_API_KEY = "abc"',
        '[models]\napikey = "abc"',
        '[models]\n"api-key" = "abc"',
        'tokens = ["abc"]',
        '[models.roles]\npasswd = "abc"',
        '[models]\nmodel = "sk-proj-SECRET4567890abcdef"',
        '[models]\nkey_variable = "gsk_SECRET4567890abcdefgh"',
        '[models]\nbase_url = "http://me:SECRET45@host/v1"',
    ],
)
def test_a_key_is_refused_and_not_shown(folder: Path, text: str) -> None:
    written(folder / "project", text)
    with pytest.raises(SettingsError, match="looks like a key or a password") as raised:
        settings_from()
    assert "SECRET" not in str(raised.value) and "abc" not in str(raised.value)
    assert "set it in the environment" in raised.value.remedy


def test_names_that_only_resemble_keys_are_taken(folder: Path) -> None:
    written(folder / "project", 'encoder = "hf-internal-testing/tiny-bert-2"\n[models]\nmodel = "x:key-value-store"')
    assert settings_from(file=folder / "project" / FILE_NAME).encoder == "hf-internal-testing/tiny-bert-2"


def test_a_file_that_is_no_text(folder: Path) -> None:
    written(folder / "project").write_bytes(b"rounds = 1 # \xff")
    with pytest.raises(SettingsError, match="not text in UTF-8"):
        settings_from()
