"""What a cluster's errors mean for whoever uses the index, in words and with a next step."""

from __future__ import annotations

from typing import Any

from fin_agent.errors import FilingIndexError, how_to_install
from fin_agent.index.elastic.address import VARIABLES, ClusterAddress

try:
    import elastic_transport
    import elasticsearch
except ImportError as error:
    raise FilingIndexError(
        "the index on a cluster needs the Elasticsearch client, which is not installed",
        remedy=f"Install it: {how_to_install('elasticsearch')}",
    ) from error

ApiError = elasticsearch.ApiError
TransportError = elastic_transport.TransportError
NotFound = elasticsearch.NotFoundError
Conflict = elasticsearch.ConflictError
GeneralAvailabilityWarning = elasticsearch.exceptions.GeneralAvailabilityWarning

BUSY = frozenset({429, 502, 503, 504})
"""Statuses that a later try may not meet."""


def worth_another_try(error: Exception) -> bool:
    """Whether the same request may well succeed a moment later."""
    if isinstance(error, ApiError):
        return error.status_code in BUSY and kind_of(error.body) != _DISK_FULL
    return isinstance(
        error, elastic_transport.ConnectionError | elastic_transport.ConnectionTimeout
    ) and not isinstance(error, elastic_transport.TlsError)


def fault(address: ClusterAddress, error: Exception, doing: str) -> FilingIndexError:
    """What `error` means to whoever was `doing` (`read`, `written`, `opened`) something with the index."""
    if isinstance(error, elasticsearch.UnsupportedProductError):
        what, remedy = (
            "what answers there is no Elasticsearch",
            "Check the address; OpenSearch, and proxies that change headers, are not spoken to",
        )
    elif isinstance(error, ApiError):
        what, remedy = _of_answer(error, doing)
    elif isinstance(error, elastic_transport.TlsError):
        what, remedy = (
            f"the cluster's certificate is not trusted ({_brief(error)})",
            f"Name its authority's file in {VARIABLES['certificates']}, or its SHA-256 in {VARIABLES['fingerprint']}",
        )
    elif isinstance(error, elastic_transport.ConnectionTimeout):
        what, remedy = (
            "the cluster did not answer in time",
            f"Look at its load; {VARIABLES['timeout']} (seconds) lets a request take longer",
        )
    else:
        what, remedy = (
            f"the cluster cannot be reached ({_brief(error)})",
            "Check the address, that the cluster runs, and that nothing between blocks the port",
        )
    return FilingIndexError(what, subject=str(address), remedy=remedy)


def kind_of(body: object) -> str:
    """The `type` of the error that an answer tells, of its root cause where it says one."""
    told = _told(body)
    kind = str(told.get("type", ""))
    if kind == "cluster_block_exception" and "disk usage exceeded" in str(told.get("reason", "")):
        return _DISK_FULL
    return kind


def reason_of(body: object) -> str:
    """The reason that an answer tells, with what caused it."""
    told = _told(body)
    reason, cause = str(told.get("reason", "")), told.get("caused_by")
    if isinstance(cause, dict) and cause.get("reason"):
        reason = f"{reason}: {cause['reason']}"
    return " ".join(reason.split())[:_LONGEST]


_LONGEST = 400
_DISK_FULL = "disk full"
_MAPPING = frozenset(
    {
        "mapper_parsing_exception",
        "document_parsing_exception",
        "strict_dynamic_mapping_exception",
        "illegal_argument_exception",
        "mapper_exception",
    }
)


def meaning_of(status: int, body: object, doing: str) -> tuple[str, str]:
    """(what, remedy) of an answer, of a whole request or of one item of a bulk."""
    kind, reason = kind_of(body), reason_of(body)
    told = f"{kind}: {reason}" if kind and reason else kind or reason or f"status {status}"
    if kind == _DISK_FULL:
        return (
            "the cluster takes no more documents: a disk has passed the flood-stage watermark",
            "Free or add disk space (or delete other indices), then run the same command again",
        )
    if kind == "cluster_block_exception":
        return f"the index is blocked ({told})", "Take the block away (index.blocks.*), then run the same command again"
    if status == 401:
        return (
            "the cluster does not accept the key or password",
            f"Set {VARIABLES['api_key']} to a valid key, or {VARIABLES['username']} and {VARIABLES['password']}",
        )
    if status == 403:
        return (
            f"the key may not do this ({told})",
            "Give it the privileges that docs/elasticsearch.md lists: `manage` and `all` on the index's names",
        )
    if status == 404:
        return (
            f"the index is not there, or part of it is missing ({told})",
            "Make it with `fin-agent index copy` or `fin-agent ingest`, or check the last part of the address",
        )
    if status in BUSY:
        return (
            f"the cluster is too busy ({told})",
            f"Try again later, with fewer at once; {VARIABLES['patience']} (seconds) says how long to go on trying",
        )
    if status == 400 and kind in _MAPPING:
        return (
            f"the index on the cluster is made otherwise than this version makes it ({told})",
            "Make one under another prefix and copy into it with `fin-agent index copy`",
        )
    return f"the index could not be {doing} ({told})", "Look into the cluster's log; nothing was half made visible"


def _of_answer(error: Any, doing: str) -> tuple[str, str]:
    return meaning_of(int(error.status_code), error.body, doing)


def _told(body: object) -> dict[str, Any]:
    told = body.get("error", body) if isinstance(body, dict) else {}
    if not isinstance(told, dict):
        return {"reason": str(told)}
    roots = told.get("root_cause")
    if told.get("type") == "search_phase_execution_exception" and isinstance(roots, list) and roots:
        return dict(roots[0])
    return told


def _brief(error: Exception) -> str:
    """The client's words without the parts that repeat the request."""
    text = str(getattr(error, "message", "") or error) or type(error).__name__
    return " ".join(text.split())[:_LONGEST]
