"""Keys are shown nowhere."""

from __future__ import annotations

import json
import logging
import sqlite3
from contextlib import closing, nullcontext
from itertools import pairwise
from pathlib import Path

import pytest

from fin_agent.config import settings_from
from fin_agent.config_sources import SettingsError
from fin_agent.models import (
    Caller,
    KeyRefusedError,
    Meter,
    ModelSetupError,
    ResponseCache,
    load_chat_model,
    metered,
)
from fin_agent.models.replies import shown_part
from fin_agent.redaction import NAMED_FOR_KEYS, holds_key, redact_keys
from tests.models.scripted import HttpStatusError, answer, loaded, text_call, value_call

KEY = "my-company-0123456789abcdef"


@pytest.mark.parametrize(
    "secret",
    ["sk-proj-abcdefgh12345678", "sk-ab***********cd", "gsk_abcdefghij", "Bearer abc.def", "AIzaSyabcdefghijk"],
)
def test_what_looks_like_a_key_is_taken_out(secret: str) -> None:
    assert secret.split()[-1] not in redact_keys(f"Incorrect API key provided: {secret} (see the manual)")
    assert "user:word" not in redact_keys("at http://user:word@host/v1")


def test_ordinary_words_stay() -> None:
    text = "the model openai:gpt-4o-mini at http://localhost:8000/v1 answered 404 (risk-free key-value store)"
    assert redact_keys(text).startswith(
        "the model openai:gpt-4o-mini at http://localhost:8000/v1 answered 404 (risk-free"
    )


def test_a_key_of_the_environment_gets_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("FIN_AGENT_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    model = loaded(
        answer("", additional_kwargs={"refusal": f"no, {KEY}"}),
        HttpStatusError(401, f"Incorrect API key provided: {KEY}"),
    )
    file = tmp_path / "kept.sqlite"
    with nullcontext(ResponseCache(file)) as cache, metered(Meter()) as meter:
        caller = Caller(model, cache=cache)
        with pytest.raises(KeyRefusedError) as raised:
            caller.value(value_call())
    told = [str(raised.value), repr(raised.value), repr(caller), repr(caller.model), caplog.text]
    told += [record.model_dump_json() for record in meter.records]
    assert not any(KEY in text for text in told)
    assert KEY.encode() not in file.read_bytes()


def kept_in(file: Path) -> int:
    with closing(sqlite3.connect(file)) as opened:
        return int(opened.execute("SELECT count(*) FROM cached_replies").fetchone()[0])


def echoed(text: str) -> str:
    return json.dumps({"value": 5, "unit": f"{text} USD"})


@pytest.mark.parametrize("variable", ["FIN_AGENT_API_KEY", "OF_ANOTHER_NAME"])
@pytest.mark.parametrize("ways", ["value", "value as it is written"])
def test_a_key_that_a_model_says_is_taken_out_and_the_reply_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ways: str, variable: str
) -> None:
    monkeypatch.setenv(variable, KEY)
    NAMED_FOR_KEYS.add(variable)
    model = loaded(echoed(KEY))
    file, heard = tmp_path / "kept.sqlite", [""]
    with nullcontext(ResponseCache(file)) as cache, metered(Meter()) as meter:
        caller = Caller(model, cache=cache)
        _, reply = caller.value(value_call(), heard.append if ways != "value" else None)
        assert "[key]" in reply.text and "held a key" in meter.records[0].note
        assert not kept_in(file)
        caller.reply(text_call())
    assert not any(KEY in text for text in [reply.text, *heard, *(each.model_dump_json() for each in meter.records)])
    assert KEY.encode() not in file.read_bytes()


def test_a_key_from_a_file_is_taken_out_as_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_AGENT_API_KEY", f" {KEY}\r\n")
    assert redact_keys(f"you sent {KEY}, or was it {KEY[:-1]}") == f"you sent [key], or was it {KEY[:-1]}"
    assert holds_key(f"openai:{KEY}")


def test_a_key_in_pieces_is_not_told_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_AGENT_API_KEY", KEY)
    text = f"It is {KEY}, not my-company-01"
    told = [shown_part(text[:end], more=True) for end in range(0, len(text) + 3, 3)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(told))
    assert told[-1] == "It is [key], not "
    assert shown_part(text, more=False) == "It is [key], not my-company-01"


@pytest.mark.parametrize(
    "written",
    [
        "openai:sk-abcdefghijklmnop1234",
        "openai:gpt-4o,sk-proj-abcDEF0123456789",
        "http://localhost:8000/v1/gsk_abcdefghijkl0123",
        "https://me:word@host/v1",
        "Authorization: Bearer abcdefgh",
        f"openai:{KEY}",
    ],
)
def test_a_key_anywhere_in_a_setting_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("FIN_AGENT_API_KEY", KEY)
    for given in ({"model": written}, {"base_url": written}, {"roles": {"intent": written}}, {"cache": Path(written)}):
        if "cache" not in given or "//" not in written:  # a path takes two slashes for one
            with pytest.raises(SettingsError, match="looks like a key") as raised:
                settings_from(models=given)
            assert written not in str(raised.value)
    for name, address in ((written, None), ("openai:x", written)):
        with pytest.raises(ModelSetupError, match=r"looks like a key|contains a password, a key") as refused:
            load_chat_model(name, base_url=address)
        assert written not in str(refused.value) and KEY not in str(refused.value)


@pytest.mark.parametrize(
    "written", ["hf-internal-testing/tiny-bert-2", "reports/sk-hynix-annual-2023", "key-figures-of-2023.yaml", "MY_KEY"]
)
def test_names_that_only_resemble_keys_are_taken(written: str) -> None:
    assert not holds_key(written)
