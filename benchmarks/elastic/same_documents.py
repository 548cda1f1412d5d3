"""Do both kinds of index find the same filings? Copies an embedded index to a cluster and asks both every question.

    python benchmarks/elastic/same_documents.py questions.jsonl --index DIR [--to https://host:9200/prefix]

Without `--to`, the server of our own that the tests use stands for a cluster, asked over HTTP by the real client: what
is found there is ranked by Lucene's BM25 as we compute it. FIN_AGENT_ES_SPEC names Elastic's specification, against
which every request is then held.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import strategy_for
from fin_agent.config import Settings
from fin_agent.index.copying import CopiedFiling, copy_filings
from fin_agent.index.elastic.index import ElasticIndex
from fin_agent.index.opening import ConnectionSettings
from fin_agent.index.protocol import FilingIndex
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.retrieval.search_query import EVERYTHING, Depth
from fin_agent.workspace import Workspace
from tests.index.elastic_server.conformity import Specification
from tests.index.elastic_server.server import ElasticServer

STRATEGIES = ("default", "bm25")
TOP = 5


def main() -> None:
    """Copy, ask, compare."""
    given = _arguments()
    lines = given.questions.read_text(encoding="utf-8").splitlines()
    questions = [str(json.loads(line)["question"]) for line in lines if line.strip()]
    with SqliteIndex(given.index) as embedded, _cluster(given.to) as (cluster, server):
        _copy(embedded, cluster, given.jobs)
        for strategy in given.strategies.split(","):
            asked = len(server.requests) if server else 0
            _compare(strategy, questions, embedded, cluster)
            if server is not None:
                print(f"  {(len(server.requests) - asked) / len(questions):.0f} requests a question")
        if server is not None:
            _tell_requests(server)


def _copy(embedded: SqliteIndex, cluster: ElasticIndex, jobs: int) -> None:
    started = time.perf_counter()

    def told(filing: CopiedFiling) -> None:
        print(f"{filing.doc_id}: {filing.outcome.value} {filing.reason}", file=sys.stderr)

    report = copy_filings(embedded, cluster, jobs=jobs, on_filing=told)
    seconds = time.perf_counter() - started
    pages = sum(filing.pages for filing in report.filings)
    print(f"copied {len(report.filings)} filings, {pages:,} pages in {seconds:.1f} s ({pages / seconds:,.0f} pages/s)")


def _compare(strategy: str, questions: Sequence[str], embedded: FilingIndex, cluster: FilingIndex) -> None:
    here, there = _asked(strategy, embedded), _asked(strategy, cluster)
    same_set = same_order = same_first = 0
    pages: list[float] = []
    seconds: dict[str, list[float]] = {"embedded": [], "cluster": []}
    for question in questions:
        documents, own_pages = _timed(here, question, seconds["embedded"])
        others, other_pages = _timed(there, question, seconds["cluster"])
        same_set += set(documents) == set(others)
        same_order += documents == others
        same_first += documents[:1] == others[:1]
        pages.append(len(set(own_pages) & set(other_pages)) / max(1, len(own_pages)))
        if set(documents) != set(others):
            print(f"  otherwise: {question[:100]!r}\n    {documents}\n    {others}")
    count = len(questions)
    medians = " and ".join(f"{statistics.median(each):.3f} s {kind}" for kind, each in seconds.items())
    print(
        f"{strategy}: the same top {TOP} filings for {same_set} of {count} questions ({same_set / count:.1%}), in the"
        f" same order for {same_order}, the same first for {same_first}; of the top {TOP} pages"
        f" {statistics.mean(pages):.1%} are the same; median {medians}"
    )


Found = tuple[list[str], list[tuple[str, int]]]


def _asked(strategy: str, index: FilingIndex) -> Callable[[str], Found]:
    workspace = Workspace(index)
    searching = strategy_for(Settings(strategy=strategy), workspace, notify=lambda text: None)
    analyst = RulesAnalyst(workspace)

    def found(question: str) -> Found:
        intent = analyst.intent(question)
        query = analyst.query(intent, analyst.plan(intent), None)
        result = searching.search(query, EVERYTHING, Depth(TOP, 20, TOP))
        documents = [filing.doc_id for filing in result.filings[:TOP]]
        return documents, [tuple(page.key) for page in result.pages[:TOP]]

    return found


def _timed(found: Callable[[str], Found], question: str, seconds: list[float]) -> Found:
    started = time.perf_counter()
    answer = found(question)
    seconds.append(time.perf_counter() - started)
    return answer


@contextmanager
def _cluster(address: str | None) -> Iterator[tuple[ElasticIndex, ElasticServer | None]]:
    if address is not None:
        with ElasticIndex(address, create=True) as index:
            yield index, None
        return
    with (
        ElasticServer(Specification.named()) as server,
        ElasticIndex(f"{server.url}/benchmark", ConnectionSettings(timeout=300.0), create=True) as index,
    ):
        yield index, server


def _tell_requests(server: ElasticServer) -> None:
    if server.specification is None:
        print(f"{len(server.requests):,} requests, none held against the specification (FIN_AGENT_ES_SPEC)")
        return
    held = server.specification.checked.total()
    print(
        f"{len(server.requests):,} requests, {held:,} held against the specification, {len(server.violations)} not so"
    )
    for violation in server.violations[:10]:
        print(f"  {violation}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, help="a JSON object with a `question` on each line")
    parser.add_argument("--index", type=Path, required=True, help="folder of the embedded index")
    parser.add_argument("--to", help="address of an index on a cluster; made where it is not")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--strategies", default=",".join(STRATEGIES), help="with commas between")
    return parser.parse_args()


if __name__ == "__main__":
    main()
