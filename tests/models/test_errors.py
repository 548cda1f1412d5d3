"""Errors of providers' clients, and what is told of them."""

from __future__ import annotations

import pytest

from fin_agent.models import (
    KeyRefusedError,
    ModelError,
    ModelTimeoutError,
    RateLimitedError,
    RefusedByModelError,
    RequestRefusedError,
    ServerFailedError,
    ServerUnreachableError,
    UnknownModelError,
)
from fin_agent.models.errors import model_error
from tests.models.scripted import HttpStatusError

ADDRESS = "http://localhost:8000/v1"


def caused(outer: Exception, inner: Exception) -> Exception:
    outer.__cause__ = inner
    return outer


class APIConnectionError(Exception):
    """As OpenAI's client calls it."""


class ReadTimeout(Exception):  # noqa: N818
    """As httpx calls it."""


@pytest.mark.parametrize(
    ("exception", "kind", "told", "remedy"),
    [
        (HttpStatusError(401), KeyRefusedError, "401", "Check the key"),
        (HttpStatusError(403), KeyRefusedError, "403", "gives access to this model"),
        (HttpStatusError(404), UnknownModelError, "404", f"the model's name and the address .{ADDRESS}"),
        (HttpStatusError(400, "context_length_exceeded"), RequestRefusedError, "400", "fewer passages"),
        (HttpStatusError(413), RequestRefusedError, "413", "fewer passages"),
        (HttpStatusError(400, "content_filter triggered"), RefusedByModelError, "400", "rules"),
        (HttpStatusError(400, "odd"), RequestRefusedError, "odd", "settings"),
        (HttpStatusError(422, "odd"), RequestRefusedError, "odd", "settings"),
        (HttpStatusError(429, "insufficient_quota"), RateLimitedError, "quota", "credit"),
        (HttpStatusError(429), RateLimitedError, "429", "fewer calls at once"),
        (HttpStatusError(500), ServerFailedError, "500", "later"),
        (HttpStatusError(408), ModelTimeoutError, "408", "more time"),
        (ReadTimeout(), ModelTimeoutError, "the server did not reply in time", "more time"),
        (
            caused(APIConnectionError("Connection error."), ConnectionRefusedError("[Errno 111] Connection refused")),
            ServerUnreachableError,
            f"no connection to {ADDRESS}.*refused",
            "Check that the server is running",
        ),
        (KeyError("choices"), ServerFailedError, "not a chat completion", ADDRESS),
        (RuntimeError("odd"), ServerFailedError, "RuntimeError: odd", ADDRESS),
    ],
)
def test_every_failure_has_its_type_and_says_what_to_do(
    exception: Exception, kind: type[ModelError], told: str, remedy: str
) -> None:
    failure = model_error(exception, "role `title` by openai:x", ADDRESS)
    assert type(failure) is kind
    assert failure.subject == "role `title` by openai:x"
    with pytest.raises(kind, match=told):
        raise failure
    with pytest.raises(kind, match=remedy):
        raise failure


def test_a_status_is_found_under_any_of_its_names() -> None:
    assert type(model_error(caused(RuntimeError("x"), HttpStatusError(401)), "", None)) is KeyRefusedError
    google = RuntimeError("x")
    google.code = 404  # type: ignore[attr-defined]
    assert type(model_error(google, "", None)) is UnknownModelError


def test_the_type_an_error_names_tells_a_quota_from_a_limit() -> None:
    quota = HttpStatusError(429, "You exceeded your current quota")
    quota.code = "insufficient_quota"  # type: ignore[attr-defined]
    failure = model_error(quota, "", None)
    assert type(failure) is RateLimitedError and "credit" in failure.remedy
