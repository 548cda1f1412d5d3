"""Resolve names given by callers: an index by folder or cluster address, filings by doc_id.

The address of a cluster contains no secrets: these and other settings of its connection are in the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError, ValidationInfo, field_validator

from fin_agent.errors import FilingIndexError
from fin_agent.index.protocol import FilingIndex
from fin_agent.redaction import normalize_secret, unsendable_reason

VARIABLES = {"certificates": "FIN_AGENT_ES_CA"} | {
    name: f"FIN_AGENT_ES_{name.upper()}"
    for name in ("api_key", "username", "password", "timeout", "patience", "shards")
}
"""The environment variable of each setting."""
_CLUSTER = re.compile(
    r"(?P<scheme>https?)://(?P<host>(?:\[[\da-fA-F:.]+\]|[\w.-]+)(?::\d{1,5})?)/+"
    r"(?P<prefix>[a-z0-9][a-z0-9_.-]{0,99})/*"
)
_ADDRESS = re.compile(r"^(https?):/+(.*)$", re.I | re.S)
_WITHOUT_SCHEME = re.compile(r"(?:.*@)?(?:\[[\da-f:.]+\]|[\w.-]{2,}):\d{2,5}(?:/.*)?", re.I | re.S)
"""An address without a scheme, such as `127.0.0.1:9200/filings`, which is rarely the name of a folder."""


def open_index(place: Path | str, *, create: bool = False) -> FilingIndex:
    """Open the index in a folder, or at `https://host:9200/prefix`; with `create`, make one where there is none.

    Raises:
        FilingIndexError: There is none, it cannot be reached or read, or the client for clusters is missing.
    """
    address = address_of(place)
    if address is None:
        from fin_agent.index.sqlite import SqliteIndex  # imports this module, as the other

        return SqliteIndex.create(place) if create else SqliteIndex(place)
    from fin_agent.index.elastic.index import ElasticIndex

    return ElasticIndex(address, create=create)


def create_index(place: Path | str) -> FilingIndex:
    """Open the index in a folder or on a cluster, creating it where there is none."""
    return open_index(place, create=True)


def address_of(place: Path | str) -> str | None:
    """Return the cluster address that `place` is, or None for a folder.

    A Path turns `https://host/x` into `https:/host/x`; both are accepted.

    Raises:
        FilingIndexError: The text is ambiguous: a host with a port but without `https://`.

    >>> address_of(Path("https://localhost:9200/filings"))
    'https://localhost:9200/filings'
    """
    found = _ADDRESS.match(str(place))
    if found is None and _WITHOUT_SCHEME.fullmatch(str(place)) and not Path(place).exists():
        named = redacted_address(str(place))
        folder = Path.cwd() / named
        raise FilingIndexError(
            "this may mean a folder on this machine or a cluster",
            subject=named,
            remedy=f"For a cluster give https://{named} (or http://); for a folder its whole path, {folder}",
        )
    return f"{found[1].lower()}://{found[2]}" if found else None


def place_of(index: object, otherwise: Path) -> str:
    """Return the location with which an index can be opened again: its address, otherwise the folder `otherwise`."""
    address = getattr(index, "address", None)
    return str(otherwise.resolve()) if address is None else str(address)


def chosen_filings(doc_ids: Sequence[str] | None, index: FilingIndex) -> tuple[str, ...] | None:
    """Return each doc_id once; None for all.

    Raises:
        FilingIndexError: A filing is not indexed, or the list is empty, which does not mean all.
    """
    if doc_ids is None:
        return None
    if isinstance(doc_ids, str) or not doc_ids:
        raise FilingIndexError(
            "no filing may be read: `doc_ids` names none" if not doc_ids else "`doc_ids` is a list of ids",
            subject=str(doc_ids),
            remedy="Give the filings that may be read as a list; leave `doc_ids` out where all may be",
        )
    for doc_id in doc_ids:
        index.filing(doc_id)
    return tuple(dict.fromkeys(doc_ids))


def not_indexed(doc_id: str, names: Iterable[str]) -> FilingIndexError:
    """Return the error for a filing that is not in the index; `names` are those that are."""
    near = similar_names(doc_id, names)
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    return FilingIndexError(
        "this filing is not in the index", subject=doc_id, remedy=f"{meant}`fin-agent filings` lists those that are"
    )


def similar_names(doc_id: str, names: Iterable[str]) -> list[str]:
    """Return names that differ only in case, otherwise the most similar ones.

    >>> similar_names("AAPL_2023", ["AAPL_2023_10K", "NKE_2022_10K"])
    ['AAPL_2023_10K']
    >>> similar_names("AAPL_2022_10K", ["NKE_2022_10K"])
    []
    """
    by_folded = {name.casefold(): name for name in sorted(names)}
    wanted = doc_id.casefold()
    if wanted in by_folded:
        return [by_folded[wanted]]
    # Years and forms are alike in the names of all companies: others have to be near.
    return [by_folded[near] for near in get_close_matches(wanted, by_folded, n=3, cutoff=0.75)]


# Clusters


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """A cluster, and the prefix of the names of all indices that belong to one index of filings."""

    scheme: str
    host: str
    """Host and port, such as `search.example.org:9200`."""
    prefix: str

    @classmethod
    def of(cls, text: str) -> ClusterAddress:
        """Parse `https://host:9200/prefix`.

        Raises:
            FilingIndexError: The address is not valid; the message does not repeat a password.
        """
        if any(sign in text.partition("://")[2] for sign in "@?#"):
            raise _invalid_address(
                "the address must not contain a user name, password or query, because it is displayed and recorded",
                redacted_address(text),
                f"Set {VARIABLES['api_key']}, or {VARIABLES['username']} and {VARIABLES['password']}, instead",
            )
        found = _CLUSTER.fullmatch(text)
        if found is None:
            what = "this is not the address of a cluster, whose last part names the index (a-z, digits, - _ .)"
            raise _invalid_address(what, redacted_address(text))
        return cls(**found.groupdict())

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}/{self.prefix}"


def redacted_address(address: str) -> str:
    """Return an address without user names, passwords and queries, whatever was given.

    >>> redacted_address("https://elastic:ses/ame@host:9200/filings?api_key=sesame")
    'https://...@host:9200/filings?...'
    """
    without_user = re.sub(r"^(\w+://)?.*@", r"\1...@", address, flags=re.S)
    return re.sub(r"[?#].*", "?...", without_user, flags=re.S)


class ConnectionSettings(BaseModel, frozen=True, extra="forbid", hide_input_in_errors=True):
    """Settings of the connection to a cluster. Secrets are not part of the representation.

    Raises:
        FilingIndexError: A setting cannot be sent; the message names the setting, not its value.
    """

    api_key: str | None = Field(default=None, repr=False)
    username: str | None = None
    password: str | None = Field(default=None, repr=False)
    certificates: str | None = None
    """File of the certificate authority that signed the cluster's certificate."""
    timeout: float = Field(default=30.0, gt=0, lt=1e6)
    """Time limit of one request, in seconds."""
    patience: float = Field(default=60.0, gt=0, lt=1e6)
    """How long a request is retried while the cluster is busy or does not answer, in seconds."""
    shards: int = Field(default=1, ge=1, le=1024)
    """Primary shards of each large index when it is created."""
    checked_every: float = 1.0
    """How long a list of filings is considered current, in seconds; this process sees its own writes at once."""
    grace: float = 600.0
    """Delay before the parts of a replaced filing are deleted, in seconds, because an answer may be reading them."""

    @field_validator("api_key", "username", "password")
    @classmethod
    def _strip_secret(cls, given: str | None, info: ValidationInfo) -> str | None:
        """Return the secret without the line ending that a file adds; keys are sent as ASCII, others as UTF-8."""
        is_key = info.field_name == "api_key"
        sent = normalize_secret(given or "", blanks=is_key) or None
        if sent is not None and (why := unsendable_reason(sent, ascii_only=is_key)):
            raise _invalid_address(
                f"it cannot be sent: {why}", VARIABLES[str(info.field_name)], "Set it to the value alone"
            )
        return sent

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> ConnectionSettings:
        """Return the settings given by the variables of VARIABLES.

        Raises:
            FilingIndexError: A variable has an unusable value.
        """
        said = {name: environment[variable] for name, variable in VARIABLES.items() if environment.get(variable)}
        try:
            reaching = cls.model_validate(said)
        except ValidationError as error:
            name = str(error.errors()[0]["loc"][0])
            what = f"{said[name]!r} is not a number above 0"
            raise _invalid_address(what, VARIABLES[name], "Set another value") from None
        username, password = VARIABLES["username"], VARIABLES["password"]
        if reaching.api_key and reaching.username:
            both = f"both a key and a user name are given ({VARIABLES['api_key']}, {username})"
            raise _invalid_address(both, "Elasticsearch", "Unset one of them")
        if (reaching.username is None) != (reaching.password is None):
            raise _invalid_address(f"{username} and {password} go together", "Elasticsearch", "Set both, or none")
        if reaching.certificates is not None and not Path(reaching.certificates).is_file():
            missing = f"there is no file {reaching.certificates}"
            raise _invalid_address(missing, VARIABLES["certificates"], "Name the certificate authority's PEM file")
        return reaching


def _invalid_address(what: str, subject: str, remedy: str = "") -> FilingIndexError:
    return FilingIndexError(
        what, subject=subject, remedy=remedy or "Give it as https://host:9200/prefix, or as a folder on this machine"
    )
