"""Fixtures of the test server. A conftest that wants them imports them by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.models.openai_server.server import OpenAIServer


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    """A server whose replies are empty until a test sets `answer`."""
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def serve() -> Iterator[Callable[..., OpenAIServer]]:
    """Starts servers, with the arguments of OpenAIServer; all are closed when the test ends."""
    started: list[OpenAIServer] = []

    def start(*args: object, **named: object) -> OpenAIServer:
        started.append(OpenAIServer(*args, **named))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for server in started:
        server.close()
