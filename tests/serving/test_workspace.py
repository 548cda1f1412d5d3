"""What the workspace asks of the server: conversations, readings, statements, uploads, runs, files to take away."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from fin_agent.config import Recording, Settings
from fin_agent.downloads.settings import EdgarSettings
from fin_agent.models.metering import Budget
from fin_agent.models.settings import ModelSettings
from fin_agent.serving.http_server import MAX_BYTES, Access
from fin_agent.tools.context import ToolContext
from fin_agent.workspace import Workspace
from tests.downloads.edgar_server import CONTACT, filing
from tests.downloads.edgar_server import running as edgar_running
from tests.markup import HOSTILE_MARKUP
from tests.serving.conftest import FILING, TOKEN, events_in, running

httpx = pytest.importorskip("httpx", reason="needs the extra `serving-tests`")
pytest.importorskip("fastapi", reason="needs the extra `serve`")

SAMPLES = Path(__file__).parents[2] / "examples" / "filings"
STATIC = Path(__file__).parents[2] / "fin_agent" / "web" / "static"
INCOME = "What was Harborlight's net income in FY2023?"
TURNOVER = "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from fin_agent.index.ingest import ingest

    folder = tmp_path_factory.mktemp("workspace")
    ingest(
        [SAMPLES / f"{name}.pdf" for name in (FILING, "harborlight_2022_10k", "tellurond_2023_10k")], folder, workers=0
    )
    return folder


def app_over(
    folder: Path,
    access: Access | None = None,
    *,
    uploads: bool = True,
    settings: Settings | None = None,
    models: Sequence[str] = (),
    others: Sequence[Path] = (),
) -> Any:
    from fin_agent.serving.http_api import http_api
    from fin_agent.web.server_options import Storage

    def over(place: Path) -> tuple[ToolContext, Storage]:
        context = ToolContext.of(Workspace.open(place), settings or Settings())
        return context, Storage(place, uploads, Recording())

    context, storage = over(folder)
    further = {place.name: over(place) for place in others}
    return http_api(context, access or Access(), storage=storage, models=models, others=further)


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Any]:
    with running(app_over(folder)) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


class TestPages:
    def test_scripts_come_from_here_alone_and_nothing_may_frame_the_page(self, client: Any) -> None:
        for path in ("/", "/docs", "/static/app.js", "/static/style.css"):
            told = client.get(path)
            assert told.status_code == 200
            policy = told.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy and "*" not in policy
            assert told.headers["x-content-type-options"] == "nosniff"

    def test_no_file_names_another_host(self) -> None:
        elsewhere = re.compile(r"(?:src|href|from|import|url)\W{1,4}(?:https?:)?//", re.I)
        for file in STATIC.iterdir():
            assert not elsewhere.search(file.read_text()), file.name

    def test_no_script_makes_markup_of_a_text(self) -> None:
        for file in STATIC.glob("*.js"):
            assert not re.search(
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", file.read_text()
            )

    def test_the_first_view_is_small(self, client: Any) -> None:
        first = ["index.html", "app.js", "style.css", "icon.svg", "api.js", "dom.js", "proof.js", "ask.js", "answer.js"]
        assert sum((STATIC / name).stat().st_size for name in first) < 400_000

    def test_a_link_from_another_page_opens_the_workspace_and_nothing_else(self, client: Any) -> None:
        followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert client.get("/", headers=followed).status_code == 200
        assert client.get("/filings", headers=followed).status_code == 403
        assert client.get("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}).status_code == 403


class TestWhoMayCall:
    def test_a_server_with_a_token_shows_the_page_and_nothing_of_filings(self, folder: Path) -> None:
        with (
            running(app_over(folder, Access(token=TOKEN))) as address,
            httpx.Client(base_url=address, timeout=60) as client,
        ):
            assert client.get("/").status_code == 200
            assert client.get("/static/app.js").status_code == 200
            for path in ("/workspace", "/filings", "/threads", "/runs", f"/pages/{FILING}/9.json", "/openapi.json"):
                assert client.get(path).status_code == 401, path
            assert client.post("/chat", json={"message": INCOME}).status_code == 401
            assert client.put("/uploads/a.pdf", content=b"x").status_code == 401
            assert client.get("/workspace", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200

    @pytest.mark.parametrize(
        ("method", "path"), [("PUT", "/uploads/a.pdf"), ("POST", "/chat"), ("POST", "/export/csv")]
    )
    def test_pages_of_other_origins_change_nothing(self, client: Any, method: str, path: str) -> None:
        told = client.request(method, path, content=b"{}", headers={"Origin": "https://elsewhere.example"})
        assert told.status_code == 403

    def test_what_is_told_of_the_server_holds_no_place_of_it(self, client: Any, folder: Path) -> None:
        assert str(folder.parent) not in client.get("/workspace").text


class TestConversation:
    def test_five_turns_go_on_from_each_other(self, client: Any) -> None:
        said = []
        for message in (INCOME, "and in 2022?", "as a percentage of revenue?", "where is that?", "thanks"):
            told = client.post("/chat", json={"message": message, "thread": "five"})
            assert told.status_code == 200
            said.append(told.json()["said"])
        assert "$544 million" in said[0] and "$474 million" in said[1] and "14.2%" in said[2]
        assert "page 9" in said[3] and said[4] == "You are welcome."
        kept = client.get("/threads/five").json()
        assert [turn["said"] for turn in kept["turns"]] == said
        assert ("five", 5) in [(each["name"], each["turns"]) for each in client.get("/threads").json()["threads"]]
        client.delete("/threads/five")
        assert client.get("/threads/five").json()["turns"] == []

    def test_events_end_with_the_turn_and_the_run_is_recorded(self, client: Any) -> None:
        told = client.post("/chat", json={"message": INCOME, "thread": "events", "stream": True})
        events = events_in(told.text)
        assert [name for name, _ in events][-1] == "replied"
        assert {"rewrite_query", "verify_answer"} <= {data.get("node") for _, data in events}
        last = events[-1][1]
        assert last["turn"]["answers"][0]["citations"][0]["picture"].startswith(f"/pages/{FILING}/9.png?box=")
        run = client.get(f"/runs/{last['run']}").json()
        assert run["question"] == INCOME and run["answer"]["trace"] and run["steps"]

    def test_messages_that_come_at_once_are_answered_in_turn(self, client: Any) -> None:
        with ThreadPoolExecutor(3) as pool:
            asked = [
                {"message": INCOME.replace("2023", year), "thread": "at-once"} for year in ("2021", "2022", "2023")
            ]
            told = list(pool.map(lambda each: client.post("/chat", json=each), asked))
        assert [each.status_code for each in told] == [200, 200, 200]
        turns = client.get("/threads/at-once").json()["turns"]
        assert sorted(turn["asked"] for turn in turns) == [each["message"] for each in asked]

    def test_a_message_without_a_thread_stands_alone(self, client: Any) -> None:
        told = client.post("/chat", json={"message": "and in 2022?"}).json()
        assert told["answers"] == [] or told["answers"][0]["refused"]


class TestReadings:
    def test_the_words_of_a_question_are_told_apart(self, client: Any) -> None:
        told = client.get("/reading", params={"question": INCOME}).json()
        kinds = {word["kind"]: word["text"] for word in told["words"] if word["kind"]}
        assert kinds == {"company": "Harborlight", "measure": "net income", "period": "FY2023"}
        assert "".join(word["text"] for word in told["words"]) == INCOME

    def test_words_that_no_filing_prints_are_marked(self, client: Any) -> None:
        question = "How much wobbly frobnication did Harborlight have in FY2023?"
        told = client.get("/reading", params={"question": question}).json()
        assert [word["text"] for word in told["words"] if word["kind"] == "unread"] == ["wobbly frobnication"]

    def test_what_can_be_chosen_is_what_is_indexed(self, client: Any) -> None:
        query = client.get("/reading", params={"question": INCOME}).json()["query"]
        told = client.get("/choices", params={"company": query["companies"][0]["key"]}).json()
        assert {"Harborlight Instruments, Inc.", "Tellurond Semiconductor Corporation"} <= {
            each["name"] for each in told["company"]
        }
        assert [each["text"] for each in told["period"]] == ["FY2023", "FY2022", "FY2021", "FY2020"]
        assert "Electronic Test" in told["part"] and "Data Center" not in told["part"]
        measures = {each["text"]: each for each in told["measure"]}
        assert measures["net income"]["metric"] == "net_income" and measures["gross margin"]["formula"]
        assert "Restructuring charges" in measures  # as the income statement prints it

    def test_an_edited_reading_is_asked_as_it_stands(self, client: Any) -> None:
        query = client.get("/reading", params={"question": INCOME}).json()["query"]
        query["periods"] = [{"fiscal_year": 2022}]
        told = client.post("/chat", json={"message": INCOME, "query": query, "thread": "edited"}).json()
        assert told["asked"] == INCOME.replace("FY2023", "FY2022") and "$474 million" in told["said"]
        goes_on = client.post("/chat", json={"message": "as a percentage of revenue?", "thread": "edited"}).json()
        assert "14.2%" in goes_on["said"]
        query["companies"] = [{"key": "cik 1", "name": "<b>Nobody</b>"}]
        refused = client.post("/chat", json={"message": INCOME, "query": query})
        assert refused.status_code == 422 and "not indexed" in refused.json()["what"]

    def test_a_score_is_explained_feature_by_feature(self, client: Any) -> None:
        told = client.get("/found", params={"query": "Harborlight suppliers", "k": 3}).json()
        for page in told["pages"]:
            assert sum(each["share"] for each in page["features"]) == pytest.approx(page["score"], abs=0.01)
            assert all(told["meanings"][each["name"]] for each in page["features"])


class TestFilings:
    def test_statements_have_a_place_for_each_figure(self, client: Any) -> None:
        told = client.get(f"/filings/{FILING}/statements").json()
        income = next(each for each in told["statements"] if each["statement"] == "income")["tables"][0]
        line = next(line for line in income["lines"] if line["label"] == "Net income")
        cell = line["cells"][0]
        assert (cell["text"], cell["amount"], cell["page_number"]) == ("544", 544.0, 9)
        page = client.get(f"/pages/{FILING}/9.json").json()
        assert page["printed_page"] == "8" and page["statement"] == "income"
        assert cell["box"] in [figure["box"] for figure in page["figures"]]

    def test_a_picture_says_how_large_it_was_drawn(self, client: Any) -> None:
        """So that a frame can be found on it, of whatever size the page is."""
        for dpi in (72, 140):
            told = client.get(f"/pages/{FILING}/9.png", params={"dpi": dpi, "box": "72,90,300,101"})
            assert told.headers["picture-dpi"] == str(dpi)
            assert int.from_bytes(told.content[16:20]) == pytest.approx(612 * dpi / 72, abs=1)

    def test_checks_say_what_holds(self, client: Any) -> None:
        told = client.get(f"/filings/{FILING}/checks").json()
        assert told["proved"] > 300 and {each["outcome"] for each in told["checks"]} == {"holds"}

    def test_a_line_over_years_and_companies(self, client: Any) -> None:
        asked = {"phrase": "net income", "company": ["Harborlight", "Tellurond"]}
        told = client.get("/series", params=asked).json()["series"]
        assert {point["fiscal_year"]: point["value"] for point in told[0]["points"]}[2023] == 544e6
        assert len(told) == 2 and all(len(each["points"]) >= 3 for each in told)
        assert client.get("/series", params={"phrase": "net income", "company": "Nobody Inc"}).status_code == 422

    def test_a_balance_is_that_of_the_years_end(self, client: Any) -> None:
        """Not that of a quarter, which a 10-Q of the same fiscal year has."""
        (line,) = client.get("/series", params={"phrase": "total assets", "company": "Tellurond"}).json()["series"]
        values = {point["fiscal_year"]: point["value"] for point in line["points"]}
        assert values[2023] == 12_376e6 and 13_267e6 not in values.values()

    def test_each_row_of_a_statement_is_charted_by_its_own_figures(self, client: Any) -> None:
        """And not by those of a row of the same name: inventories are a balance, and a change in the cash flows."""
        for statement in client.get(f"/filings/{FILING}/statements").json()["statements"]:
            for line in (line for table in statement["tables"] for line in table["lines"] if any(line["cells"])):
                asked = {"phrase": line["label"], "doc_id": FILING} | {
                    name: line[name] for name in ("page_number", "line")
                }
                (series,) = client.get("/series", params=asked).json()["series"]
                own = [each for each in series["points"] if each["doc_id"] == FILING and each["line"] == line["line"]]
                printed = {tuple(cell["box"]): cell["amount"] for cell in line["cells"] if cell}
                assert own and all(printed[tuple(each["box"])] == each["amount"] for each in own), line["label"]

    def test_a_row_goes_on_in_other_filings_and_stands_beside_its_like_of_other_companies(self, client: Any) -> None:
        statements = client.get(f"/filings/{FILING}/statements").json()["statements"]
        flows = next(each for each in statements if each["statement"] == "cash-flow")["tables"][0]["lines"]
        row = next(line for line in flows if line["label"] == "Inventories")
        asked = {"phrase": "Inventories", "doc_id": FILING, "company": ["Tellurond", "Harborlight"]}
        asked |= {name: row[name] for name in ("page_number", "line")}
        own, other = client.get("/series", params=asked).json()["series"]
        assert {each["doc_id"] for each in own["points"]} == {FILING, "harborlight_2022_10k"}
        assert [each["fiscal_year"] for each in own["points"]] == [2020, 2021, 2022, 2023]
        assert all(each["months"] == 12 for each in (*own["points"], *other["points"])) and other["points"]
        assert client.get("/series", params={**asked, "line": 900}).status_code == 404

    def test_a_filing_that_has_gone_is_told_of(self, client: Any) -> None:
        for path in ("/filings/gone/statements", "/filings/gone/checks", "/pages/gone/1.json"):
            told = client.get(path)
            assert told.status_code == 404 and told.json()["what"]


class TestSettings:
    """What one question is asked with: models that the server offers, its presets, limits within its own."""

    @pytest.fixture
    def model(self) -> Iterator[Any]:
        from tests.models.openai_server.server import OpenAIServer

        with OpenAIServer(lambda request: "{}", key=None) as model:
            yield model

    @pytest.fixture
    def offered(self, folder: Path, model: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-kept-at-the-server")
        models = ModelSettings(model="openai:gpt-4o", base_url=model.url, budget=Budget(calls=5))
        app = app_over(folder, settings=Settings(models=models), models=("openai:gpt-4o-mini",))
        with running(app) as address, httpx.Client(base_url=address, timeout=60) as client:
            yield client

    def test_the_page_is_told_what_can_be_chosen_and_no_key(self, offered: Any) -> None:
        told = offered.get("/workspace")
        assert told.json()["models"] == ["rules", "openai:gpt-4o", "openai:gpt-4o-mini"]
        assert told.json()["presets"] == ["fast", "default", "thorough"] and told.json()["budget"]["calls"] == 5
        assert "sk-kept" not in told.text and "127.0.0.1" not in told.text

    def test_rules_alone_ask_no_model(self, offered: Any, model: Any) -> None:
        asked = {"message": "Why did Harborlight's gross margin change in FY2023?", "settings": {"model": "rules"}}
        assert offered.post("/chat", json=asked).status_code == 200
        assert model.log == []

    def test_the_model_chosen_is_asked_within_both_limits(self, offered: Any, model: Any) -> None:
        for chosen, calls in ({"calls": 1}, 1), ({"calls": 50}, 5):
            model.log.clear()
            asked = {"model": "openai:gpt-4o-mini", "preset": "thorough", "budget": chosen}
            told = offered.post("/chat", json={"message": "Why did costs rise?", "settings": asked})
            assert told.status_code == 200
            assert 0 < len(model.requests) <= calls
            assert {request.model for request in model.requests} == {"gpt-4o-mini"}

    def test_what_is_not_offered_is_refused(self, offered: Any) -> None:
        told = offered.post("/chat", json={"message": INCOME, "settings": {"model": "openai:gpt-5.4"}})
        assert told.status_code == 422 and "not offered" in told.json()["what"]
        told = offered.post("/chat", json={"message": INCOME, "settings": {"base_url": "http://elsewhere"}})
        assert told.status_code == 422

    def test_a_further_index_has_its_own_filings_conversations_and_uploads(self, folder: Path, tmp_path: Path) -> None:
        from fin_agent.index.ingest import ingest

        other = tmp_path / "other"
        ingest([SAMPLES / "quillmark_2023_10k.pdf"], other, workers=0)
        with running(app_over(folder, others=[other])) as address, httpx.Client(base_url=address, timeout=60) as client:
            told = client.get("/workspace").json()["indexes"]
            assert told == [{"name": folder.name, "prefix": ""}, {"name": "other", "prefix": "/indexes/other"}]
            asked = {"message": "What was Quillmark's net income in FY2023?", "thread": "here"}
            assert client.post("/chat", json=asked).json()["answers"][0]["refused"]
            assert not client.post("/indexes/other/chat", json=asked).json()["answers"][0]["refused"]
            assert client.get("/indexes/other/filings").json()["total"] == 1
            large = client.put("/indexes/other/uploads/large.pdf", content=b"x" * (MAX_BYTES + 1))
            assert large.status_code == 200 and large.json()["failed"]
            assert client.get("/indexes/none/filings").status_code == 404
        with running(app_over(folder, Access(token=TOKEN), others=[other])) as address:
            assert httpx.get(f"{address}/indexes/other/filings").status_code == 401


class TestUploads:
    def test_a_filing_is_read_and_answers(self, client: Any) -> None:
        name = "quillmark_2023_10k.pdf"
        became = client.put(f"/uploads/{name}", content=(SAMPLES / name).read_bytes()).json()
        assert (became["outcome"], became["doc_id"], became["pages"]) == ("added", "quillmark_2023_10k", 16)
        answer = client.post(
            "/ask", json={"question": "What were Quillmark's merchandise inventories at the end of fiscal 2023?"}
        )
        assert not answer.json()["refused"]
        assert client.get(answer.json()["citations"][0]["picture"]).status_code == 200

    def test_a_broken_one_says_why_and_what_to_do(self, client: Any) -> None:
        became = client.put("/uploads/broken.pdf", content=b"%PDF-1.7\nnothing of it").json()
        assert became["failed"] and became["reason"] and became["remedy"]

    def test_one_does_not_take_the_place_of_another_that_is_called_the_same(self, client: Any) -> None:
        first, other = ((SAMPLES / name).read_bytes() for name in ("quillmark_2023_10k.pdf", "tellurond_2023_10k.pdf"))
        assert client.put("/uploads/same.pdf", content=first).json()["doc_id"] == "same"
        for content in (other, b"%PDF-1.7\nnothing of it"):
            told = client.put("/uploads/same.pdf", content=content)
            assert told.status_code == 422 and "already has another filing" in told.json()["what"]
        assert client.put("/uploads/same.pdf", content=first).json()["outcome"] == "unchanged"
        assert client.put("/uploads/lost.pdf", content=b"%PDF-1.7\nnothing of it").json()["failed"]
        assert client.put("/uploads/lost.pdf", content=other).json()["outcome"] == "added"

    def test_nobody_is_told_where_a_filing_of_the_same_name_was_read_from(self, tmp_path: Path) -> None:
        from fin_agent.index.ingest import ingest

        private = tmp_path / "ann lee's own" / "10-K of 2023"
        private.mkdir(parents=True)
        content = (SAMPLES / f"{FILING}.pdf").read_bytes()
        (private / f"{FILING}.pdf").write_bytes(content)
        ingest([private], tmp_path / "index", workers=0)
        page = b"<html><body><p>FORM 10-K of Acme Corporation</p></body></html>"
        with running(app_over(tmp_path / "index")) as address:
            told = httpx.put(f"{address}/uploads/{FILING}.htm", content=page, timeout=60)
            assert told.json()["reason"].endswith(f"is already used by another file, {FILING}.pdf")
            (private / f"{FILING}.pdf").unlink()
            gone = httpx.get(f"{address}/pages/{FILING}/9.png", timeout=60)
        for each in (told, gone):
            assert "ann lee" not in each.text and "own" not in each.text and str(tmp_path) not in each.text

    def test_more_than_a_filing_is_refused(self, client: Any) -> None:
        assert client.post("/ask", content=b" " * (MAX_BYTES + 1)).status_code == 413
        assert client.put("/uploads/large.pdf", content=b"x" * (MAX_BYTES + 1)).json()[
            "failed"
        ]  # as large as filings are

    def test_filings_come_from_edgar_or_are_said_to_be_lacking(self, folder: Path, tmp_path: Path) -> None:
        pytest.importorskip("tenacity", reason="needs the extra `edgar`")
        with edgar_running() as edgar:
            edgar.put_company(320193, "AAPL", "Apple Inc.", [filing(123, "10-K", "2024-09-28", "2024-11-01")])
            settings = Settings(edgar=EdgarSettings(contact=CONTACT, url=edgar.url, cache=tmp_path / "cache"))
            with running(app_over(folder, settings=settings)) as address:
                told = httpx.post(f"{address}/fetched", json={"company": "AAPL"}, timeout=60)
                unknown = httpx.post(f"{address}/fetched", json={"company": "NOBODY"}, timeout=60)
        (became,) = told.json()["files"]
        assert told.status_code == 200 and became["name"].startswith("AAPL_2024_10K")
        assert unknown.status_code == 422 and unknown.json()["remedy"]

    def test_a_server_that_only_reads_takes_none(self, folder: Path) -> None:
        with running(app_over(folder, uploads=False)) as address:
            told = httpx.put(f"{address}/uploads/a.pdf", content=b"x")
        assert told.status_code == 422 and "does not accept filings" in told.json()["what"]

    def test_names_of_files_never_leave_the_folder(self, client: Any, folder: Path) -> None:
        before = {file for file in folder.parent.rglob("*") if folder / "uploads" not in file.parents}
        climbing = ("../../out.pdf", "..\\out.pdf", "/etc/out.pdf", "a/../../b.pdf", ".pdf", "con.pdf\n")
        for name in (*climbing, *(f"{markup}.pdf" for markup in HOSTILE_MARKUP[::10])):
            told = client.put(f"/uploads/{quote(name, safe='')}", content=b"no filing")
            assert told.status_code in (200, 404, 422)
        after = {file for file in folder.parent.rglob("*") if folder / "uploads" not in file.parents}
        assert {file.name for file in after - before} <= {"ingest.lock", "uploads"}


class TestRuns:
    def test_two_are_compared_and_one_is_replayed(self, client: Any) -> None:
        runs = []
        for message in (INCOME, "What was Harborlight's net income in FY2022?"):
            told = client.post("/chat", json={"message": message, "thread": "runs", "stream": True})
            runs.append(events_in(told.text)[-1][1]["run"])
        assert set(runs) <= {run["id"] for run in client.get("/runs").json()["runs"]}
        told = client.get("/runs/compare", params={"first": runs[0], "second": runs[1]}).json()
        assert {"question", "ledger", "answer"} <= {each["part"] for each in told["differences"]}
        again = client.post(f"/runs/{runs[0]}/replay").json()
        assert again["answer"]["answer"]["value"] == 544.0 and again["same_settings"]

    def test_a_run_that_is_not_there(self, client: Any) -> None:
        for path in ("/runs/none", "/runs/compare?first=none&second=neither"):
            told = client.get(path)
            assert told.status_code == 404 and told.json()["subject"] == "none" and told.json()["remedy"]
        assert client.post("/runs/none/replay").status_code == 404


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))


class TestTakingAway:
    def test_a_workbook_computes_the_answer_from_figures_that_name_their_source(self, client: Any) -> None:
        pytest.importorskip("xlsxwriter", reason="needs the extra `excel`")
        openpyxl = pytest.importorskip("openpyxl", reason="reads workbooks back")
        answer = client.post("/ask", json={"question": INCOME.replace("net income", "net margin")}).json()
        told = client.post("/export/xlsx", json={"answers": [answer]})
        sheet = openpyxl.load_workbook(io.BytesIO(told.content)).active
        inputs = [row[1] for row in sheet.iter_rows(min_row=6) if isinstance(row[1].value, int | float)]
        assert [cell.value for cell in inputs] == [544, 3533]
        assert all(f"{FILING} page 9 line" in cell.comment.text for cell in inputs)
        assert str(sheet["B3"].value).startswith("=")

    def test_a_report_stands_alone_and_holds_the_framed_page(self, client: Any) -> None:
        answer = client.post("/ask", json={"question": INCOME}).json()
        report = client.post("/export/html", json={"answers": [answer]}).text
        assert "data:image/png;base64," in report and "$544 million" in report
        assert not re.search(r"(?:src|href)=.?https?:", report)

    def test_texts_of_filings_and_questions_never_become_markup(self, client: Any) -> None:
        answer = client.post("/ask", json={"question": INCOME}).json()
        plain = _Elements()
        plain.feed(client.post("/export/html", json={"answers": [{**answer, "citations": []}]}).text)
        for hostile in HOSTILE_MARKUP:
            entry = {**answer["ledger"][0], "figure": {**answer["ledger"][0]["figure"], "label": hostile}}
            said = {**answer["answer"], "text": hostile}
            changed = {**answer, "question": hostile, "answer": said, "ledger": [entry], "citations": []}
            seen = _Elements()
            seen.feed(client.post("/export/html", json={"answers": [changed]}).text)
            assert seen.found == plain.found, hostile

    def test_a_cell_of_csv_is_no_formula(self, client: Any) -> None:
        answer = client.post("/ask", json={"question": INCOME}).json()
        told = client.post("/export/csv", json={"answers": [{**answer, "question": '=HYPERLINK("http://x")'}]}).text
        assert "\n'=HYPERLINK" in told.replace("\"'", "'") and "\n=HYPERLINK" not in told


def test_every_line_that_is_offered_is_understood(workspace: Workspace) -> None:
    """Labels with commas, brackets and `and` as well: what a filing prints as one line is one."""
    from fin_agent.query.editing import intent_of_edit, query_for_question, resolve_edited_query
    from fin_agent.query.tree import Line
    from fin_agent.web.views import choices

    def asked(question: str, words: str) -> Any:
        return query_for_question(question, workspace).model_copy(update={"measures": (Line(words=words),)})

    for company in workspace.directory.by_key.values():
        question = f"What was {company.name.split()[0]}'s net income in FY2023?"
        offered = choices(workspace, [company.key])["measure"]
        for text in (each["text"] for each in offered if set(each) == {"text"}):
            typed = asked(question, text)
            intent = intent_of_edit(typed, workspace)
            assert intent.numeric and not intent.unsupported, text
            assert len(list(resolve_edited_query(typed, workspace).lines())) == 1, text
    kept = resolve_edited_query(asked(INCOME, "Treasury stock, at cost"), workspace)
    assert kept.measures == (Line(words="Treasury stock, at cost"),)
