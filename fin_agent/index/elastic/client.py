"""Requests to a cluster: one client, retries with growing pauses, and errors with remedies."""

from __future__ import annotations

import base64
import logging
import random
import re
import time
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, TypeVar

import yaml
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_before_delay

from fin_agent.errors import FilingIndexError, how_to_install
from fin_agent.index.elastic.address import VARIABLES, ClusterAddress, ConnectionSettings
from fin_agent.redaction import is_plaintext, redact_secrets

try:
    import elastic_transport
    import elasticsearch
    import elasticsearch.helpers
except ImportError as error:
    raise FilingIndexError(
        "the index on a cluster needs the Elasticsearch client, which is not installed",
        remedy=f"Install it: {how_to_install('elasticsearch')}",
    ) from error

ApiError = elasticsearch.ApiError
NotFound = elasticsearch.NotFoundError
Conflict = elasticsearch.ConflictError
T = TypeVar("T")

_LOG = logging.getLogger("fin_agent")
_FIRST_PAUSE = 0.1
_MAX_PAUSE_LENGTH = 10.0
_REPORT_AFTER_SECONDS = 2.0
"""Seconds of waiting after which it is reported; shorter waits go unnoticed."""
OLDEST_VERSION = "8.19"
"""The oldest supported version of a cluster."""
BUSY_STATUSES = frozenset({429, 502, 503, 504})
"""Statuses after which a later attempt may succeed."""


class BusyError(Exception):
    """The cluster was too busy for part of a request."""


