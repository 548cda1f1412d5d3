"""Requests to a cluster: one client, its indices, retries with growing pauses, and errors with remedies."""

from __future__ import annotations

import base64
import logging
import math
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from time import sleep
from typing import Any, TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_before_delay, wait_exponential, wait_random

from fin_agent.errors import FilingIndexError, how_to_install
from fin_agent.index.elastic.address import VARIABLES, ClusterAddress, ConnectionSettings
from fin_agent.lexicon.words import load_yaml
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

MAX_BYTES = 8_000_000
"""Size limit of one request: between the 5 and 15 MB that Elastic recommends, far below the limit of 100 MB."""
MAX_DOCUMENTS = 2_000
FORMAT = 4
_LOG = logging.getLogger("fin_agent")
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_REPORTED_ATTEMPT = 6
"""The attempt whose failure is reported, after a few seconds: shorter waits go unnoticed."""
OLDEST_VERSION = "8.19"
"""The oldest supported version of a cluster."""
_BUSY_STATUSES = frozenset({429, 502, 503, 504})
"""Statuses after which a later attempt may succeed."""
_DISK_FULL = "disk full"
_MAX_LENGTH = 400


class Cluster:
    """A cluster, accessed through `request`. Safe to share between threads; the client pools connections."""

    def __init__(self, address: ClusterAddress, reaching: ConnectionSettings) -> None:
        self.address = address
        self.reaching = reaching
        self.client = _client(address, reaching)

    def alias(self, kind: str) -> str:
        """Return the alias of `filings`, `pages` and so on, which all reads and writes use."""
        return f"{self.address.prefix}-{kind}"

    def request(
        self, ask: Callable[..., T], *, doing: str = "read", expected: Collection[int | str] = (), **arguments: object
    ) -> T:
        """Call `ask`, again after growing pauses while the cluster is busy or silent, until `patience` is exhausted.

        `doing` is what the caller does with the index (`read`, `written`, `opened`). Raises FilingIndexError where the
        request failed, but errors with the `expected` statuses (404, 409) or types unchanged.
        """
        trying = Retrying(
            retry=retry_if_exception(_is_retryable),
            wait=wait_exponential(_FIRST_PAUSE, _LONGEST_PAUSE) + wait_random(0, _FIRST_PAUSE),
            stop=stop_before_delay(self.reaching.patience),
            before_sleep=self._report_retry,
            sleep=sleep,
            reraise=True,
        )
        try:
            return trying(ask, **arguments)
        except (ApiError, elastic_transport.TransportError, elasticsearch.helpers.ScanError) as error:
            if isinstance(error, ApiError) and {error.status_code, told_error(error.body)[0]} & {*expected}:
                raise
            raise index_error(self.address, error, doing) from error

    def search(self, kind: str, **arguments: Any) -> dict[str, Any]:
        """Return the response to a search of all shards of `filings`, `pages` and so on. Raises FilingIndexError."""
        arguments |= {"index": self.alias(kind), "allow_partial_search_results": False}
        return dict(self.request(self.client.search, **arguments).body)

    def scan(self, kind: str, **query: Any) -> list[dict[str, Any]]:
        """Return the sources of documents of an index at one moment, unordered. Raises FilingIndexError."""

        def scanned() -> list[dict[str, Any]]:
            found = elasticsearch.helpers.scan(
                self.client, query=query, index=self.alias(kind), scroll="2m", allow_partial_search_results=False
            )
            return [hit["_source"] for hit in found]

        return self.request(scanned)

    def bulk(self, actions: list[dict[str, Any]], subject: str) -> None:
        """Write documents through their aliases, again only those that the cluster was too busy for.

        Raises FilingIndexError where an item was rejected; the message names the first one.
        """
        attempts = int(math.log2(max(1.0, self.reaching.patience / _FIRST_PAUSE)))

        def send() -> list[dict[str, Any]]:
            sent = elasticsearch.helpers.streaming_bulk(
                self.client,
                actions,
                chunk_size=MAX_DOCUMENTS,
                max_chunk_bytes=MAX_BYTES,
                raise_on_error=False,
                yield_ok=False,
                require_alias=True,
                max_retries=attempts,
                initial_backoff=_FIRST_PAUSE,
                max_backoff=_LONGEST_PAUSE,
                retry_on_status=_BUSY_STATUSES,
            )
            return [item["index"] for _, item in sent]

        refused = self.request(send, doing="written")
        if refused:
            first = next((item for item in refused if not _is_busy(item["status"], item)), refused[0])
            what, remedy = _description(self.address, int(first["status"]), first, "written")
            others = f" ({len(refused)} of {len(actions)} documents)" if len(refused) > 1 else ""
            place = f"{first['_index'].removeprefix(self.alias(''))} {first['_id'].rpartition('-')[2]}"
            raise FilingIndexError(f"{place} was rejected{others}: {what}", subject=subject, remedy=remedy)

    def open_indices(self) -> None:
        """Raise FilingIndexError where there is no index with this prefix, or one of another format."""
        names = [self.alias(kind) for kind in load_yaml("indices", __package__)["indices"]]
        found = self.request(self.client.indices.get_mapping, doing="opened", index=names)
        marks = (index.get("mappings", {}).get("_meta", {}).get("fin_agent", {}) for index in found.body.values())
        other = sorted({str(mark.get("format", "unknown")) for mark in marks} - {str(FORMAT)})
        if other:
            what = f"the index has format {', '.join(other)}; this version reads format {FORMAT}"
            remedy = "Copy the filings again under another prefix with `fin-agent index copy`"
            raise FilingIndexError(what, subject=str(self.address), remedy=remedy)

    def create_indices(self) -> None:
        """Create missing indices behind their aliases. Concurrent calls are harmless."""
        indices, common = self.client.indices, {"dynamic": "strict", "_meta": {"fin_agent": {"format": FORMAT}}}
        described = load_yaml("indices", __package__)
        words = {name: described[name] for name in ("analysis", "similarity")}
        for kind, own in described["indices"].items():
            name = self.alias(kind)
            if self.request(indices.exists_alias, name=name):
                continue
            shards = self.reaching.shards if own.get("large") else 1
            with suppress(elasticsearch.BadRequestError):
                self.request(
                    indices.create,
                    expected=("resource_already_exists_exception",),
                    index=f"{name}-000001",
                    aliases={name: {}},
                    settings={"index": {**described["settings"], "number_of_shards": shards}, **words},
                    mappings={**common, "properties": own["properties"]},
                )

    def _report_retry(self, state: RetryCallState) -> None:
        """Report once that the request is retried."""
        if state.attempt_number == _REPORTED_ATTEMPT and state.outcome is not None:
            why = index_error(self.address, state.outcome.exception(), "read").what
            patience = f"{self.reaching.patience:.0f} s in all at most ({VARIABLES['patience']})"
            _LOG.warning(f"{self.address}: {why}; asking again, for {patience}")


