"""Keys are shown nowhere."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from fin_agent.models import Caller, KeyRefusedError, Meter, ResponseCache, Retrying, metered
from fin_agent.models.keys import redacted
from tests.models.scripted import HttpStatusError, answer, loaded, value_call

KEY = "my-company-0123456789abcdef"


@pytest.mark.parametrize(
    "secret",
    ["sk-proj-abcdefgh12345678", "sk-ab***********cd", "gsk_abcdefghij", "Bearer abc.def", "AIzaSyabcdefghijk"],
)
def test_what_looks_like_a_key_is_taken_out(secret: str) -> None:
    assert secret.split()[-1] not in redacted(f"Incorrect API key provided: {secret} (see the manual)")
    assert "user:word" not in redacted("at http://user:word@host/v1")


def test_ordinary_words_stay() -> None:
    text = "the model openai:gpt-4o-mini at http://localhost:8000/v1 answered 404 (risk-free key-value store)"
    assert redacted(text).startswith("the model openai:gpt-4o-mini at http://localhost:8000/v1 answered 404 (risk-free")


def test_a_key_of_the_environment_gets_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("FIN_AGENT_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    model = loaded(
        HttpStatusError(503, f"upstream said {KEY}"),
        answer("", additional_kwargs={"refusal": f"no, {KEY}"}),
        HttpStatusError(401, f"Incorrect API key provided: {KEY}"),
    )
    file = tmp_path / "kept.sqlite"
    with ResponseCache(file) as cache, metered(Meter()) as meter:
        caller = Caller(model, cache=cache, retrying=Retrying(first_wait=0))
        with pytest.raises(KeyRefusedError) as raised:
            caller.value(value_call())
    told = [str(raised.value), repr(raised.value), repr(caller), repr(caller.model), caplog.text]
    told += [record.model_dump_json() for record in meter.records]
    assert not any(KEY in text for text in told)
    assert KEY.encode() not in file.read_bytes()
