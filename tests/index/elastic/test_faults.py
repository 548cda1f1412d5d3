"""What goes wrong between here and a cluster is told in words, and tried again where that helps."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("elasticsearch")

from fin_agent.errors import FilingIndexError
from fin_agent.index.elastic.index import ElasticIndex
from fin_agent.index.opening import ConnectionSettings
from fin_agent.vocabulary.filing import Filing
from tests.index.elastic_server.refusal import RefusalError
from tests.index.elastic_server.server import ElasticServer

MakeFiling = Callable[..., Filing]
MakeIndex = Callable[..., ElasticIndex]

BUSY = RefusalError(429, "es_rejected_execution_exception", "rejected execution of coordinating operation")
NOT_READY = RefusalError(503, "no_shard_available_action_exception", "all shards failed")
DISK = RefusalError(
    429,
    "cluster_block_exception",
    "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has"
    " read-only-allow-delete block];",
)


def told(caught: pytest.ExceptionInfo[FilingIndexError]) -> tuple[str, str]:
    return caught.value.what, caught.value.remedy


def test_nothing_listens_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(FilingIndexError, match="cannot be reached") as caught:
        ElasticIndex(f"http://127.0.0.1:{port}/filings", ConnectionSettings(patience=0.01))
    assert caught.value.subject == f"http://127.0.0.1:{port}/filings"
    assert "Check the address" in caught.value.remedy


def test_what_answers_is_no_elasticsearch() -> None:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing is printed."""

    with HTTPServer(("127.0.0.1", 0), Page) as other:
        Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(FilingIndexError, match="not a supported Elasticsearch"):
            ElasticIndex(f"http://127.0.0.1:{other.server_address[1]}/filings", ConnectionSettings(patience=0.01))
        other.shutdown()


def test_keys_are_sent_and_refused_with_a_remedy(pauses: list[float]) -> None:
    with ElasticServer(api_key="sesame") as server:
        ElasticIndex(f"{server.url}/x", ConnectionSettings(api_key="sesame"), create=True).close()
        for reaching in (
            ConnectionSettings(api_key="wrong-key"),
            ConnectionSettings(),
            ConnectionSettings(username="me", password="wrong-key"),
        ):
            with pytest.raises(FilingIndexError, match="does not accept the key") as caught:
                ElasticIndex(f"{server.url}/x", reaching)
            assert "FIN_AGENT_ES_API_KEY" in caught.value.remedy
            assert "wrong-key" not in str(caught.value)


def test_a_password_is_sent_as_utf_8() -> None:
    with ElasticServer(password=("jürgen", "sesäm…")) as server:
        ElasticIndex(
            f"{server.url}/x", ConnectionSettings(username="jürgen\n", password="sesäm…\n"), create=True
        ).close()


