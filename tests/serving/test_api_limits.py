"""What holds a caller back, and what becomes of work whose caller has gone."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.serving.http_server import MAX_BYTES, Access
from fin_agent.serving.problem_details import BusyError
from fin_agent.tools.context import ToolContext
from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace
from tests.graphs.told_by_model import QUESTION
from tests.serving.conftest import FILING, TOKEN, HeldModel, api_over, events_in, eventually

httpx = pytest.importorskip("httpx", reason="needs the extra `serving-tests`")
pytest.importorskip("fastapi", reason="needs the extra `serve`")

from fin_agent.serving.http_api import Calls, Limits  # noqa: E402

BY_RULES = {"question": "What was Harborlight's net income in FY2023?"}
BY_MODEL = {"question": QUESTION}


@pytest.fixture(scope="module")
def guarded(context: ToolContext) -> Iterator[str]:
    """The address of a server that asks for a token."""
    with api_over(context, Access(token=TOKEN)) as address:
        yield address


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/ask"), ("GET", "/search?query=x"), ("GET", "/filings"), ("GET", f"/filings/{FILING}"),
     ("GET", f"/pages/{FILING}/1.png"), ("GET", "/openapi.json"), ("GET", "/nope"), ("GET", "/health/../filings")],
)  # fmt: skip
@pytest.mark.parametrize("given", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}])
def test_nothing_is_told_without_the_token(guarded: str, method: str, path: str, given: dict[str, str]) -> None:
    told = httpx.request(method, guarded + path, headers=given, json=BY_RULES if method == "POST" else None)
    assert told.status_code == 401
    assert told.headers["www-authenticate"] == "Bearer"
    assert "FIN_AGENT_TOKEN" in told.json()["remedy"]
    assert TOKEN not in told.text


def test_all_is_told_with_the_token(guarded: str) -> None:
    given = {"Authorization": f"Bearer {TOKEN}"}
    assert httpx.post(f"{guarded}/ask", json=BY_RULES, headers=given, timeout=60).json()["answer"]["value"] == 544.0
    assert httpx.get(f"{guarded}/filings", headers=given).status_code == 200


def test_health_needs_no_token(guarded: str) -> None:
    assert httpx.get(f"{guarded}/health").status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example", "Authorization": f"Bearer {TOKEN}"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_a_page_of_another_origin_or_under_another_name_is_not_answered(
    api: str, headers: dict[str, str], status: int
) -> None:
    for path in ("/health", "/filings"):
        told = httpx.get(api + path, headers=headers)
        assert told.status_code == status
        assert told.json()["remedy"]


def test_a_page_of_its_own_origin_is_answered(api: str) -> None:
    assert httpx.get(f"{api}/health", headers={"Origin": api}).status_code == 200


def test_too_much_is_not_read(api: str) -> None:
    question = b'{"question": "' + b"x" * MAX_BYTES + b'"}'
    declared = httpx.post(f"{api}/ask", content=question, headers={"content-type": "application/json"})

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(question), 50_000):
            yield question[start : start + 50_000]

    undeclared = httpx.post(f"{api}/ask", content=pieces(), headers={"content-type": "application/json"})
    for told in (declared, undeclared):
        assert told.status_code == 413
        assert told.json()["what"] == "more than 1,000,000 bytes were sent"


def test_where_all_places_are_taken_one_is_told_when_to_come_back(
    held_toolkit: FinAgentToolkit, held: HeldModel
) -> None:
    with api_over(held_toolkit.context, limits=Limits(at_once=1, waiting=0)) as address:
        first: list[Any] = []
        asking = threading.Thread(target=lambda: first.append(httpx.post(f"{address}/ask", json=BY_MODEL, timeout=60)))
        asking.start()
        assert held.asked.wait(30)
        for told in (httpx.post(f"{address}/ask", json=BY_RULES), httpx.get(f"{address}/search?query=x"),
                     httpx.post(f"{address}/ask", json={**BY_RULES, "stream": True})):  # fmt: skip
            assert told.status_code == 503
            assert int(told.headers["retry-after"]) > 0
            assert "again" in told.json()["remedy"]
        assert httpx.get(f"{address}/health").status_code == 200
        held.go_on.set()
        asking.join(60)
        assert first[0].status_code == 200
        assert held.calls > 1  # a run that nobody leaves asks for the answer as well
        assert httpx.post(f"{address}/ask", json=BY_RULES, timeout=60).status_code == 200


def test_who_finds_no_place_at_once_waits_for_one_for_a_while() -> None:
    async def calls() -> list[str]:
        calls = Calls(Limits(at_once=1, waiting=1), patience=0.2)
        told: list[str] = []
        leave = asyncio.Event()

        async def call(name: str) -> None:
            try:
                async with calls.place():
                    told.append(f"{name} is in")
                    await leave.wait()
            except BusyError:
                told.append(f"{name} is turned away")

        first, second, third = (asyncio.create_task(call(name)) for name in ("first", "second", "third"))
        await asyncio.gather(third, second)  # the one has no place to wait, the other waits too long
        fourth = asyncio.create_task(call("fourth"))
        await asyncio.sleep(0)
        leave.set()
        await asyncio.gather(first, fourth)
        return told

    told = asyncio.run(calls())
    assert sorted(told) == ["first is in", "fourth is in", "second is turned away", "third is turned away"]


def test_what_takes_too_long_is_given_up(held_toolkit: FinAgentToolkit, held: HeldModel) -> None:
    with api_over(held_toolkit.context, limits=Limits(seconds=1.5)) as address:
        told = httpx.post(f"{address}/ask", json=BY_MODEL, timeout=60)
        streamed = httpx.post(f"{address}/ask", json={**BY_MODEL, "stream": True}, timeout=60)
        assert told.status_code == 504
        assert told.json()["what"] == "it took more than 1.5 seconds"
        name, problem = events_in(streamed.text)[-1]
        assert (name, problem) == ("failed", told.json())
        calls = held.calls
        held.go_on.set()
        assert not eventually(lambda: held.calls > calls, seconds=1)  # nothing further is asked of the model


def test_silence_is_broken_by_comments(
    held_toolkit: FinAgentToolkit, held: HeldModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fin_agent.serving.calls.SECONDS_OF_SILENCE", 0.2)
    with (
        api_over(held_toolkit.context) as address,
        httpx.stream("POST", f"{address}/ask", json={**BY_MODEL, "stream": True}, timeout=60) as told,
    ):
        lines = told.iter_lines()
        assert held.asked.wait(30)
        comments = 0
        while comments < 3:
            comments += next(lines) == ": at work"
        held.go_on.set()
        assert "event: answered" in lines


@pytest.mark.parametrize("stream", [False, True])
def test_a_caller_that_goes_stops_the_work(held_toolkit: FinAgentToolkit, held: HeldModel, stream: bool) -> None:
    with api_over(held_toolkit.context, limits=Limits(at_once=1, waiting=0)) as address:
        leave = asked_by_hand(address, stream)
        assert held.asked.wait(30)
        assert httpx.get(f"{address}/search?query=x").status_code == 503
        leave()
        assert eventually(lambda: httpx.get(f"{address}/search?query=x", timeout=60).status_code == 200)
        held.go_on.set()
        assert eventually(lambda: not any(each.name == "fin-agent-answer" for each in threading.enumerate()))
    assert held.calls == 1


class HeldRules(RulesAnalyst):
    """Reads a question only once it is let go on; says whether passages were judged after that."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.asked, self.go_on, self.judged = threading.Event(), threading.Event(), threading.Event()

    def intent(self, *given: Any, **named: Any) -> Any:
        self.asked.set()
        assert self.go_on.wait(60)
        return super().intent(*given, **named)

    def curate(self, *given: Any, **named: Any) -> Any:
        self.judged.set()
        return super().curate(*given, **named)


