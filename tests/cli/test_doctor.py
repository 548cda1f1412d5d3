"""`doctor` against a server that speaks OpenAI's protocol: every failure ends in a finding that says what to do."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fin_agent.cli import doctor
from fin_agent.config import VARIABLES
from tests.cli.running import Ran
from tests.loopback import no_other_host
from tests.models.openai_server import FAILURES, KEY, SLOW, OpenAIServer, Reply
from tests.models.openai_server.fixtures import serve

__all__ = ["no_other_host", "serve"]
langchain_openai = pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

GOOD = '{"ready": true}'
STATES = {"ok", "note", "warning", "failed"}


@pytest.fixture(autouse=True)
def no_keys_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("FIN_AGENT_API_KEY", KEY)


@pytest.fixture
def server(serve: Callable[..., OpenAIServer]) -> OpenAIServer:
    return serve(lambda request: Reply(GOOD, prompt_tokens=60, completion_tokens=6))


class Looked(Ran):
    """`doctor --json`, its findings by what they are about and check."""

    def __init__(self, *arguments: object) -> None:
        super().__init__("doctor", "--json", *arguments)
        assert KEY not in self.out + self.err and "Traceback" not in self.err
        self.findings = {(each["about"], each["check"]): each for each in self.document["findings"]}
        assert len(self.findings) == len(self.document["findings"])
        for each in self.findings.values():
            assert each["state"] in STATES and each["found"]
            assert each["remedy"] or each["state"] in ("ok", "note"), each
        failed = [each for each in self.findings.values() if each["state"] == "failed"]
        assert self.document["failed"] == len(failed)
        assert self.code == (3 if failed else 0)

    def of(self, about: str, check: str) -> tuple[str, str, str]:
        each: dict[str, Any] = self.findings[about, check]
        return each["state"], each["found"], each["remedy"] or ""


def test_without_a_model_rules_answer(sample_index: Path) -> None:
    looked = Looked("--index", sample_index)
    assert looked.code == 0 and looked.document["calls"] == 0
    state, found, remedy = looked.of("analyst", "who answers")
    assert (state, found) == ("ok", "rules, without any chat model")
    assert "--model" in remedy and "FIN_AGENT_MODEL" in remedy
    assert looked.of("index", "filings")[:2] == ("ok", f"15 in {sample_index} (--index)")
    assert {about for about, _ in looked.findings} == {"settings", "analyst", "index"}


@pytest.mark.parametrize(
    ("mode", "offers", "told"),
    [
        ("auto", {"json_schema"}, "by a schema that the server enforces"),
        ("schema", {"json_schema"}, "by a schema that the server enforces"),
        ("auto", set(), "by plain JSON, checked here (the server accepts no schema)"),
        ("json", {"json_schema"}, "by plain JSON, checked here (as set)"),
    ],
)
def test_a_server_that_is_right(
    server: OpenAIServer, mode: str, offers: set[str], told: str, sample_index: Path
) -> None:
    server.offers = frozenset(offers)
    given = ("--model", "openai:gpt-4o", "--base-url", server.url, "--output-mode", mode)
    looked = Looked(*given, "--index", sample_index)
    model = "openai:gpt-4o"
    assert looked.code == 0
    assert looked.of(model, "set-up")[1] == f"at {server.url}, for all roles"
    assert looked.of(model, "key") == ("ok", "the one in FIN_AGENT_API_KEY", "")
    assert looked.of(model, "server")[0] == "ok"
    assert looked.of(model, "structured output") == ("ok", told, "")
    state, found, remedy = looked.of(model, "price")
    assert state == "note" and "dollars are not counted" in found and "FIN_AGENT_PRICES" in remedy
    assert (looked.document["calls"], looked.document["tokens"], looked.document["dollars"]) == (1, 66, None)
    assert len([each for each in server.log if each.status == 200]) == 1


def test_one_call_of_each_model_that_is_named(server: OpenAIServer, sample_index: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("models:\n  openai:gpt-4o: {input: 2, output: 10}\n  openai:gpt-4o-mini: {input: 1, output: 1}")
    file = tmp_path / "fin-agent.toml"
    lines = ("[models]", 'model = "openai:gpt-4o"', 'small = "openai:gpt-4o-mini"', 'prices = "prices.yaml"')
    file.write_text("\n".join(lines), encoding="utf-8")
    options = (
        "--config",
        file,
        "--role",
        "text-judge=openai:gpt-4o-mini",
        "--base-url",
        server.url,
        "--index",
        sample_index,
    )
    looked = Looked(*options)
    assert [request.model for request in server.requests] == ["gpt-4o-mini", "gpt-4o"]
    small = looked.of("openai:gpt-4o-mini", "set-up")[1]
    assert "curation" in small and "text-judge" in small and "reasoning" not in small
    assert looked.of("openai:gpt-4o", "set-up")[1].endswith("for reasoning, verification, passages-judge, assistant")
    assert looked.of("openai:gpt-4o", "price")[1] == f"$2 in, $10 out per million tokens (from {prices})"
    assert looked.document["dollars"] == pytest.approx((60 * 2 + 6 * 10 + 60 + 6) / 1e6)
    assert "--role gives models.roles.text-judge" in looked.of("settings", "given")[1]
    told = Ran("doctor", *options)
    assert "2 model calls, 120 tokens in, 12 out, $0.0002." in told.out


@pytest.mark.parametrize(
    ("failures", "check", "found", "remedy"),
    [
        (["401"], "key", "the server answered 401", "Check the key in the environment"),
        (["404"], "model", "the server answered 404", "Check the model's name"),
        (["429-seconds"], "server", "the server answered 429", "Wait"),
        (["429-quota"], "server", "the server answered 429", "Add credit"),
        (["500"], "server", "the server answered 500", "Try again later"),
        (["502"], "server", "the server answered 502", "Try again later"),
        (["dropped"], "server", "no connection to", "Check that the server is running"),
        (["late"], "server", "the server did not reply in time", "Allow more time"),
        (["no-json"], "server", "", "Check that a chat model is served at"),
        (
            ["rubbish", "rubbish"],
            "structured output",
            "by a schema: two replies could not be used",
            "--output-mode json",
        ),
        (["truncated", "truncated"], "structured output", "the reply was cut off", "Allow more output tokens"),
        (["refused", "refused"], "server", "declined to answer", ""),
        (
            ["400-response-format", "rubbish", "rubbish"],
            "structured output",
            "by plain JSON: two",
            "--output-mode schema",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_each_failure_has_its_finding(
    failures: list[str],
    check: str,
    found: str,
    remedy: str,
    server: OpenAIServer,
    sample_index: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FIN_AGENT_TIMEOUT", "0.5" if SLOW & set(failures) else "20")
    server.fail_next(*failures)
    looked = Looked("--model", "openai:gpt-4o", "--base-url", server.url, "--index", sample_index)
    state, told, what_to_do = looked.of("openai:gpt-4o", check)
    assert state == "failed"
    assert found in told and remedy in what_to_do
    assert looked.document["failed"] == 1


@pytest.mark.parametrize("name", sorted(FAILURES.keys() - SLOW))
def test_no_failure_is_a_traceback(name: str, server: OpenAIServer, sample_index: Path) -> None:
    server.fail_next(name, name)
    Looked("--model", "openai:gpt-4o", "--base-url", server.url, "--index", sample_index)


def test_a_reply_that_had_to_be_corrected_is_a_warning(server: OpenAIServer, sample_index: Path) -> None:
    server.fail_next("rubbish")
    looked = Looked("--model", "openai:gpt-4o", "--base-url", server.url, "--index", sample_index)
    assert looked.of("openai:gpt-4o", "structured output")[0] == "warning"
    assert looked.document["calls"] == 2 and looked.code == 0


def test_schemas_asked_for_of_a_server_without_them(server: OpenAIServer, sample_index: Path) -> None:
    server.offers = frozenset()
    options = ("--model", "openai:gpt-4o", "--base-url", server.url, "--index", sample_index, "--output-mode", "schema")
    state, found, remedy = Looked(*options).of("openai:gpt-4o", "structured output")
    assert state == "failed" and "400" in found and "--output-mode auto" in remedy


def test_nothing_listens_at_the_address(sample_index: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        looked = Looked("--model", "openai:gpt-4o", "--base-url", url, "--index", sample_index)
    state, found, remedy = looked.of("openai:gpt-4o", "server")
    assert state == "failed" and url in found and "Check that the server is running" in remedy
    assert looked.of("openai:gpt-4o", "structured output")[:2] == ("note", "not known")
    assert looked.document["calls"] == 1 and looked.document["tokens"] == 0


def test_offline_makes_no_call(server: OpenAIServer, sample_index: Path) -> None:
    looked = Looked("--model", "openai:gpt-4o", "--base-url", server.url, "--index", sample_index, "--offline")
    assert looked.code == 0 and not server.log
    assert looked.of("openai:gpt-4o", "server") == ("note", "not asked", "")
    assert looked.of("openai:gpt-4o", "key")[0] == "ok"


def test_a_model_that_cannot_be_set_up(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIN_AGENT_API_KEY")
    for options, told in (
        (("--model", "openai:gpt-4o"), "OPENAI_API_KEY is not set"),
        (("--model", "gpt-4o"), "the name has no provider"),
        (("--model", "openai:gpt-4o", "--base-url", "localhost"), "is not the address of a server"),
        (("--model", "nobody:knows-this"), "it cannot be set up"),
    ):
        looked = Looked(*options, "--index", sample_index)
        name = str(options[1])
        assert looked.of(name, "set-up")[0] == "failed" and told in looked.of(name, "set-up")[1]


def test_a_key_named_by_its_variable(server: OpenAIServer, sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_AGENT_KEY_VARIABLE", "MINE")
    options = ("--model", "openai:gpt-4o", "--base-url", server.url, "--index", sample_index)
    assert "MINE, which is not set" in Looked(*options).of("openai:gpt-4o", "set-up")[1]
    monkeypatch.setenv("MINE", KEY)
    assert Looked(*options).of("openai:gpt-4o", "key")[1] == "the one in MINE"


def test_no_key_where_the_server_wants_none(
    serve: Callable[..., OpenAIServer], sample_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FIN_AGENT_API_KEY")
    server = serve(lambda request: GOOD, key=None)
    looked = Looked("--model", "openai:gpt-4o", "--base-url", server.url, "--index", sample_index)
    assert looked.of("openai:gpt-4o", "key") == ("note", "none is sent", "")
    assert looked.of("openai:gpt-4o", "server")[0] == "ok"


def test_keys_that_go_astray(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--model", "openai:gpt-4o", "--offline", "--index", sample_index)
    looked = Looked(*options, "--base-url", "http://models.example.com/v1")
    assert any(
        "over plain HTTP" in found
        for state, found, _ in map(looked.of, *zip(*looked.findings, strict=True))
        if state == "failed"
    )
    monkeypatch.delenv("FIN_AGENT_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    looked = Looked(*options, "--base-url", "https://models.example.com/v1")
    state, found, remedy = looked.of("openai:gpt-4o", "key")
    assert state == "warning" and "is sent to models.example.com" in found and "FIN_AGENT_API_KEY" in remedy
    assert looked.of("openai:gpt-4o", "price")[0] == "warning"
    looked = Looked(*options)
    assert looked.of("openai:gpt-4o", "key") == ("ok", "the one in OPENAI_API_KEY", "")
    assert "genai-prices" in looked.of("openai:gpt-4o", "price")[1]
    assert "openai:gpt-4o-mini" in {about for about, _ in looked.findings}


def test_dollars_limited_and_no_price(server: OpenAIServer, sample_index: Path) -> None:
    options = ("--model", "openai:gpt-4o", "--base-url", server.url, "--index", sample_index, "--max-dollars", "1")
    state, found, remedy = Looked(*options).of("openai:gpt-4o", "price")
    assert state == "failed" and "no call would be made" in found and "limit tokens" in remedy


def test_a_file_of_prices_that_cannot_be_used(
    server: OpenAIServer, sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIN_AGENT_PRICES", str(tmp_path / "none.yaml"))
    looked = Looked("--model", "openai:gpt-4o", "--base-url", server.url, "--index", sample_index)
    assert looked.of("prices", "file")[0] == "failed"


def test_settings_that_cannot_be_used_are_a_finding(sample_index: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text("rounds = 9", encoding="utf-8")
    looked = Looked("--config", file, "--index", sample_index)
    state, found, _ = looked.of("settings", "values")
    assert state == "failed" and str(file) in found and "less than or equal to 3" in found
    assert looked.of("index", "filings")[0] == "ok"


def test_who_answers(server: OpenAIServer, sample_index: Path) -> None:
    named = ("--model", "openai:gpt-4o", "--base-url", server.url)
    for options, state, told in (
        ((*named, "--offline"), "ok", "a chat model, with rules to fall back on"),
        (("--analyst", "llm"), "failed", "none is named"),
        ((*named, "--analyst", "rules"), "note", "not checked"),
        (("--role", "text-judge=openai:gpt-4o"), "warning", "none that answers"),
    ):
        looked = Looked(*options, "--index", sample_index)
        found = looked.of("analyst", "who answers")
        assert found[0] == state and told in found[1]
    assert not server.log


def test_models_of_strategies_and_cards_are_asked_too(server: OpenAIServer, sample_index: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text('chat_model = "openai:gpt-4o"\ncard_model = "openai:gpt-4o-mini"', encoding="utf-8")
    looked = Looked("--config", file, "--base-url", server.url, "--index", sample_index)
    assert looked.of("analyst", "who answers")[1] == "rules, without any chat model"
    assert looked.of("openai:gpt-4o-mini", "set-up")[1].endswith("for card-abstraction")
    assert looked.of("openai:gpt-4o", "set-up")[1].endswith(
        "for hypothetical-passage, hypothetical-passages, next-thought"
    )
    assert len(server.requests) == 2


def test_a_variable_with_a_slip(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_AGENT_MODLE", "openai:gpt-4o")
    looked = Looked("--index", sample_index)
    assert looked.of("settings", "variable")[0] == "warning"
    assert looked.of("settings", "variable")[2] == "Did you mean FIN_AGENT_MODEL?"


def test_every_command_warns_of_a_variable_with_a_slip(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_AGENT_INDX", str(sample_index))
    monkeypatch.setenv("FIN_AGENT_MY_SECRET", "x")
    monkeypatch.setenv("FIN_AGENT_KEY_VARIABLE", "FIN_AGENT_MY_SECRET")  # a variable of the user's own
    ran = Ran("filings", "--index", sample_index)
    said = (
        "warning: the environment variable FIN_AGENT_INDX is set, but nothing reads it. Did you mean FIN_AGENT_INDEX?"
    )
    assert said in " ".join(ran.err.split()) and "MY_SECRET" not in ran.err
    assert ran.code == 0


def test_variables_that_something_reads_are_no_slips(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(doctor.__file__).parents[1]
    texts = [file.read_text(encoding="utf-8") for file in sorted(package.rglob("*.py"))]
    read = {name for text in texts for name in re.findall(r'"(FIN_AGENT_[A-Z_]+)"', text)}
    assert len(read | set(VARIABLES.values())) > 40
    monkeypatch.setenv("FIN_AGENT_PRESET", "fast")
    for name in read - {"FIN_AGENT_CONFIG", *VARIABLES.values()}:
        monkeypatch.setenv(name, "1")
    assert ("settings", "variable") not in Looked("--index", sample_index).findings


def test_no_index_yet(tmp_path: Path, empty_index: Path) -> None:
    state, found, remedy = Looked("--index", tmp_path / "none").of("index", "filings")
    assert state == "failed" and "none" in found and "fin-agent ingest" in remedy
    assert Looked("--index", empty_index).of("index", "filings")[0] == "warning"
    (tmp_path / "filings.sqlite").write_bytes(b"no database at all")
    assert Looked("--index", tmp_path).of("index", "filings")[0] == "failed"


def test_what_a_person_sees(server: OpenAIServer, sample_index: Path) -> None:
    server.fail_next("401")
    ran = Ran("doctor", "--model", "openai:gpt-4o", "--base-url", server.url, "--index", sample_index)
    lines = ran.out.splitlines()
    assert "openai:gpt-4o" in lines and lines[-1].startswith("1 failed, 0 warnings.")
    (place,) = (number for number, line in enumerate(lines) if line.startswith("  failed"))
    assert "key" in lines[place] and "→ Check the key in the environment" in "".join(lines[place : place + 4])
    assert KEY not in ran.out and max(map(len, lines)) <= 100
