"""The index on a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from fin_agent.index.elastic.address import ClusterAddress, Reaching
from fin_agent.index.elastic.connection import Cluster
from fin_agent.index.elastic.content import StoredContent
from fin_agent.index.elastic.layout import Layout, create_indices, open_indices
from fin_agent.index.elastic.reindexing import Told, reindex
from fin_agent.index.elastic.searching import FullTextSearch
from fin_agent.index.elastic.vectors import StoredVectors


class ElasticIndex(FullTextSearch, StoredContent, StoredVectors):
    """Filings on an Elasticsearch cluster, under names that begin with the address's prefix. Safe to share.

    >>> index = ElasticIndex("https://localhost:9200/filings")  # doctest: +SKIP
    >>> index.search_pages(["inventory turnover"])  # doctest: +SKIP
    """

    def __init__(
        self,
        address: str | ClusterAddress,
        reaching: Reaching | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Open an index that exists; keys are taken from the environment where no `reaching` is given.

        Raises FilingIndexError where there is none, it cannot be reached, or it is of another format.
        """
        cluster = _cluster(address, reaching, sleep)
        super().__init__(cluster, Layout(cluster.address.prefix))
        try:
            open_indices(cluster, self.layout)
        except BaseException:
            cluster.close()
            raise

    @classmethod
    def create(
        cls,
        address: str | ClusterAddress,
        reaching: Reaching | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> ElasticIndex:
        """Open the index at `address`, making templates and indices where there are none."""
        cluster = _cluster(address, reaching, sleep)
        try:
            create_indices(cluster, Layout(cluster.address.prefix))
        finally:
            cluster.close()
        return cls(address, reaching, sleep=sleep)

    def reindex(self, kinds: Sequence[str] = (), *, told: Told = lambda kind, done, total: None) -> list[str]:
        """Build indices anew behind their aliases, as for other shards; see `reindexing.reindex`."""
        return reindex(self.cluster, self.layout, kinds, told=told)

    @property
    def address(self) -> ClusterAddress:
        """Where it is; holds no secret."""
        return self.cluster.address

    def __enter__(self) -> ElasticIndex:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.cluster.close()


def _cluster(address: str | ClusterAddress, reaching: Reaching | None, sleep: Callable[[float], None]) -> Cluster:
    if not isinstance(address, ClusterAddress):
        address = ClusterAddress.of(address)
    return Cluster(address, reaching or Reaching.from_environment(), sleep=sleep)
