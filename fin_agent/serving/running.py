"""An application run by uvicorn until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from fin_agent.serving.errors import ServingError
from fin_agent.serving.guard import App

SECONDS_TO_END = 5


def run_application(app: App, host: str, port: int, *, ready: Callable[[str], None]) -> None:
    """Serve until a signal; `ready` is told the address once calls are taken. Raises ServingError where it is taken."""
    listening = listening_socket(host, port)
    address = _address(host, listening.getsockname()[1])
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SECONDS_TO_END,
        lifespan="on",
        ws="none",
    )
    ready(address)  # the socket listens: what connects now is answered
    uvicorn.Server(config).run(sockets=[listening])


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises ServingError where it cannot."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(128)
    except (OSError, OverflowError) as error:
        raise ServingError(
            f"it cannot be listened on ({getattr(error, 'strerror', None) or error})",
            subject=_address(host, port),
            remedy="Choose another --port (0 takes a free one) or --host",
        ) from error
    listening.set_inheritable(True)
    return listening


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
