"""Tests of this folder reach no host but this machine, and hear of it where they try."""

from __future__ import annotations

import socket
import urllib.request
from pathlib import Path

import pytest

from tests.loopback import Attempts, ForbiddenConnectionError
from tests.models.openai_server import KEY, OpenAIServer

pytest_plugins = ["pytester"]


def test_other_hosts_cannot_be_reached(no_other_host: Attempts) -> None:
    with pytest.raises(ForbiddenConnectionError, match=r"a connection to api\.openai\.com was tried"):
        urllib.request.urlopen("https://api.openai.com/v1/models")
    with pytest.raises(ForbiddenConnectionError):
        socket.create_connection(("192.0.2.1", 80), timeout=0.1)
    assert len(no_other_host) == 2
    no_other_host.clear()


def test_this_machine_can(openai_server: OpenAIServer) -> None:
    request = urllib.request.Request(f"{openai_server.url}/models", headers={"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.status == 200


def test_openais_client_cannot_reach_openai(no_other_host: Attempts) -> None:
    openai = pytest.importorskip("openai", reason="the guard is held against openai's own client")
    client = openai.OpenAI(api_key=KEY, max_retries=1)
    with pytest.raises(ForbiddenConnectionError):  # not one of its own errors, which callers catch
        client.models.list()
    assert list(no_other_host) == ["a connection to api.openai.com"]
    no_other_host.clear()


def test_a_test_that_hides_it_fails(pytester: pytest.Pytester) -> None:
    root = Path(__file__).parents[2]
    pytester.makeconftest("from tests.loopback import no_other_host\n__all__ = ['no_other_host']")
    pytester.makepyfile(
        """
        import socket
        def test_hidden():
            try:
                socket.getaddrinfo("example.com", 80)
            except Exception:
                pass
        def test_local():
            socket.getaddrinfo("localhost", 80)
        """
    )
    ran = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", f"--rootdir={pytester.path}", "-o", f"pythonpath={root}"
    )
    ran.assert_outcomes(passed=2, errors=1)
    ran.stdout.fnmatch_lines(["*ForbiddenConnectionError: tried once inside the guard: a connection to example.com*"])
