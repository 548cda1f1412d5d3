"""The HTTP API over the sample filings: every path, by a real server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from fin_agent.analyst.events import Answered, AnswerPiece, Event
from fin_agent.answering.answer import Answer
from fin_agent.config import Settings
from fin_agent.graphs.answer import answer_question
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.presentation.exports import BOUNDS
from fin_agent.tools.artifacts import DocumentsFound, FilingsListed, PagesFound
from fin_agent.tools.context import ToolContext
from fin_agent.workspace import Workspace
from tests.cli.running import CONTRACT
from tests.serving.conftest import FILING, api_over, events_in

httpx = pytest.importorskip("httpx", reason="needs the extra `serving-tests`")
pytest.importorskip("fastapi", reason="needs the extra `serve`")

QUESTION = "What was Harborlight's net income in FY2023?"
REFUSED = "What did Quillmark spend on research and development in fiscal 2024?"


@pytest.fixture(scope="session")
def client(api: str) -> Iterator[Any]:
    with httpx.Client(base_url=api, timeout=60) as client:
        yield client


def test_health(client: Any) -> None:
    assert client.get("/health").json() == {"status": "ok", "filings": 15}


@pytest.mark.parametrize("question", [QUESTION, REFUSED])
def test_a_question_is_answered_as_the_graph_answers_it(client: Any, context: ToolContext, question: str) -> None:
    told = client.post("/ask", json={"question": question, "id": "q1"})
    assert told.status_code == 200
    assert list(told.json()) == CONTRACT
    answer = Answer.model_validate(told.json())
    expected = answer_question(question, context.answering, question_id="q1")
    unwritten = {"seconds": 0.0, "trace": ()}
    assert answer.model_copy(update=unwritten).model_dump() == expected.model_copy(update=unwritten).model_dump()


def test_pages_count_from_0_and_beside_that_from_1_and_their_picture_is_there(client: Any) -> None:
    (citation,) = client.post("/ask", json={"question": QUESTION}).json()["citations"]
    assert (citation["page"], citation["page_number"]) == (8, 9)
    assert citation["picture"].startswith(f"/pages/{FILING}/9.png?box=")
    picture = client.get(citation["picture"])
    assert picture.headers["content-type"] == "image/png"
    assert picture.content != client.get(f"/pages/{FILING}/9.png").content


def test_the_trace_is_told_on_request(client: Any) -> None:
    told = client.post("/ask", json={"question": QUESTION, "trace": True}).json()
    assert [step["node"] for step in told["trace"]][:2] == ["rewrite_query", "search_documents"]


def test_only_the_filings_named_are_searched(client: Any) -> None:
    told = client.post("/ask", json={"question": "What was net income?", "doc_ids": ["tellurond_2023_10k"]}).json()
    assert told["retrieved"]["documents"] == ["tellurond_2023_10k"]
    told = client.post("/ask", json={"question": "What was net income?", "company": "Tellurond", "fiscal_year": 2022})
    assert told.json()["retrieved"]["documents"] == ["tellurond_2022_10k"]


@pytest.mark.parametrize("how", [{"headers": {"Accept": "text/event-stream"}}, {"stream": True}])
def test_events_are_told_as_they_happen(client: Any, how: dict[str, Any]) -> None:
    asked = {"question": QUESTION, "stream": how.get("stream", False)}
    told = client.post("/ask", json=asked, headers=how.get("headers", {}))
    assert told.headers["content-type"].startswith("text/event-stream")
    events = events_in(told.text)
    read: list[Event] = [TypeAdapter(Event).validate_python(data) for _, data in events]
    assert [event.kind for event in read] == [name for name, _ in events]
    last = read[-1]
    assert isinstance(last, Answered)
    assert last.answer.answer.value == 544.0
    assert not last.answer.trace
    assert "".join(event.text for event in read if isinstance(event, AnswerPiece)) == last.answer.answer.text
    assert events[-1][1]["answer"]["citations"][0]["page_number"] == 9


def test_pages_are_found(client: Any) -> None:
    told = client.get("/search", params={"query": "restructuring", "company": "Harborlight", "k": 2}).json()
    found = PagesFound.model_validate(told)
    assert [page.filing.company for page in found.pages] == ["Harborlight Instruments, Inc."] * 2
    assert told["pages"][0]["picture"].startswith(
        f"/pages/{found.pages[0].filing.doc_id}/{found.pages[0].page + 1}.png"
    )


def test_filings_are_found(client: Any) -> None:
    asked = {"query": "Quillmark's inventories in fiscal 2023", "level": "document", "k": 1}
    found = DocumentsFound.model_validate(client.get("/search", params=asked).json())
    assert [filing.doc_id for filing in found.filings] == ["quillmark_2023_10k"]


def test_filings_are_listed(client: Any) -> None:
    listed = FilingsListed.model_validate(client.get("/filings", params={"form": "10-K", "fiscal_year": 2023}).json())
    assert [filing.doc_id.split("_")[0] for filing in listed.filings] == ["harborlight", "quillmark", "tellurond"]


def test_a_filing_is_shown_without_where_its_file_lies(client: Any, sample_filings: Path) -> None:
    told = client.get(f"/filings/{FILING}")
    assert {"name": "income", "first_page_number": 9, "last_page_number": 9} in told.json()["statements"]
    assert str(sample_filings) not in told.text
    assert "source" not in told.json()


def test_a_figure_is_framed(client: Any) -> None:
    plain = client.get(f"/pages/{FILING}/9.png")
    framed = client.get(f"/pages/{FILING}/9.png", params={"figure": "net income", "fiscal_year": 2022})
    assert plain.content[:8] == framed.content[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(plain.content) != len(framed.content)


def test_a_picture_is_of_bounded_size(client: Any) -> None:
    from fin_agent.filings.page_rendering import size_of

    assert max(size_of(client.get(f"/pages/{FILING}/9.png", params={"dpi": 200}).content)) <= BOUNDS.longest_side


WRONG = [
    ("POST", "/ask", {"json": {}}, 422, "question"),
    ("POST", "/ask", {"json": {"question": ""}}, 422, "question"),
    ("POST", "/ask", {"json": {"question": "   "}}, 422, "question"),
    ("POST", "/ask", {"json": {"question": "x" * 2001}}, 422, "question"),
    ("POST", "/ask", {"content": b'{"question": "\\ud800"}'}, 422, "unicode"),
    ("POST", "/ask", {"json": {"question": QUESTION, "unheard": 1}}, 422, "unheard"),
    ("POST", "/ask", {"json": {"question": QUESTION, "doc_ids": ["nope"]}}, 422, "no filing with the id 'nope'"),
    ("POST", "/ask", {"json": {"question": QUESTION, "doc_ids": ["nope"], "stream": True}}, 422, "no filing"),
    (
        "POST",
        "/ask",
        {"json": {"question": QUESTION, "company": "Apple"}},
        422,
        "does not clearly name an indexed company",
    ),
    ("POST", "/ask", {"json": {"question": QUESTION, "fiscal_year": 2031}}, 422, "there is no filing of fiscal 2031"),
    ("POST", "/ask", {"content": b"{"}, 422, "Send JSON in UTF-8"),
    ("POST", "/ask", {"content": b"[]"}, 422, ""),
    ("POST", "/ask", {"content": b"\x80\x81"}, 422, "Send JSON in UTF-8"),
    ("GET", "/search", {}, 422, "query"),
    ("GET", "/search", {"params": {"query": "x", "k": 0}}, 422, "k"),
    ("GET", "/search", {"params": {"query": "x", "level": "word"}}, 422, "level"),
    ("GET", "/search", {"params": {"query": "x", "pages": "one", "doc_ids": FILING}}, 422, "not a page or a range"),
    ("GET", "/search", {"params": {"query": "x", "level": "document", "pages": "3"}}, 422, "takes no pages"),
    ("GET", "/filings/nope", {}, 404, "no filing"),
    ("GET", "/filings/..%2f..%2fetc%2fpasswd", {}, 404, ""),
    ("GET", "/pages/nope/1.png", {}, 404, "no filing"),
    ("GET", f"/pages/{FILING}/0.png", {}, 422, "page_number"),
    ("GET", f"/pages/{FILING}/18.png", {}, 404, "there is no page 18"),
    ("GET", f"/pages/{FILING}/9.png", {"params": {"box": "1,2,3"}}, 422, "four numbers"),
    ("GET", f"/pages/{FILING}/9.png", {"params": {"box": "nan,0,10,10"}}, 422, "not a box"),
    ("GET", f"/pages/{FILING}/9.png", {"params": {"box": "10,10,5,5"}}, 422, "not a box"),
    ("GET", f"/pages/{FILING}/9.png", {"params": {"box": "1000,1000,1010,1010"}}, 422, "not on page 9"),
    ("GET", f"/pages/{FILING}/9.png", {"params": {"figure": "gross bookings"}}, 404, "no figure called"),
    ("GET", f"/pages/{FILING}/9.png", {"params": {"dpi": 1000}}, 422, "dpi"),
    ("GET", "/nope", {}, 404, "nothing at this path"),
    ("GET", "/ask", {}, 405, "does not support this method"),
    ("GET", "/redoc", {}, 404, ""),
]


@pytest.mark.parametrize(("method", "path", "given", "status", "said"), WRONG)
def test_what_is_wrong_is_said_with_what_to_do(
    client: Any, method: str, path: str, given: dict[str, Any], status: int, said: str
) -> None:
    headers = {"content-type": "application/json"} if method == "POST" else {}
    told = client.request(method, path, headers=headers, **given)
    assert told.status_code == status, told.text
    problem = told.json()
    assert list(problem) == ["what", "subject", "remedy"]
    assert said in told.text
    assert problem["what"]
    assert problem["remedy"]


def test_a_file_that_changed_is_not_drawn_and_its_place_is_not_told(tmp_path: Path, sample_filings: Path) -> None:
    from fin_agent.evidence.filing_preparation import prepare
    from fin_agent.index.ingest import ingest

    file = tmp_path / "filings" / f"{FILING}.pdf"
    file.parent.mkdir()
    shutil.copy(sample_filings / file.name, file)
    with SqliteIndex.create(tmp_path / "index") as index:
        ingest([file], index, prepare, workers=0)
        with file.open("ab") as changed:
            changed.write(b"%")
        with api_over(ToolContext.of(Workspace(index), Settings())) as address:
            told = httpx.get(f"{address}/pages/{FILING}/1.png")
            file.unlink()
            gone = httpx.get(f"{address}/pages/{FILING}/1.png")
            answered = httpx.post(f"{address}/ask", json={"question": QUESTION}, timeout=60)
            ingest([sample_filings / "tellurond_2024_8k.pdf"], index, prepare, workers=0)
            listed = httpx.get(f"{address}/filings")
    for each, said in ((told, "has changed"), (gone, "is gone")):
        assert each.status_code == 409
        assert said in each.json()["what"]
        assert str(tmp_path) not in each.text
    assert answered.json()["answer"]["value"] == 544.0
    assert listed.json()["total"] == 2  # what is ingested meanwhile is there


def test_many_are_answered_at_once_and_each_gets_its_own_answer(api: str) -> None:
    values = {"FY2022": 474.0, "FY2023": 544.0, "FY2021": 482.0}

    def asked(period: str) -> float:
        question = f"What was Harborlight's net income in {period}?"
        return float(httpx.post(f"{api}/ask", json={"question": question}, timeout=60).json()["answer"]["value"])

    periods = [*values] * 2
    with ThreadPoolExecutor(len(periods)) as pool:
        assert list(pool.map(asked, periods)) == [values[period] for period in periods]