def _is_retryable(error: BaseException) -> bool:
    """Return whether the same request may succeed a moment later."""
    if isinstance(error, ApiError):
        return _is_busy(error.status_code, error.body)
    lost = isinstance(error, elastic_transport.ConnectionError | elastic_transport.ConnectionTimeout)
    return lost and not isinstance(error, elastic_transport.TlsError)


def _is_busy(status: int, body: object) -> bool:
    """Return whether a response, or an item of a bulk, tells of a load that passes; a full disk is none."""
    return status in _BUSY_STATUSES and told_error(body)[0] != _DISK_FULL


def index_error(address: ClusterAddress, error: BaseException | None, doing: str) -> FilingIndexError:
    """Return the error to report for the client's `error`; `doing` is `read`, `written` or `opened`."""
    if isinstance(error, ApiError) and not isinstance(error, elasticsearch.UnsupportedProductError):
        what, remedy = _description(address, error.status_code, error.body, doing)
    else:
        told = {
            "type": type(error).__name__,
            "reason": getattr(error, "message", "") or str(error) or type(error).__name__,
        }
        what, remedy = _description(address, 0, told, doing)
    return FilingIndexError(what, subject=str(address), remedy=remedy)


def _description(address: ClusterAddress, status: int, body: object, doing: str) -> tuple[str, str]:
    """Return (what, remedy) for a response, an item of a bulk, or (status 0) an error of the client."""
    kind, reason = told_error(body)
    reason = " ".join(redact_secrets(reason).split())[:_MAX_LENGTH]
    for entry in load_yaml("errors", __package__)["errors"]:
        found = re.search(entry.get("reason", ""), reason)
        told = {"status": status, "type": kind, "doing": doing}
        if found and all(value in entry.get(name, (value,)) for name, value in told.items()):
            break
    words = {
        "told": ": ".join(filter(None, (kind, reason) if status else (reason,))) or f"status {status}",
        "doing": doing,
        "prefix": address.prefix,
        "address": address,
        "where": f"{address.host}/{address.prefix}",
        "reason": f"Elasticsearch {found[1]}" if found and found.lastindex else "another version",
        "client": elasticsearch.__version__[0],
        "oldest": OLDEST_VERSION,
    }
    return entry["what"].format_map(words), entry["remedy"].format_map(words)


def told_error(body: object) -> tuple[str, str]:
    """Return the type and the reason of the error in a response: those of its root cause, where shards failed."""
    told = body.get("error", body) if isinstance(body, dict) else {}
    if not isinstance(told, dict):
        return "", str(told)
    if told.get("type") == "search_phase_execution_exception" and told.get("root_cause"):
        told = told["root_cause"][0]
    causes = (told, told.get("caused_by"))
    reason = ": ".join(str(cause["reason"]) for cause in causes if isinstance(cause, dict) and cause.get("reason"))
    return _DISK_FULL if "disk usage exceeded" in reason else str(told.get("type", "")), reason


def _client(address: ClusterAddress, reaching: ConnectionSettings) -> elasticsearch.Elasticsearch:
    """Return the client, with its own retries off, because it does not pause between them."""
    basic = None
    if reaching.username and reaching.password:  # in UTF-8, which is what a cluster takes
        basic = base64.b64encode(f"{reaching.username}:{reaching.password}".encode()).decode("ascii")
    if (reaching.api_key or basic) and is_plaintext(str(address)):
        raise FilingIndexError(
            "its key or password would be sent over plain HTTP, which anybody on the network path can read",
            subject=str(address),
            remedy="Give an address with https, or a tunnel to it on 127.0.0.1",
        )
    default_port = "" if ":" in address.host.rpartition("]")[2] else ":443" if address.scheme == "https" else ":80"
    certificates = {"ca_certs": reaching.certificates} if address.scheme == "https" and reaching.certificates else {}
    try:
        return elasticsearch.Elasticsearch(
            f"{address.scheme}://{address.host}{default_port}",
            **certificates,
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
