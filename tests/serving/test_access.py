"""Who may call a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent.serving.access import SHORTEST_TOKEN, TOKEN_VARIABLE, Access
from fin_agent.serving.errors import ServingError
from tests.cli.running import Ran
from tests.serving.conftest import TOKEN


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::", "example.com", ""])
def test_others_need_a_token(host: str) -> None:
    with pytest.raises(ServingError, match=TOKEN_VARIABLE):
        Access.of(host, environ={})
    assert Access.of(host, environ={TOKEN_VARIABLE: TOKEN}).token == TOKEN


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_this_machine_needs_none(host: str) -> None:
    assert Access.of(host, environ={}).token is None


def test_another_name_needs_a_token() -> None:
    with pytest.raises(ServingError, match=r"filings\.example"):
        Access.of("127.0.0.1", ["filings.example"], environ={})


@pytest.mark.parametrize("token", ["short", "x" * (SHORTEST_TOKEN - 1), "ü" * 30, "a token\nwith lines in it"])
def test_a_weak_token_is_refused(token: str) -> None:
    with pytest.raises(ServingError, match="at least 16") as raised:
        Access.of("127.0.0.1", environ={TOKEN_VARIABLE: token})
    assert token not in str(raised.value) and TOKEN_VARIABLE in str(raised.value)


def test_a_token_from_a_file_is_taken_without_the_end_of_its_line() -> None:
    assert Access.of("127.0.0.1", environ={TOKEN_VARIABLE: f"{TOKEN}\r\n"}).token == TOKEN


def test_the_token_is_not_shown() -> None:
    assert TOKEN not in repr(Access(token=TOKEN))


@pytest.mark.parametrize(
    ("authorization", "admitted"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer {TOKEN}", True),
        (f"Basic {TOKEN}", False),
        (TOKEN, False),
        (f"Bearer {TOKEN}x", False),
        (f"Bearer {TOKEN[:-1]}", False),
        ("Bearer ", False),
        ("Bearer \u00fc\u00fc", False),
        (None, False),
    ],
)
def test_the_token_is_asked_for_as_it_is(authorization: str | None, admitted: bool) -> None:
    assert Access(token=TOKEN).admits(authorization) is admitted


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "a:b", "x/y", ""])
def test_names_of_others_are_not_answered_to(host: str) -> None:
    assert not Access().answers_to(host)


def test_names_that_are_allowed_are_answered_to() -> None:
    access = Access("0.0.0.0", ("filings.example",), TOKEN)
    assert access.answers_to("filings.example:443")
    assert not access.answers_to("other.example")
    assert Access("0.0.0.0", (), TOKEN).answers_to("any.example")


@pytest.mark.parametrize(
    "origin", ["null", "http://evil.example", "http://localhost:3000", "https://localhost:84001", "http://["]
)
def test_pages_of_other_origins_may_not_call(origin: str) -> None:
    assert not Access().lets_in(origin, "localhost:8400")


@pytest.mark.parametrize(("command", "extra"), [("mcp", "mcp"), ("serve", "serve")])
def test_without_its_extra_a_command_says_what_to_install(
    command: str, extra: str, sample_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fin_agent.serving.errors.find_spec", lambda name: None)
    ran = Ran(command, "--index", sample_index)
    assert (ran.code, ran.out) == (1, "")
    assert f'pip install ".[{extra}]"' in ran.err
