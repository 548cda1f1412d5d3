"""Models by their names."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fin_agent.models import LoadedModel, ModelSetupError, load_chat_model
from tests.models.scripted import ScriptedModel

KEY = "sk-test-of-loading-0123456789"
SERVER = "http://localhost:8000/v1"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "FIN_AGENT_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", ["gpt-4o", "", ":gpt-4o", "openai:", "Open AI:gpt-4o", "openai:gpt 4o"])
def test_a_name_without_a_provider(name: str) -> None:
    with pytest.raises(ModelSetupError, match="PROVIDER:MODEL"):
        load_chat_model(name)


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://x/v1", "http://", "http://[::1", "x"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(ModelSetupError, match="is not the address of a server"):
        load_chat_model("openai:x", base_url=address)


@pytest.mark.parametrize("address", ["http://me:word1234@host/v1", "http://host/v1?api_key=word1234"])
def test_an_address_holds_no_secret(address: str) -> None:
    with pytest.raises(ModelSetupError, match="password") as raised:
        load_chat_model("openai:x", base_url=address)
    assert "word1234" not in str(raised.value)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ModelSetupError, match="OPENAI_API_KEY is not set"):
        load_chat_model("openai:gpt-4o")
    with pytest.raises(ModelSetupError, match="MY_KEY, which is not set"):
        load_chat_model("openai:gpt-4o", key_variable="MY_KEY")


def test_a_missing_langchain_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(ModelSetupError, match=r'pip install "\.\[chat\]"'):
        load_chat_model("openai:x", base_url=SERVER)


def test_a_missing_package_of_a_provider_is_named() -> None:
    pytest.importorskip("langchain", reason="langchain is not installed")
    with pytest.raises(ModelSetupError, match=r"provider's package is not installed .*langchain-cohere"):
        load_chat_model("cohere:command-r")
    with pytest.raises(ModelSetupError, match="cannot be set up"):
        load_chat_model("no_such_provider:x")


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    model = load_chat_model("openai:llama-3.1-8b", base_url=f"{SERVER}/", timeout=7)
    assert (model.name, model.provider, model.base_url) == ("openai:llama-3.1-8b", "openai", SERVER)
    assert model.priced_at == SERVER
    client = vars(model.model)
    assert client["max_retries"] == 3 and client["request_timeout"] == 7 and client["stream_usage"] is True
    assert client["openai_api_base"] == SERVER and client["openai_api_key"].get_secret_value() == "none"
    monkeypatch.setenv("OPENAI_BASE_URL", SERVER)
    assert load_chat_model("openai:x").base_url == SERVER


def test_whose_key_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-provider")
    monkeypatch.setenv("FIN_AGENT_API_KEY", "of-the-server")
    monkeypatch.setenv("MY_KEY", "named")

    def key(**more: str) -> str:
        return str(vars(load_chat_model("openai:gpt-4o", **more).model)["openai_api_key"].get_secret_value())  # type: ignore[arg-type]

    assert key() == "of-the-provider"
    assert key(base_url=SERVER) == "of-the-server"
    assert key(base_url=SERVER, key_variable="MY_KEY") == "named"


def test_no_key_in_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = load_chat_model("openai:gpt-4o")
    assert KEY not in repr(model) + str(model) + repr(model.model)
    assert model.base_url is None and model.priced_at is None


def test_openais_own_address_has_its_prices() -> None:
    assert LoadedModel("openai:x", ScriptedModel(replies=[]), "https://api.openai.com/v1").priced_at is None


def test_nothing_of_langchain_is_imported_before_a_model_is_loaded() -> None:
    unwanted = "('langchain', 'openai', 'tiktoken')"
    looked = f"import sys, fin_agent.models; print([m for m in sys.modules if m.startswith({unwanted})])"
    ended = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_a_key_from_a_file_is_sent_without_the_end_of_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("langchain_openai")
    monkeypatch.setenv("FIN_AGENT_API_KEY", f" {KEY}\r\n")
    model = load_chat_model("openai:qwen3", base_url="http://localhost:1/v1").model
    assert model.openai_api_key.get_secret_value() == KEY  # type: ignore[attr-defined]
    monkeypatch.setenv("FIN_AGENT_API_KEY", "\r\n")
    assert load_chat_model("openai:qwen3", base_url="http://localhost:1/v1")  # as if none were set


@pytest.mark.parametrize("value", [f"{KEY}\nX-Evil: 1", f"{KEY}\x1b", f"{KEY}…"])
def test_a_key_that_cannot_be_sent_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FIN_AGENT_API_KEY", value)
    with pytest.raises(ModelSetupError, match=r"the key in FIN_AGENT_API_KEY cannot be sent: it contains") as raised:
        load_chat_model("openai:qwen3", base_url="http://localhost:1/v1")
    assert KEY not in str(raised.value)


def test_no_key_goes_over_plain_http_to_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    monkeypatch.setenv("FIN_AGENT_API_KEY", "sesame-open-4711")
    with pytest.raises(ModelSetupError, match="over plain HTTP") as raised:
        load_chat_model("openai:qwen3", base_url="http://models.example.com/v1")
    assert "sesame" not in str(raised.value) and "FIN_AGENT_API_KEY=none" in raised.value.remedy
    load_chat_model("openai:qwen3", base_url="http://127.0.0.1:9/v1")
    monkeypatch.delenv("FIN_AGENT_API_KEY")
    with pytest.raises(ModelSetupError, match="a key that its package finds would be sent"):
        load_chat_model("anthropic:x", base_url="http://models.example.com/v1")
    monkeypatch.setenv("FIN_AGENT_API_KEY", "none")
    load_chat_model("openai:qwen3", base_url="http://models.example.com/v1")
