"""The indices on a cluster: names, templates, creation and checks."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.client import ApiError, Cluster, NotFound, error_type

FORMAT = 4
PARTS = ("pages", "passages", "figures", "vectors")
"""Indices whose documents belong to a generation of a filing."""
_FIRST = "000001"
_PRIORITY = 500


class Layout:
    """The names of an index with this prefix on a cluster. All reads and writes use aliases."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def alias(self, kind: str) -> str:
        """Return the alias of `filings`, `pages` and so on, whatever index is behind it."""
        return f"{self.prefix}-{kind}"

    @property
    def parts(self) -> str:
        """All indices with parts of filings, as one target."""
        return ",".join(map(self.alias, PARTS))


def open_indices(cluster: Cluster, layout: Layout) -> None:
    """Raise FilingIndexError where there is no index with this prefix, or one of another format."""
    try:
        found = cluster.request(
            cluster.client.indices.get_mapping,
            doing="opened",
            expected=(404,),
            index=[layout.alias(kind) for kind in kinds()],
        )
    except NotFound as error:
        if error_type(error.body) not in ("index_not_found_exception", "aliases_not_found_exception"):
            raise FilingIndexError(
                f"the server at this address is not Elasticsearch ({error_type(error.body) or 'status 404'})",
                subject=str(cluster.address),
                remedy="Check the address",
            ) from error
        raise FilingIndexError(
            "there is no index here",
            subject=str(cluster.address),
            remedy="Check the last part of the address, or make one: add files to an index on this machine"
            f" (`fin-agent ingest PATH...`), and from there `fin-agent index copy --to {cluster.address}`",
        ) from error
    marks = (index.get("mappings", {}).get("_meta", {}).get("fin_agent", {}) for index in found.body.values())
    formats = {mark.get("format") for mark in marks}
    if formats != {FORMAT}:
        shown = ", ".join(sorted({str(each) for each in formats} - {str(FORMAT)}))
        raise FilingIndexError(
            f"the index has format {shown.replace('None', 'unknown')}; this version reads format {FORMAT}",
            subject=str(cluster.address),
            remedy="Copy the filings again under another prefix with `fin-agent index copy`. (An index made by hand, or"
            " by writing without a template, has no format.)",
        )


def create_indices(cluster: Cluster, layout: Layout) -> None:
    """Write the templates and create missing indices behind their aliases. Concurrent calls are harmless."""
    indices = cluster.client.indices
    for kind in kinds():
        name, body = layout.alias(kind), template(layout, kind, cluster.reaching.shards)
        cluster.request(indices.put_index_template, doing="written", name=name, **body)
        if cluster.request(indices.exists_alias, name=name):
            continue
        try:
            cluster.request(indices.create, doing="written", index=f"{name}-{_FIRST}", aliases={name: {}})
        except FilingIndexError as error:
            cause = error.__cause__
            if not (isinstance(cause, ApiError) and error_type(cause.body) == "resource_already_exists_exception"):
                raise


def template(layout: Layout, kind: str, shards: int) -> dict[str, Any]:
    """Return the index template of `kind`; its mapping is strict and records the format."""
    said = _meta_value()["indices"][kind]
    return {
        "index_patterns": [f"{layout.alias(kind)}-0*"],  # not those of a longer prefix
        "priority": _PRIORITY,
        "template": {
            "settings": settings(shards if said.get("large") else 1),
            "mappings": {
                "dynamic": "strict",
                "_meta": {"fin_agent": {"format": FORMAT}},
                "properties": said["properties"],
            },
        },
    }


def settings(shards: int) -> dict[str, Any]:
    """Return the settings of an index with this many primary shards, replicated once there is a second node."""
    said = _meta_value()
    return {
        "index": {
            "number_of_shards": shards,
            "auto_expand_replicas": "0-1",
            "codec": "best_compression",
            "refresh_interval": "30s",  # writes that must be visible at once refresh explicitly
        },
        "analysis": said["analysis"],
        "similarity": said["similarity"],
    }


def kinds() -> tuple[str, ...]:
    """Return the names of the indices that belong to every index of filings."""
    return tuple(_meta_value()["indices"])


@lru_cache(maxsize=1)
def _meta_value() -> dict[str, Any]:
    text = resources.files("fin_agent.index.elastic").joinpath("templates.yaml").read_text(encoding="utf-8")
    said: dict[str, Any] = yaml.safe_load(text)
    return said
