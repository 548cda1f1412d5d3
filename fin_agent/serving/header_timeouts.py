"""A time limit for request headers and a limit of connections, which uvicorn does not have."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS_FOR_HEADERS = 10.0
MAX_CONNECTIONS = 512


class HeaderTimeoutProtocol(H11Protocol):  # type: ignore[misc]
    """uvicorn's HTTP protocol, closing connections whose next request does not begin within `SECONDS_FOR_HEADERS`.

    Beyond `MAX_CONNECTIONS`, the connection that has been idle longest is closed.
    """

    _hurrying: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """See asyncio.Protocol."""
        super().connection_made(transport)
        self._made = self.loop.time()
        self._hurry()
        if len(self.connections) > MAX_CONNECTIONS:
            idle = [each for each in self.connections if each.cycle is None and isinstance(each, HeaderTimeoutProtocol)]
            min(idle or [self], key=lambda each: each._made).transport.close()

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        super().data_received(data)
        if self._hurrying is None and self.cycle is not None and self.cycle.response_complete:
            self._hurry()

    def _hurry(self) -> None:
        self._hurrying = self.loop.call_later(SECONDS_FOR_HEADERS, self._give_up, self.cycle)

    def _give_up(self, before: object) -> None:
        self._hurrying = None
        if self.cycle is before:
            self.transport.close()
        elif self.cycle.response_complete:  # the next request of this connection may have begun meanwhile
            self._hurry()