@pytest.mark.parametrize("said", ["Authorization: ApiKey {0}", "you sent {0}", "Invalid header value b'ApiKey {0}\\n'"])
def test_a_key_that_is_told_back_is_not_shown(
    index: ElasticIndex, server: ElasticServer, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    from fin_agent.cli.exit_codes import sentence_of

    monkeypatch.setenv("FIN_AGENT_ES_API_KEY", "sesame-open-0123\n")
    answer = RefusalError(500, "security_exception", said.format("sesame-open-0123"))
    with server.failing("test-filings/_search", answer), pytest.raises(FilingIndexError, match=r"\[key\]") as caught:
        index.entries()
    assert "sesame" not in str(caught.value)
    assert "sesame" not in sentence_of(ValueError(said.format("sesame-open-0123")))


def test_there_is_no_index(make_index: MakeIndex, server: ElasticServer) -> None:
    with pytest.raises(FilingIndexError, match=rf"no index here.*fin-agent index copy --to {server.url}/nowhere"):
        make_index("nowhere", create=False)


@pytest.mark.parametrize(
    ("status", "reason", "what"),
    [
        (406, "Content-Type header [application/vnd.elasticsearch+json; compatible-with=9] is not supported",
         "another version runs there"),
        (400, "Accept version must be either version 7 or 6, but found 9. Accept=application/vnd.elasticsearch+json",
         "Elasticsearch 7 runs there"),
    ],
)  # fmt: skip
def test_a_cluster_of_another_version(
    make_index: MakeIndex, server: ElasticServer, status: int, reason: str, what: str
) -> None:
    refusal = RefusalError(status, "media_type_header_exception", reason)
    with server.failing("_mapping", refusal), pytest.raises(FilingIndexError) as caught:
        make_index(create=False)
    assert what in told(caught)[0] and "needs Elasticsearch 8.19 or later" in told(caught)[0]
    assert "pip install 'elasticsearch>=8.19,<9'" in told(caught)[1]


def test_https_is_asked_of_a_port_that_speaks_http(server: ElasticServer) -> None:
    with pytest.raises(FilingIndexError, match="speaks http, not https") as caught:
        ElasticIndex(f"{server.url.replace('http', 'https')}/x", ConnectionSettings(patience=0.01))
    assert f"{server.url}/x" in caught.value.remedy


def test_all_privileges_are_named_as_the_guide_names_them(index: ElasticIndex, server: ElasticServer) -> None:
    refusal = RefusalError(403, "security_exception", "action [indices:data/read] is unauthorized")
    with server.failing("test-filings/_search", refusal), pytest.raises(FilingIndexError) as caught:
        index.entries()
    guide = (Path(__file__).parents[3] / "docs/elasticsearch.md").read_text(encoding="utf-8")
    asked = json.loads(re.search(r"```json\n(.*?)```", guide, re.S)[1])["fin-agent"]  # type: ignore[index]
    (sentence,) = re.findall(r"^A key needs.*", guide, re.M)
    for privilege in (*asked["cluster"], *asked["index"][0]["privileges"]):
        assert privilege in caught.value.remedy and f"`{privilege}`" in sentence
    assert "test-*" in caught.value.remedy


def test_an_index_of_another_format(make_index: MakeIndex, server: ElasticServer) -> None:
    make_index("other")
    shelf = server.node.named("other-pages")[0]
    shelf.mapping.said["_meta"] = {"fin_agent": {"format": 99}}
    with pytest.raises(FilingIndexError, match="format 99; this version reads format 4"):
        make_index("other", create=False)
    shelf.mapping.said["_meta"] = {}
    with pytest.raises(FilingIndexError, match="format unknown"):
        make_index("other", create=False)


@pytest.mark.parametrize("busy", [BUSY, NOT_READY])
def test_a_busy_cluster_is_asked_again_after_growing_pauses(
    index: ElasticIndex, server: ElasticServer, pauses: list[float], busy: RefusalError
) -> None:
    with server.failing("test-filings/_search", busy, times=5):
        assert index.entries() == ()
    assert len(pauses) == 5
    assert all(0 < pause <= 0.1 * 2**at + 0.1 for at, pause in enumerate(pauses))
    assert pauses[4] > pauses[0]


@pytest.mark.parametrize(("times", "said"), [(4, 0), (9, 1)])
def test_asking_again_for_long_is_told(
    make_index: MakeIndex, server: ElasticServer, caplog: pytest.LogCaptureFixture, times: int, said: int
) -> None:
    index = make_index("x", patience=60.0)
    with server.failing("x-filings/_search", BUSY, times=times):
        index.entries()
    lines = [record.getMessage() for record in caplog.records if record.name == "fin_agent"]
    assert len(lines) == said
    for line in lines:  # once, and not for every pause
        assert (
            f"{server.url}/x: the cluster is too busy (es_rejected" in line
            and "asking again, for" in line
            and "PATIENCE" in line
        )
    index.close()


def test_a_connection_that_is_cut_is_opened_again(index: ElasticIndex, server: ElasticServer) -> None:
    with server.failing("test-filings/_search", None, times=2):
        assert index.entries() == ()


def test_patience_ends(make_index: MakeIndex, server: ElasticServer) -> None:
    index = make_index("impatient", patience=0.05)
    with (
        server.failing("filings/_search", BUSY, times=1_000),
        pytest.raises(FilingIndexError, match=r"too busy.*FIN_AGENT_ES_PATIENCE"),
    ):
        index.entries()


@pytest.mark.parametrize(
    ("answer", "what", "remedy"),
    [
        (
            RefusalError(403, "security_exception", "action [indices:data/read] is unauthorized"),
            "may not",
            "privileges",
        ),
        (RefusalError(500, "null_pointer_exception", "oh"), "null_pointer_exception: oh", "log"),
        (RefusalError(404, "index_not_found_exception", "no such index [x]"), "does not exist", "index copy"),
        (
            RefusalError(400, "illegal_argument_exception", "no mapping"),
            "differs from what this version creates",
            "another prefix",
        ),
    ],
)
def test_errors_that_no_second_try_helps(
    index: ElasticIndex, server: ElasticServer, pauses: list[float], answer: RefusalError, what: str, remedy: str
) -> None:
    with server.failing("test-filings/_search", answer), pytest.raises(FilingIndexError) as caught:
        index.entries()
    assert what in told(caught)[0] and remedy in told(caught)[1]
    assert pauses == []


@pytest.mark.parametrize("place", ["_bulk", "test-filings/_doc"])
def test_a_full_disk_is_told_as_that(
    make_index: MakeIndex, server: ElasticServer, make_filing: MakeFiling, pauses: list[float], place: str
) -> None:
    index = make_index(patience=0.5)
    with server.failing(f"PUT /{place}", DISK, times=99), pytest.raises(FilingIndexError, match="watermark") as caught:
        index.add(make_filing("a", "gyroscope"), ["{}"], "")
    assert "disk space" in caught.value.remedy
    assert pauses == []
    assert index.entries() == () and index.search_pages(["gyroscope"]) == []


def test_an_alias_that_is_gone_is_not_made_by_writing(
    index: ElasticIndex, server: ElasticServer, make_filing: MakeFiling
) -> None:
    server.node.delete("test-passages-000001")
    with pytest.raises(FilingIndexError, match="or part of it does not exist"):
        index.add(make_filing("a", "gyroscope"), ["{}"], "")
    assert "test-passages" not in server.node.shelves


def test_half_an_answer_is_none(index: ElasticIndex, server: ElasticServer, make_filing: MakeFiling) -> None:
    """A cluster that misses a shard gives what the others hold, unless it is told not to."""
    index.add(make_filing("a", "gyroscope"), ["{}"], "compass")
    (page,) = index.outline(["a"])
    asks: list[Callable[[], object]] = [
        lambda: index.search_pages(["gyroscope"]),
        lambda: index.search_summaries(["compass"]),
        lambda: index.outline(["a"]),
        lambda: index.pages([page.key]),
        lambda: index.facts(["a"]),
        index.vector_models,
    ]
    for ask in asks:
        ask()
    with index.snapshot():
        server.node.shard_lost = True
        for ask in asks:
            with pytest.raises(FilingIndexError):
                ask()
    with pytest.raises(FilingIndexError):
        index.entries()
    server.node.shard_lost = False
    assert [hit.key for hit in index.search_pages(["gyroscope"])] == [page.key]


def test_what_cannot_be_looked_at_is_not_swept_away(
    index: ElasticIndex, server: ElasticServer, make_filing: MakeFiling
) -> None:
    """A writer was killed after it had shown its filing: the journal still names its parts."""
    index.add(make_filing("a", "gyroscope"), ["{}"], "")
    (generation,) = index.listing().shown
    index._journal(generation, "a", -1.0)
    search, journal = index.search, "journal"
    traces = search(journal)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index, "search", lambda name, **asked: traces if name == journal else search(name, **asked))
        patched.setattr(index, "_refresh", lambda names: None)
        server.node.shard_lost = True
        with pytest.raises(FilingIndexError, match="shard"):
            index.sweep()
    server.node.shard_lost = False
    index.sweep()
    assert len(index.search_pages(["gyroscope"])) == 1


def test_the_package_needs_no_client() -> None:
    program = (
        "import sys; sys.modules['elasticsearch'] = None\n"
        "import fin_agent; from fin_agent.workspace import Workspace\n"
        "try: Workspace.open('https://localhost:9200/filings')\n"
        "except fin_agent.FinAgentError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 'pip install ".[elasticsearch]"' in done.stdout


@pytest.fixture
def slow(server: ElasticServer) -> Iterator[None]:
    """The server takes a second for anything."""
    answer = server.answer
    import time

    def late(asked: Any) -> Any:
        time.sleep(0.4)
        return answer(asked)

    server.answer = late  # type: ignore[method-assign]
    yield
    server.answer = answer  # type: ignore[method-assign]


def test_an_answer_that_comes_too_late(make_index: MakeIndex, slow: None) -> None:
    with pytest.raises(FilingIndexError, match=r"did not answer in time.*FIN_AGENT_ES_TIMEOUT"):
        make_index("late", timeout=0.1, patience=0.01)
