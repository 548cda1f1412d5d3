"""Who may call a server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fin_agent.errors import FilingIndexError
from fin_agent.serving.http_server import MIN_TOKEN_LENGTH, TOKEN_VARIABLE, Access, with_guards
from fin_agent.serving.problem_details import Problem, ServingError
from fin_agent.tools.context import ToolContext
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


@pytest.mark.parametrize("token", ["short", "x" * (MIN_TOKEN_LENGTH - 1), "ü" * 30, "a token\nwith lines in it"])
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
    headers = {} if authorization is None else {"authorization": authorization}
    refusal = Access(token=TOKEN).refusal(headers)
    assert (refusal is None) is admitted
    assert refusal is None or refusal[0] == 401


def status(access: Access, *headers: tuple[str, str]) -> int:
    """Of a call with these headers to a server that has nothing to say."""
    pytest.importorskip("starlette", reason="needs the extra `serve`")
    from starlette.responses import Response

    told: list[int] = []
    scope = {
        "type": "http", "method": "GET", "path": "/", "query_string": b"", "scheme": "http",
        "server": ("127.0.0.1", 8400), "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }  # fmt: skip

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            told.append(message["status"])

    asyncio.run(with_guards(Response(), access)(scope, receive, send))
    (one,) = told
    return one


@pytest.mark.parametrize("host", ["localhost:8400", "127.0.0.1", "[::1]:8400", "LOCALHOST"])
def test_names_of_this_machine_are_answered_to(host: str) -> None:
    assert status(Access(), ("host", host)) == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "a:b", "x/y", ""])
def test_names_of_others_are_not_answered_to(host: str) -> None:
    assert status(Access(), ("host", host)) == 421
    assert status(Access(), *(("host", host) for _ in range(2))) == 421


def test_names_that_are_allowed_are_answered_to() -> None:
    access, token = Access("0.0.0.0", ("filings.example",), TOKEN), ("authorization", f"Bearer {TOKEN}")
    assert status(access, ("host", "filings.example:443"), token) == 200
    assert status(access, ("host", "other.example"), token) == 421
    assert status(Access("0.0.0.0", (), TOKEN), ("host", "any.example"), token) == 200
    assert status(Access("::1"), ("host", "[::1]:8400")) == 200


@pytest.mark.parametrize(
    "origin", ["null", "http://evil.example", "http://localhost:3000", "https://localhost:84001", "http://["]
)
def test_pages_of_other_origins_may_not_call(origin: str) -> None:
    assert status(Access(), ("host", "localhost:8400"), ("origin", origin)) == 403
    own = ("origin", "http://localhost:8400")
    assert status(Access(), ("host", "localhost:8400"), own) == 200
    assert status(Access(), ("host", "localhost:8400"), own, ("origin", origin)) == 403


def test_what_is_sent_slowly_is_given_up(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastapi", reason="needs the extra `serve`")
    from fin_agent.serving.http_api import http_api

    monkeypatch.setattr("fin_agent.serving.http_server.SECONDS_TO_SEND", 0.1)
    told: list[Any] = []
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/ask", "query_string": b"", "headers": headers}

    async def receive() -> Any:
        await asyncio.sleep(0.06)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message: Any) -> None:
        told.append(message)

    asyncio.run(http_api(context, Access())(scope, receive, send))
    assert told[0]["status"] == 408
    assert b"did not arrive in time" in told[1]["body"]


@pytest.mark.parametrize(("command", "extra"), [("mcp", "mcp"), ("serve", "serve")])
def test_without_its_extra_a_command_says_what_to_install(
    command: str, extra: str, sample_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fin_agent.errors.find_spec", lambda name: None)
    ran = Ran(command, "--index", sample_index)
    assert (ran.code, ran.out) == (1, "")
    assert f'pip install ".[{extra}]"' in ran.err


@pytest.mark.parametrize("file", ["/home/ann b/index/filings.sqlite", "/srv/filings.sqlite"])
def test_a_problem_does_not_tell_where_things_lie(file: str) -> None:
    told = Problem.of(
        FilingIndexError("no room in /srv/my/index", subject=file, remedy="Call `/docs`, not /srv/my/x.db")
    )
    assert (told.what, told.subject) == ("no room in index", "filings.sqlite")
    assert told.remedy == "Call `/docs`, not x.db"
    linked = Problem.of(ServingError("see https://docs.example/a/b", subject="POST /ask"))
    assert (linked.what, linked.subject) == ("see https://docs.example/a/b", "POST /ask")