@pytest.mark.parametrize("stays", [True, False])
def test_an_answer_by_rules_stops_as_well(context: ToolContext, stays: bool) -> None:
    rules = HeldRules(context.workspace)
    answering = replace(context.answering, analyst=rules)
    with api_over(replace(context, answering=answering), limits=Limits(at_once=1, waiting=0)) as address:
        leave = asked_by_hand(address, stream=False)
        assert rules.asked.wait(30)
        if not stays:
            leave()
            assert eventually(lambda: httpx.get(f"{address}/search?query=x", timeout=60).status_code == 200)
        rules.go_on.set()
        assert eventually(lambda: not any(each.name == "fin-agent-answer" for each in threading.enumerate()))
        assert rules.judged.is_set() == stays
        leave()


def asked_by_hand(address: str, stream: bool) -> Callable[[], None]:
    """Ask, read nothing; what is given back goes away."""
    port = int(address.rpartition(":")[2])
    body = b'{"question": "%s", "stream": %s}' % (QUESTION.encode(), b"true" if stream else b"false")
    connection = socket.create_connection(("127.0.0.1", port))
    head = b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    connection.sendall(head % len(body) + body)
    return connection.close


def test_half_open_connections_are_closed_in_time(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers that never end hold no connection for long, also those of a second call."""
    monkeypatch.setattr("fin_agent.serving.header_timeouts.SECONDS_FOR_HEADERS", 0.5)
    with api_over(context) as address:
        port = int(address.rpartition(":")[2])
        silent, dripping, second = (socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(3))
        dripping.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Never")
        second.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert second.recv(65_536).startswith(b"HTTP/1.1 200")
        second.sendall(b"GET /health HTTP/1.1\r\nX-Never")
        for connection in (silent, dripping):
            assert connection.recv(65_536) == b""
        while told := second.recv(65_536):
            assert b"200" not in told
        assert httpx.get(f"{address}/health").status_code == 200


def test_as_many_connections_as_may_be(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fin_agent.serving.header_timeouts.MAX_CONNECTIONS", 20)
    with api_over(context) as address:
        port = int(address.rpartition(":")[2])
        half_open = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(60)]
        assert httpx.get(f"{address}/health", timeout=10).status_code == 200
        assert half_open[0].recv(1) == b""  # the oldest gave way
