"""Errors of providers' clients, and what is told of them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from fin_agent.models import (
    InputTooLongError,
    KeyRefusedError,
    ModelError,
    ModelTimeoutError,
    QuotaUsedUpError,
    RateLimitedError,
    RefusedByModelError,
    RequestRefusedError,
    Retrying,
    ServerFailedError,
    ServerUnreachableError,
    UnknownModelError,
)
from fin_agent.models.failures import failure_of
from fin_agent.models.retrying import seconds_asked
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
        (HttpStatusError(403), KeyRefusedError, "403", "may use this model"),
        (HttpStatusError(404), UnknownModelError, "404", f"the model's name, and the address .{ADDRESS}"),
        (HttpStatusError(400, "context_length_exceeded"), InputTooLongError, "400", "fewer passages"),
        (HttpStatusError(413), InputTooLongError, "413", "fewer passages"),
        (HttpStatusError(400, "content_filter triggered"), RefusedByModelError, "400", "rules"),
        (HttpStatusError(400, "odd"), RequestRefusedError, "odd", "settings"),
        (HttpStatusError(422, "odd"), RequestRefusedError, "odd", "settings"),
        (HttpStatusError(429, "insufficient_quota"), QuotaUsedUpError, "quota", "credit"),
        (HttpStatusError(429), RateLimitedError, "429", "fewer calls at once"),
        (HttpStatusError(500), ServerFailedError, "500", "later"),
        (HttpStatusError(408), ModelTimeoutError, "408", "more time"),
        (ReadTimeout(), ModelTimeoutError, "no answer in time", "more time"),
        (
            caused(APIConnectionError("Connection error."), ConnectionRefusedError("[Errno 111] Connection refused")),
            ServerUnreachableError,
            f"no connection to {ADDRESS}.*refused",
            "Is the server running",
        ),
        (KeyError("choices"), ServerFailedError, "no chat completion", ADDRESS),
        (RuntimeError("odd"), ServerFailedError, "RuntimeError: odd", ADDRESS),
    ],
)
def test_every_failure_has_its_type_and_says_what_to_do(
    exception: Exception, kind: type[ModelError], told: str, remedy: str
) -> None:
    failure = failure_of(exception, "role `title` by openai:x", ADDRESS)
    assert type(failure.error) is kind
    assert failure.error.subject == "role `title` by openai:x"
    with pytest.raises(kind, match=told):
        raise failure.error
    with pytest.raises(kind, match=remedy):
        raise failure.error


def test_a_status_is_found_under_any_of_its_names() -> None:
    assert type(failure_of(caused(RuntimeError("x"), HttpStatusError(401)), "", None).error) is KeyRefusedError
    google = RuntimeError("x")
    google.code = 404  # type: ignore[attr-defined]
    assert type(failure_of(google, "", None).error) is UnknownModelError


def test_the_type_an_error_names_tells_a_quota_from_a_limit() -> None:
    quota = HttpStatusError(429, "You exceeded your current quota")
    quota.code = "insufficient_quota"  # type: ignore[attr-defined]
    failure = failure_of(quota, "", None)
    assert type(failure.error) is QuotaUsedUpError and not failure.retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry_after": "7"}, 7.0), ({"retry_after": "0.5"}, 0.5), ({"retry_after_ms": "250"}, 0.25),
     ({"retry_after": "soon"}, None), ({}, None)],
)  # fmt: skip
def test_what_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert failure_of(HttpStatusError(429, **headers), "", None).asked == seconds


def test_a_date_to_wait_for() -> None:
    now = datetime(2026, 11, 21, 9, 59, 15, tzinfo=UTC)
    assert seconds_asked("Sat, 21 Nov 2026 10:00:00 GMT", now) == 45
    assert seconds_asked("Sat, 21 Nov 2026 09:00:00 GMT", now) == 0
    assert seconds_asked("-3", now) is None


def test_waits_double_up_to_a_bound_and_are_the_same_for_the_same_seed() -> None:
    patient = Retrying(first_wait=1, longest_wait=8)
    waits = [patient.wait(attempt, asked=None, call="a") for attempt in range(1, 9)]
    assert all(longest / 2 <= wait <= longest for wait, longest in zip(waits, [1, 2, 4, 8, 8, 8, 8, 8], strict=True))
    assert waits == [patient.wait(attempt, asked=None, call="a") for attempt in range(1, 9)]
    assert waits[0] != patient.wait(1, asked=None, call="b")
    assert waits[0] != Retrying(first_wait=1, longest_wait=8, seed=1).wait(1, asked=None, call="a")
    assert patient.wait(1, asked=45, call="a") == 45 and patient.wait(1, asked=61, call="a") == math.inf
