"""An index on a cluster built anew behind its alias, as for other shards or analysis: readers never notice."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.connection import Cluster
from fin_agent.index.elastic.faults import GeneralAvailabilityWarning
from fin_agent.index.elastic.layout import Layout, behind, kinds, template

_POLL = 1.0
"""Seconds between two looks at how far it is."""

Told = Callable[[str, int, int], None]
"""Which kind, how many documents are done, how many there are."""


def reindex(
    cluster: Cluster,
    layout: Layout,
    wanted: Sequence[str] = (),
    *,
    told: Told = lambda kind, done, total: None,
) -> list[str]:
    """Build the indices of these kinds (all, where none are named) anew by today's templates; their new names.

    Readers go on with the old ones until the aliases change over, in one step. Writers are turned away meanwhile, with
    an error that says so, and what they were at is not half done. Where it fails, the old ones stay as they were.
    """
    unknown = set(wanted) - set(kinds())
    if unknown:
        raise FilingIndexError(f"there is no {', '.join(sorted(unknown))}", remedy=f"There are {', '.join(kinds())}")
    return [_built_anew(cluster, layout, kind, told) for kind in wanted or kinds()]


def _built_anew(cluster: Cluster, layout: Layout, kind: str, told: Told) -> str:
    alias, indices = layout.alias(kind), cluster.client.indices
    (old,) = behind(cluster, alias)
    new = f"{alias}-{_next(old)}"
    body = template(layout, kind, cluster.reaching.shards)
    cluster.asked(indices.put_index_template, doing="written", name=alias, **body)
    cluster.answered(indices.add_block, doing="written", index=old, block="write")
    try:
        cluster.asked(indices.create, doing="written", index=new)
        _copied(cluster, old, new, lambda done, total: told(kind, done, total))
        change_over = [
            {"add": {"index": new, "alias": alias}},
            {"remove_index": {"index": old}},
        ]
        cluster.asked(indices.update_aliases, doing="written", actions=change_over)
    except BaseException:
        cluster.asked(indices.delete, doing="written", index=new, ignore_unavailable=True)
        cluster.asked(
            indices.put_settings, doing="written", index=old, settings={"index": {"blocks": {"write": False}}}
        )
        raise
    return new


def _copied(cluster: Cluster, old: str, new: str, told: Callable[[int, int], None]) -> None:
    started = cluster.answered(
        cluster.client.reindex,
        doing="written",
        source={"index": old},
        dest={"index": new},
        refresh=True,
        wait_for_completion=False,
    )
    while True:
        with warnings.catch_warnings():
            # The client warns that tasks are a preview; there is no other way to see how far a copy is.
            warnings.simplefilter("ignore", GeneralAvailabilityWarning)
            task = cluster.answered(cluster.client.tasks.get, task_id=started["task"])
        status = task["task"]["status"]
        told(int(status["created"]), int(status["total"]))
        if task["completed"]:
            break
        cluster.pause(_POLL)
    failures = task.get("response", {}).get("failures") or ([task["error"]] if "error" in task else [])
    if failures:
        raise FilingIndexError(
            f"{len(failures)} documents could not be taken over, the first of them: {str(failures[0])[:300]}",
            subject=old,
            remedy="The index is as it was. Look into the cluster's log",
        )


def _next(name: str) -> str:
    """`000002` after `...-000001`."""
    found = re.search(r"-(\d+)$", name)
    return f"{int(found[1]) + 1:06}" if found else "000001"