class Cluster:
    """A cluster, accessed through `request`. Safe to share between threads; the client pools connections.

    `told` receives a message when a request is retried, with the remaining time. By default it is logged as a warning
    of `fin_agent`, which a command line prints on standard error.
    """

    def __init__(
        self,
        address: ClusterAddress,
        reaching: ConnectionSettings,
        *,
        sleep: Callable[[float], None] = time.sleep,
        told: Callable[[str], None] = _LOG.warning,
    ) -> None:
        self.address = address
        self.reaching = reaching
        self.client = _client(address, reaching)
        self._sleep = sleep
        self._told = told

    def request(
        self, ask: Callable[..., T], *, doing: str = "read", expected: Collection[int] = (), **arguments: object
    ) -> T:
        """Call `ask`, a method of the client or a function that uses it, with the given arguments.

        While the cluster is too busy or does not answer, the call is retried after doubling pauses, until `patience` is
        exhausted.

        Args:
            ask: The function to call.
            doing: What the caller does with the index (`read`, `written`, `opened`), for messages.
            expected: Statuses (404, 409) whose errors are raised unchanged.
            arguments: Arguments of `ask`.

        Returns:
            The result of `ask`.

        Raises:
            FilingIndexError: The request failed.
        """
        trying = Retrying(
            retry=retry_if_exception(_is_retryable),
            wait=_retry_delay,
            stop=stop_before_delay(self.reaching.patience),
            before_sleep=self._report_retry,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return trying(ask, **arguments)
        except (ApiError, elastic_transport.TransportError, elasticsearch.helpers.ScanError) as error:
            if isinstance(error, ApiError) and error.status_code in expected:
                raise
            raise index_error(self.address, error, doing) from error

    def search(self, index: str, **arguments: Any) -> dict[str, Any]:
        """Return the response to a search of all shards. Raises FilingIndexError."""
        ask = self.client.search
        return dict(self.request(ask, index=index, allow_partial_search_results=False, **arguments).body)

    def scan(self, index: str, *, fields: Sequence[str] | None = None, size: int = 5_000) -> list[dict[str, Any]]:
        """Return the sources of all documents of an index at one moment, unordered. Raises FilingIndexError."""
        query: dict[str, Any] = {} if fields is None else {"_source": list(fields)}

        def scanned() -> list[dict[str, Any]]:
            found = elasticsearch.helpers.scan(
                self.client, query=query, index=index, size=size, scroll="2m", allow_partial_search_results=False
            )
            return [hit["_source"] for hit in found]

        return self.request(scanned)

    def documents(self, **arguments: Any) -> list[dict[str, Any]]:
        """Return the documents of an `mget` in the order requested; `found` says of each whether it exists.

        Raises:
            FilingIndexError: A shard could not look a document up, so that its existence is unknown.
        """
        told: list[dict[str, Any]] = list(self.request(self.client.mget, **arguments)["docs"])
        for each in told:
            if "error" in each:
                kind = each["error"].get("type", "") if isinstance(each["error"], dict) else ""
                raise FilingIndexError(
                    f"the cluster could not look up all documents ({kind or 'of unknown cause'})",
                    subject=str(self.address),
                    remedy="Check the cluster's health, then run the same command again",
                )
        return told

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def _report_retry(self, state: RetryCallState) -> None:
        """Report once, after a first short wait, that the request is retried, and for how much longer."""
        assert state.outcome is not None and state.next_action is not None
        gone, of_call = state.seconds_since_start or 0.0, state.retry_object.statistics
        if max(state.idle_for, gone + state.next_action.sleep) <= _REPORT_AFTER_SECONDS or of_call.get("told"):
            return
        of_call["told"] = True
        left = max(0.0, self.reaching.patience - gone)
        error = state.outcome.exception()
        assert isinstance(error, Exception)
        why = index_error(self.address, error, "read").what
        self._told(f"{self.address}: {why}; asking again, for {left:.0f} s at most ({VARIABLES['patience']})")


def _retry_delay(state: RetryCallState) -> float:
    """Return the pause in seconds: doubled each time, with jitter, so that clients do not return all at once."""
    pause: float = min(_MAX_PAUSE_LENGTH, _FIRST_PAUSE * 2 ** (state.attempt_number - 1))
    return pause * random.uniform(0.5, 1.0)


def _is_retryable(error: BaseException) -> bool:
    """Return whether the same request may succeed a moment later."""
    if isinstance(error, BusyError):
        return True
    if isinstance(error, ApiError):
        return error.status_code in BUSY_STATUSES and error_type(error.body) != DISK_FULL
    return isinstance(
        error, elastic_transport.ConnectionError | elastic_transport.ConnectionTimeout
    ) and not isinstance(error, elastic_transport.TlsError)


def index_error(address: ClusterAddress, error: Exception, doing: str) -> FilingIndexError:
    """Return the error to report for `error`.

    Args:
        address: The cluster.
        error: The client's error.
        doing: What the caller did with the index: `read`, `written`, `opened`.
    """
    told, where = _brief(error), f"{address.host}/{address.prefix}"
    if isinstance(error, BusyError):
        what, remedy = describe_error(429, {}, doing, address.prefix)
    elif isinstance(error, ApiError) and not isinstance(error, elasticsearch.UnsupportedProductError):
        what, remedy = describe_error(int(error.status_code), error.body, doing, address.prefix)
    else:
        kind = next(kind for of_client, kind in _KINDS.items() if isinstance(error, of_client))
        if kind == "tls" and _PLAIN_HTTP.search(told):
            kind = "plain http"
        elif kind == "unreachable" and address.scheme == "http" and _HUNG_UP.search(told):
            kind = "hung up"
        what, remedy = (_descriptions()["others"][kind][part] for part in ("what", "remedy"))
    words = {"told": told, "where": where, "oldest": OLDEST_VERSION}
    return FilingIndexError(what.format_map(words), subject=str(address), remedy=remedy.format_map(words))


_KINDS: dict[type[Exception], str] = {
    elasticsearch.UnsupportedProductError: "product",
    elastic_transport.TlsError: "tls",
    elastic_transport.ConnectionTimeout: "timeout",
    Exception: "unreachable",
}
_PLAIN_HTTP = re.compile(r"WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE|HTTP_REQUEST|UNKNOWN_PROTOCOL", re.I)
_HUNG_UP = re.compile(r"RemoteDisconnected|without response|reset by peer|Connection aborted", re.I)
"""How a port that expects TLS answers a client without it."""


def error_type(body: object) -> str:
    """Return the `type` of the error in a response, of its root cause if given."""
    told = _told(body)
    kind = str(told.get("type", ""))
    if kind == "cluster_block_exception" and "disk usage exceeded" in str(told.get("reason", "")):
        return DISK_FULL
    return kind


_MAX_LENGTH = 400
DISK_FULL = "disk full"


def describe_error(status: int, body: object, doing: str, prefix: str) -> tuple[str, str]:
    """Return (what, remedy) for a response to a request, or to one item of a bulk, for users of the index `prefix`."""
    kind, told = error_type(body), _told(body)
    reason, cause = str(told.get("reason", "")), told.get("caused_by")
    if isinstance(cause, dict) and cause.get("reason"):
        reason = f"{reason}: {cause['reason']}"
    reason = _one_line(reason)
    for entry in _descriptions()["responses"]:
        found = re.search(entry.get("reason", ""), reason)
        if found and status in entry.get("status", (status,)) and kind in entry.get("type", (kind,)):
            break
    words = {
        "told": ": ".join(filter(None, (kind, reason))) or f"status {status}",
        "doing": doing,
        "prefix": prefix,
        "reason": f"Elasticsearch {found[1]}" if found and found.lastindex else "another version",
        "client": elasticsearch.__version__[0],
        "oldest": OLDEST_VERSION,
    }
    return entry["what"].format_map(words), entry["remedy"].format_map(words)


@lru_cache(maxsize=1)
def _descriptions() -> dict[str, Any]:
    text = resources.files("fin_agent.index.elastic").joinpath("errors.yaml").read_text(encoding="utf-8")
    described: dict[str, Any] = yaml.safe_load(text)
    return described


def _told(body: object) -> dict[str, Any]:
    told = body.get("error", body) if isinstance(body, dict) else {}
    if not isinstance(told, dict):
        return {"reason": str(told)}
    roots = told.get("root_cause")
    if told.get("type") == "search_phase_execution_exception" and isinstance(roots, list) and roots:
        return dict(roots[0])
    return told


def _brief(error: Exception) -> str:
    """Return the client's message without the parts that repeat the request."""
    return _one_line(str(getattr(error, "message", "") or error) or type(error).__name__)


def _one_line(text: str) -> str:
    return " ".join(redact_secrets(text).split())[:_MAX_LENGTH]


def _client(address: ClusterAddress, reaching: ConnectionSettings) -> elasticsearch.Elasticsearch:
    """Return the client, with its own retries off, because it does not pause between them."""
    basic = None
    if reaching.username and reaching.password:  # in UTF-8, which is what a cluster takes
        basic = base64.b64encode(f"{reaching.username}:{reaching.password}".encode()).decode("ascii")
    place: dict[str, object] = {"hosts": [f"{address.scheme}://{_with_port(address)}"]}
    if address.scheme == "https" and reaching.certificates:
        place["ca_certs"] = reaching.certificates
    if (reaching.api_key or basic) and is_plaintext(str(address)):
        raise FilingIndexError(
            "its key or password would be sent over plain HTTP, which anybody on the network path can read",
            subject=str(address),
            remedy="Give an address with https, or a tunnel to it on 127.0.0.1",
        )
    try:
        return elasticsearch.Elasticsearch(
            **place,
            api_key=reaching.api_key,
            basic_auth=basic,
            request_timeout=reaching.timeout,
            max_retries=0,
            retry_on_timeout=False,
            http_compress=address.scheme != "http",  # on the local machine, compression costs more than it saves
        )
    except (ValueError, OSError) as error:
        raise FilingIndexError(
            f"the connection to the cluster cannot be set up ({redact_secrets(str(error))})",
            subject=str(address),
            remedy=f"Check the address, and what {VARIABLES['certificates']} is set to",
        ) from error


def _with_port(address: ClusterAddress) -> str:
    """Return the host with a port, which the client requires; the default is that of the scheme."""
    host = address.host
    has_port = ":" in host.rpartition("]")[2]
    return host if has_port else f"{host}:{443 if address.scheme == 'https' else 80}"
