"""The indices on a cluster: templates, creation and checks."""

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
REPLICAS = "0-1"
"""Copies of each shard: one once there is a second node."""


def open_indices(cluster: Cluster) -> None:
    """Raise FilingIndexError where there is no index with this prefix, or one of another format."""
    names = [cluster.alias(kind) for kind in _described()["indices"]]
    try:
        found = cluster.request(cluster.client.indices.get_mapping, doing="opened", expected=(404,), index=names)
    except NotFound as error:
        if error_type(error.body) not in ("index_not_found_exception", "aliases_not_found_exception"):
            raise FilingIndexError(
                "the server at this address is not Elasticsearch",
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
    other = sorted({str(mark.get("format", "unknown")) for mark in marks} - {str(FORMAT)})
    if other:
        raise FilingIndexError(
            f"the index has format {', '.join(other)}; this version reads format {FORMAT}",
            subject=str(cluster.address),
            remedy="Copy the filings again under another prefix with `fin-agent index copy`",
        )


def create_indices(cluster: Cluster) -> None:
    """Write the templates and create missing indices behind their aliases. Concurrent calls are harmless."""
    indices = cluster.client.indices
    for kind in _described()["indices"]:
        name = cluster.alias(kind)
        cluster.request(
            indices.put_index_template, doing="written", name=name, **_template(name, kind, cluster.reaching.shards)
        )
        if cluster.request(indices.exists_alias, name=name):
            continue
        try:
            cluster.request(indices.create, doing="written", index=f"{name}-{_FIRST}", aliases={name: {}})
        except FilingIndexError as error:
            cause = error.__cause__
            if not (isinstance(cause, ApiError) and error_type(cause.body) == "resource_already_exists_exception"):
                raise


def _template(name: str, kind: str, shards: int) -> dict[str, Any]:
    """Return the index template of `kind`; its mapping is strict and records the format."""
    described = _described()
    own = described["indices"][kind]
    settings = {
        "number_of_shards": shards if own.get("large") else 1,
        "auto_expand_replicas": REPLICAS,
        "codec": "best_compression",
        "refresh_interval": "30s",  # writes that must be visible at once refresh explicitly
    }
    return {
        "index_patterns": [f"{name}-0*"],  # not those of a longer prefix
        "priority": _PRIORITY,
        "template": {
            "settings": {
                "index": settings,
                "analysis": described["analysis"],
                "similarity": described["similarity"],
            },
            "mappings": {
                "dynamic": "strict",
                "_meta": {"fin_agent": {"format": FORMAT}},
                "properties": own["properties"],
            },
        },
    }


@lru_cache(maxsize=1)
def _described() -> dict[str, Any]:
    text = resources.files("fin_agent.index.elastic").joinpath("templates.yaml").read_text(encoding="utf-8")
    described: dict[str, Any] = yaml.safe_load(text)
    return described
