"""Only loopback: by socket, by name, and with asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable

import pytest

from tests.loopback import ForbiddenConnectionError, loopback_only

TEST_NET = "192.0.2.1"
"""An address that is nobody's (RFC 5737)."""


def raw(family: socket.AddressFamily = socket.AF_INET, kind: socket.SocketKind = socket.SOCK_STREAM) -> socket.socket:
    made = socket.socket(family, kind)
    made.settimeout(0.2)
    return made


async def _opened(host: str) -> None:
    await asyncio.open_connection(host, 443)


async def _datagram() -> None:
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        asyncio.DatagramProtocol, remote_addr=(TEST_NET, 53)
    )
    transport.close()


WAYS: dict[str, Callable[[], object]] = {
    "connect": lambda: raw().connect((TEST_NET, 80)),
    "connect_ex": lambda: raw().connect_ex((TEST_NET, 80)),
    "connect-v6": lambda: raw(socket.AF_INET6).connect(("2001:db8::1", 80, 0, 0)),
    "create_connection": lambda: socket.create_connection((TEST_NET, 80), 0.2),
    "sendto": lambda: raw(kind=socket.SOCK_DGRAM).sendto(b"x", (TEST_NET, 53)),
    "sendto-flags": lambda: raw(kind=socket.SOCK_DGRAM).sendto(b"x", 0, (TEST_NET, 53)),
    "sendmsg": lambda: raw(kind=socket.SOCK_DGRAM).sendmsg([b"x"], [], 0, (TEST_NET, 53)),
    "getaddrinfo": lambda: socket.getaddrinfo("api.openai.com", 443),
    "getaddrinfo-bytes": lambda: socket.getaddrinfo(b"api.openai.com", 443),
    "getaddrinfo-named": lambda: socket.getaddrinfo(host="api.openai.com", port=443),
    "gethostbyname": lambda: socket.gethostbyname("example.com"),
    "asyncio-name": lambda: asyncio.run(_opened("api.openai.com")),
    "asyncio-number": lambda: asyncio.run(_opened(TEST_NET)),
    "asyncio-datagram": lambda: asyncio.run(_datagram()),
    "mapped": lambda: raw(socket.AF_INET6).connect(("::ffff:192.0.2.1", 80)),
}


@pytest.mark.parametrize("way", sorted(WAYS))
def test_no_way_leads_out(way: str) -> None:
    with loopback_only() as tried:
        with pytest.raises(ForbiddenConnectionError, match=r"a connection to \S+ was tried\. Let the test"):
            WAYS[way]()
        assert len(tried) == 1
        tried.clear()


def test_this_machine_can_be_reached_in_each_way() -> None:
    with loopback_only(), socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            socket.create_connection((host, port), 2).close()

        async def opened() -> None:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            await writer.wait_closed()

        asyncio.run(opened())
        one, two = socket.socketpair()
        one.close()
        two.close()
        assert socket.getaddrinfo(None, port)


def test_what_is_caught_is_told_at_the_end_once_for_each_host() -> None:
    with pytest.raises(ForbiddenConnectionError, match=r"tried 2 times inside the guard: a connection to example\.com"):  # noqa: SIM117
        with loopback_only():
            for _ in range(2):
                with contextlib.suppress(Exception):
                    socket.gethostbyname("example.com")


def test_another_failure_is_not_hidden() -> None:
    with pytest.raises(KeyError), loopback_only():
        with contextlib.suppress(Exception):
            socket.gethostbyname("example.com")
        raise KeyError("the test's own")


def test_it_holds_in_all_threads_and_ends_with_the_guard() -> None:
    before = (socket.socket.connect, socket.getaddrinfo)
    seen: list[str] = []

    def look() -> None:
        try:
            socket.gethostbyname("example.com")
        except ForbiddenConnectionError as error:
            seen.append(error.what)

    with loopback_only() as tried:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        tried.clear()
    assert seen == ["a connection to example.com was tried"]
    assert (socket.socket.connect, socket.getaddrinfo) == before
