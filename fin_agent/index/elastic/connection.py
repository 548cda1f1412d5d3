"""A cluster as the index asks it: one client, tries again with growing pauses, faults told in words."""

from __future__ import annotations

import base64
import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.address import VARIABLES, ClusterAddress, Reaching
from fin_agent.index.elastic.faults import ApiError, NotFound, TransportError, fault, why, worth_another_try
from fin_agent.secret_texts import without_secrets

from elasticsearch import Elasticsearch  # isort: skip  (after faults: there its absence is told in words)

T = TypeVar("T")

_LOG = logging.getLogger("fin_agent")
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_TOLD_AFTER = 2.0
"""Seconds of waiting after which it is told; shorter ones nobody notices."""
_TOLD_EVERY = 15.0


class Cluster:
    """A cluster, asked through `asked`. Safe to share between threads: the client keeps connections for them.

    `told` hears that a request is made again and for how long yet: a warning of the log `fin_agent` where none is
    given, which a command line prints on standard error.
    """

    def __init__(
        self,
        address: ClusterAddress,
        reaching: Reaching,
        *,
        sleep: Callable[[float], None] = time.sleep,
        told: Callable[[str], None] = _LOG.warning,
    ) -> None:
        self.address = address
        self.reaching = reaching
        self.client = _client(address, reaching)
        self._sleep = sleep
        self._told = told
        self._last_told = -_TOLD_EVERY
        self._guard = threading.Lock()

    def asked(self, ask: Callable[..., T], *, doing: str = "read", **arguments: object) -> T:
        """What `ask`, a method of the client, gets with these arguments.

        Where the cluster is too busy or does not answer, it is asked again after a pause that doubles, as long as the
        patience lasts. Raises FilingIndexError; `NotFound` and `Conflict` are left to those who expect them.
        """
        pause, asking = _FIRST_PAUSE, self.asking()
        while True:
            try:
                return ask(**arguments)
            except (ApiError, TransportError) as error:
                if isinstance(error, ApiError) and error.status_code in _EXPECTED:
                    raise
                if not worth_another_try(error) or asking.is_over(pause):
                    raise fault(self.address, error, doing) from error
                asking.waits(pause, why(error))
            self.pause(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def answered(self, ask: Callable[..., T], *, doing: str = "read", **arguments: object) -> T:
        """As `asked`; an index that is not there is a FilingIndexError as well."""
        try:
            return self.asked(ask, doing=doing, **arguments)
        except NotFound as error:
            raise fault(self.address, error, doing) from error

    def documents(self, **arguments: Any) -> list[dict[str, Any]]:
        """The documents that `mget` is asked for, in this order; `found` says of each whether it is there.

        What a shard could not tell is an error and no document that is not there. Raises FilingIndexError.
        """
        told: list[dict[str, Any]] = list(self.answered(self.client.mget, **arguments)["docs"])
        for each in told:
            if "error" in each:
                kind = each["error"].get("type", "") if isinstance(each["error"], dict) else ""
                raise FilingIndexError(
                    f"the cluster could not look at all documents ({kind or 'of unknown cause'})",
                    subject=str(self.address),
                    remedy="Look at the cluster's health, then run the same command again",
                )
        return told

    def asking(self) -> Asking:
        """A request that begins now, and may be made again as long as the patience lasts."""
        return Asking(self.reaching.patience, self.tell)

    def tell(self, what: str) -> None:
        """Tell that something takes long: once in a while, however many wait."""
        with self._guard:
            if time.monotonic() < self._last_told + _TOLD_EVERY:
                return
            self._last_told = time.monotonic()
        self._told(f"{self.address}: {what}")

    def pause(self, seconds: float) -> None:
        """Wait about `seconds`: not all who were turned away come back at once."""
        self._sleep(seconds * random.uniform(0.5, 1.0))

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


class Asking:
    """How long a request has been tried, and how long it may be."""

    def __init__(self, patience: float, told: Callable[[str], None]) -> None:
        self._began = time.monotonic()
        self._patience = patience
        self._paused = 0.0
        self._told = told

    def is_over(self, pause: float = 0.0) -> bool:
        """Whether patience ends before another pause does."""
        return self._seconds() + pause > self._patience

    def waits(self, pause: float, why: str) -> None:
        """Say, where that is not the first moment, that after a pause it is tried again, and for how long yet."""
        self._paused += pause
        if max(self._paused, self._seconds() + pause) > _TOLD_AFTER:
            left = max(0.0, self._patience - self._seconds())
            self._told(f"{why}; asking again, for {left:.0f} s at most ({VARIABLES['patience']})")

    def _seconds(self) -> float:
        return time.monotonic() - self._began


_EXPECTED = (404, 409)


def _client(address: ClusterAddress, reaching: Reaching) -> Elasticsearch:
    """The client, as far as possible without its own tries: it makes no pause between them."""
    basic = None
    if reaching.username and reaching.password:  # in UTF-8, which is what a cluster takes
        basic = base64.b64encode(f"{reaching.username}:{reaching.password}".encode()).decode("ascii")
    place: dict[str, object] = {"hosts": [f"{address.scheme}://{_with_port(address)}"]}
    if address.scheme == "cloud":
        if not reaching.cloud_id:
            raise FilingIndexError(
                "which deployment is meant is not said",
                subject=str(address),
                remedy=f"Set {VARIABLES['cloud_id']} to the Cloud ID that Elastic's console shows",
            )
        place = {"cloud_id": reaching.cloud_id}
    elif address.scheme == "https":
        if reaching.certificates:
            place["ca_certs"] = reaching.certificates
        if reaching.fingerprint:
            place["ssl_assert_fingerprint"] = reaching.fingerprint
    try:
        return Elasticsearch(
            **place,
            api_key=reaching.api_key,
            basic_auth=basic,
            request_timeout=reaching.timeout,
            max_retries=0,
            retry_on_timeout=False,
            http_compress=address.scheme != "http",  # on the own machine it costs more than it spares
        )
    except (ValueError, OSError) as error:
        raise FilingIndexError(
            f"the cluster cannot be spoken to ({without_secrets(str(error))})",
            subject=str(address),
            remedy="Check the address, and what is set of "
            + ", ".join(VARIABLES[name] for name in ("certificates", "fingerprint", "cloud_id")),
        ) from error


def _with_port(address: ClusterAddress) -> str:
    """The client wants a port; without one in the address it is that of the scheme, as in a browser."""
    host = address.host
    has_port = ":" in host.rpartition("]")[2]
    return host if has_port else f"{host}:{443 if address.scheme == 'https' else 80}"
