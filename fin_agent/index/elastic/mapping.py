"""The indices on a cluster: templates, creation and checks."""

from __future__ import annotations

from functools import cache
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


def open_indices(cluster: Cluster) -> None:
    """Raise FilingIndexError where there is no index with this prefix, or one of another format."""
    address = str(cluster.address)
    names = [cluster.alias(kind) for kind in described()["indices"]]
    try:
        found = cluster.request(cluster.client.indices.get_mapping, doing="opened", expected=(404,), index=names)
    except NotFound as error:
        what, remedy = "the server at this address is not Elasticsearch", "Check the address"
        if error_type(error.body) in ("index_not_found_exception", "aliases_not_found_exception"):
            what = "there is no index here"
            remedy = "Check the last part of the address, or make one: add files to an index on this machine"
            remedy += f" (`fin-agent ingest PATH...`), and from there `fin-agent index copy --to {address}`"
        raise FilingIndexError(what, subject=address, remedy=remedy) from error
    marks = (index.get("mappings", {}).get("_meta", {}).get("fin_agent", {}) for index in found.body.values())
    other = sorted({str(mark.get("format", "unknown")) for mark in marks} - {str(FORMAT)})
    if other:
        what = f"the index has format {', '.join(other)}; this version reads format {FORMAT}"
        remedy = "Copy the filings again under another prefix with `fin-agent index copy`"
        raise FilingIndexError(what, subject=address, remedy=remedy)


def create_indices(cluster: Cluster) -> None:
    """Write the templates and create missing indices behind their aliases. Concurrent calls are harmless."""
    indices = cluster.client.indices
    for kind, own in described()["indices"].items():
        name = cluster.alias(kind)
        shards = cluster.reaching.shards if own.get("large") else 1
        settings = {
            "index": {**described()["settings"], "number_of_shards": shards},
            "analysis": described()["analysis"],
            "similarity": described()["similarity"],
        }
        mappings = {
            "dynamic": "strict",
            "_meta": {"fin_agent": {"format": FORMAT}},
            "properties": own["properties"],
        }
        cluster.request(
            indices.put_index_template,
            doing="written",
            name=name,
            index_patterns=[f"{name}-0*"],  # not those of a longer prefix
            priority=_PRIORITY,
            template={"settings": settings, "mappings": mappings},
        )
        if cluster.request(indices.exists_alias, name=name):
            continue
        try:
            cluster.request(indices.create, doing="written", index=f"{name}-{_FIRST}", aliases={name: {}})
        except FilingIndexError as error:
            cause = error.__cause__
            if not (isinstance(cause, ApiError) and error_type(cause.body) == "resource_already_exists_exception"):
                raise


@cache
def described() -> dict[str, Any]:
    """Return what templates.yaml says."""
    text = resources.files("fin_agent.index.elastic").joinpath("templates.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found
