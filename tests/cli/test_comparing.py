"""`compare`: strategies over the sample filings, on questions whose pages the samples say."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.search_query import (
    DEFAULT_DEPTH,
    EVERYTHING,
    Depth,
    Query,
    RankedFiling,
    RankedPage,
    Scope,
    SearchResult,
)
from fin_agent.retrieval.strategies.protocol import Strategy
from tests.cli.by_model import MODEL, settings, used
from tests.cli.running import Ran
from tests.models.openai_server import ChatRequest, HttpError, OpenAIServer, Reply

REASON = 'needs `pip install ".[evaluation]"`'
ASKED = ("revenue", "cost_of_revenue")
YEARS = (2022, 2024)


@pytest.fixture(scope="module")
def libraries() -> None:
    for name in ("scipy", "sacrebleu"):
        pytest.importorskip(name, reason=REASON)


@pytest.fixture(scope="module")
def questions(sample_filings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One question per company, year and figure of ASKED, in the published form."""
    path = tmp_path_factory.mktemp("compared") / "questions.jsonl"
    filings: list[dict[str, Any]] = json.loads((sample_filings / "expected.json").read_text(encoding="utf-8"))
    lines = [
        line_of(filing, figure)
        for filing in filings
        if filing["form"] == "10-K" and filing["fiscal_year"] in YEARS
        for figure in filing["figures"]
        if figure["metric"] in ASKED and figure["statement"] == "income"
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def line_of(filing: dict[str, Any], figure: dict[str, Any]) -> dict[str, Any]:
    return {
        "financebench_id": f"{filing['doc_id']}-{figure['metric']}",
        "company": filing["company"],
        "doc_name": filing["doc_id"],
        "question_type": "metrics-generated" if figure["metric"] == "revenue" else "domain-relevant",
        "question": f"What was the {figure['label']} of {filing['company']} for FY{filing['fiscal_year']}?",
        "answer": str(figure["values"][0]["amount"]),
        "evidence": [
            {
                "doc_name": filing["doc_id"],
                "evidence_page_num": figure["page"],
                "evidence_text": f"{figure['label']} {figure['values'][0]['amount']}",
            }
        ],
    }


class Stumbling:
    """Always finds the same page of the same filing; fails on the questions about one company."""

    name = "stumbling"

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = DEFAULT_DEPTH) -> SearchResult:
        if "Tellurond" in query.text:
            raise LookupError("no such vector")
        page = PageKey("harborlight_2022_10k", 8)
        return SearchResult((RankedFiling(page.doc_id, 1.0, ()),), (RankedPage(page, 1.0, ()),), ())


@pytest.fixture
def stumbling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The strategy `stumbling`, beside the real ones."""
    from fin_agent.cli import benchmarks

    real: Callable[..., Strategy] = benchmarks.strategy_for

    def strategy_for(settings: Any, *given: Any, **named: Any) -> Strategy:
        return Stumbling() if settings.strategy == "stumbling" else real(settings, *given, **named)

    monkeypatch.setattr(benchmarks, "strategy_for", strategy_for)


def compare(questions: Path, index: Path, *options: object, strategies: str = "default,bm25") -> Ran:
    arguments = ("--strategies", strategies, "--questions", questions, "--index", index, "--resamples", 200)
    return Ran("compare", *arguments, *options)


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("libraries")
class TestComparing:
    def test_tables_and_files(self, questions: Path, sample_index: Path, tmp_path: Path) -> None:
        ran = compare(questions, sample_index, "--out", tmp_path / "deep" / "out")
        assert ran.code == 0, ran.err
        assert max(map(len, ran.out.splitlines())) <= 100
        for title in (
            "12 questions, the first 5",
            "Differences in page recall",
        ):
            assert title in ran.out
        ours, *_ = (line.split() for line in ran.out.splitlines() if line.startswith("default "))
        assert ours[1] == "100.0"
        written = {path.name for path in (tmp_path / "deep" / "out").iterdir()}
        assert written == {"summary.csv", "rows.csv", "misses.csv"}
        rows = lines_of(tmp_path / "deep" / "out" / "rows.csv")
        assert len(rows) == 24
        ours_found = [row for row in rows if row["strategy"] == "default"]
        assert all(row["page_recall_of_passages"] == "1.0" for row in ours_found)
        assert all(float(row["rouge_l"]) > 0 for row in ours_found)
        assert lines_of(tmp_path / "deep" / "out" / "misses.csv") == []

    def test_json_is_the_same_again_but_for_seconds(self, questions: Path, sample_index: Path) -> None:
        first, second = (compare(questions, sample_index, "--json").document for _ in range(2))
        assert first["report"]["questions"] == 12
        assert list(dict.fromkeys(group["strategy"] for group in first["report"]["groups"])) == ["default", "bm25"]
        assert (first["failed"], len(first["files"])) == ([], 3)
        for document in (first, second):
            del document["seconds"]
            for group in document["report"]["groups"]:
                assert group.pop("median_seconds") > 0
                assert group.pop("p95_seconds") > 0
        assert first == second

    def test_right_pages_given_leave_nothing_to_miss(self, questions: Path, sample_index: Path) -> None:
        for group in compare(questions, sample_index, "--oracle", "page", "--json").document["report"]["groups"]:
            assert group["page_recall_of_pages"]["mean"] == 1.0, group["strategy"]
            assert group["page_precision"]["mean"] == 1.0, group["strategy"]

    def test_the_right_filing_given_is_the_only_one_found(self, questions: Path, sample_index: Path) -> None:
        ran = compare(questions, sample_index, "--oracle", "document", "--json")
        assert {group["document_recall"]["mean"] for group in ran.document["report"]["groups"]} == {1.0}

    @pytest.mark.usefixtures("stumbling")
    def test_failures_are_told_and_the_rest_is_compared(self, questions: Path, sample_index: Path) -> None:
        ran = compare(questions, sample_index, "--json", strategies="default,stumbling,nonsense")
        assert ran.code == 3
        assert "nonsense is left out: strategy 'nonsense': there is no strategy" in ran.err
        assert "stumbling failed on 4 of 12 questions" in ran.err
        assert {failure["reason"] for failure in ran.document["failed"]} == {"unexpected LookupError: no such vector"}
        overall = {
            group["strategy"]: group for group in ran.document["report"]["groups"] if group["section"] == "overall"
        }
        assert overall["stumbling"]["failed"] == 4
        assert overall["stumbling"]["page_recall_of_pages"]["mean"] == pytest.approx(2 / 12)
        (pair,) = ran.document["report"]["pairs"]
        assert (pair["first"], pair["second"], pair["difference"]["mean"] > 0) == ("default", "stumbling", True)

    @pytest.mark.usefixtures("stumbling")
    def test_misses_are_those_of_the_first_strategy(self, questions: Path, sample_index: Path, tmp_path: Path) -> None:
        compare(questions, sample_index, "--out", tmp_path, strategies="stumbling,default")
        misses = lines_of(tmp_path / "misses.csv")
        assert len(misses) == 12
        assert {miss["pages"] for miss in misses} == {"", "harborlight_2022_10k:8"}

    def test_no_strategy_at_all_is_an_error(self, questions: Path, sample_index: Path) -> None:
        ran = compare(questions, sample_index, strategies="nonsense")
        assert (ran.code, ran.out) == (1, "")
        assert "no strategy can be set up" in ran.err

    def test_the_line_that_the_guide_shows_can_be_compared(self, sample_index: Path, tmp_path: Path) -> None:
        guide = (Path(__file__).parents[2] / "docs" / "searching.md").read_text(encoding="utf-8")
        (shown,) = [line for line in guide.splitlines() if line.startswith('{"financebench_id"')]
        (tmp_path / "questions.jsonl").write_text(shown, encoding="utf-8")
        ran = compare(tmp_path / "questions.jsonl", sample_index, "--json", strategies="default")
        assert ran.code == 0 and "warning" not in ran.err
        assert ran.document["report"]["groups"][0]["page_recall_of_passages"]["mean"] == 1.0

    def test_no_answers_are_needed(self, questions: Path, sample_index: Path, tmp_path: Path) -> None:
        lines = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
        for line in lines:
            for name in ("answer", "company", "question_type"):
                del line[name]
        (tmp_path / "short.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        ran = compare(tmp_path / "short.jsonl", sample_index, "--json", strategies="bm25")
        usual = compare(questions, sample_index, "--json", strategies="bm25")
        found, wanted = (each.document["report"]["groups"][0]["page_recall_of_pages"] for each in (ran, usual))
        assert ran.code == 0 and found == wanted

    def test_rules_read_what_each_strategy_finds(self, questions: Path, sample_index: Path) -> None:
        ran = compare(questions, sample_index, "--reader", "rules", "--json")
        ours, words = (group for group in ran.document["report"]["groups"] if group["section"] == "overall")
        assert ours["answer_right"]["mean"] == 1.0 > words["answer_right"]["mean"]
        assert compare(questions, sample_index, "--json").document["report"]["groups"][0]["answer_right"] is None

    def test_a_chat_model_reads_and_what_it_cannot_answer_is_wrong(
        self, questions: Path, sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
        lines = questions.read_text(encoding="utf-8").splitlines()[:2]
        (tmp_path / "two.jsonl").write_text("\n".join(lines), encoding="utf-8")
        asked = [json.loads(line) for line in lines]

        def said(request: ChatRequest) -> Reply | HttpError:
            if asked[1]["question"] in request.text:
                return HttpError(500)
            figure = f"{Decimal(asked[0]['answer']):,f}"
            number, quote = next(
                (number, line)
                for number, passage in enumerate(re.split(r"<passage-\w+ number", request.text))
                for line in passage.splitlines()
                if figure in line and number
            )
            sentence = {"text": f"It was {figure}.", "citations": [{"passage": number, "quote": quote}]}
            return Reply(json.dumps({"sentences": [sentence], "answer": f"It was {figure}.", "verdict": "none"}))

        with OpenAIServer(said) as server:
            used(monkeypatch, settings(server))
            ran = compare(tmp_path / "two.jsonl", sample_index, "--reader", MODEL, "--json", strategies="default")
        assert ran.document["report"]["groups"][0]["answer_right"]["mean"] == 0.5, ran.err
        assert server.requests

    @pytest.mark.parametrize("width", [80, 100, 120])
    def test_names_are_whole_at_every_width(
        self, questions: Path, sample_index: Path, monkeypatch: pytest.MonkeyPatch, width: int
    ) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        name = "query-expansion:page-then-chunk:bm25"
        lines = compare(questions, sample_index, strategies=f"default,{name}").out.splitlines()
        assert max(map(len, lines)) <= width
        assert sum(name in line for line in lines) == 5  # a table each
        assert not any("…" in line for line in lines)
        assert "published" not in "".join(lines)

    def test_filings_that_are_not_there_are_named(self, questions: Path, empty_index: Path) -> None:
        ran = compare(questions, empty_index, "--oracle", "document", "--json", strategies="default")
        assert "6 of the filings asked about are not in the index: harborlight_2022_10k" in ran.err
        assert ran.document["report"]["groups"][0]["document_recall"]["mean"] == 0.0


@pytest.mark.parametrize(
    ("options", "strategies", "said"),
    [
        (["--oracle", "answer"], "default", "--oracle"),
        (["--k", "0"], "default", "--k"),
        ([], " , ", "at least one strategy"),
    ],
)
def test_wrong_usage(options: list[str], strategies: str, said: str, tmp_path: Path) -> None:
    ran = compare(tmp_path / "none.jsonl", tmp_path, *options, strategies=strategies)
    assert (ran.code, ran.out) == (2, "")
    assert said in " ".join(ran.err.replace("│", " ").split())


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("fin_agent.errors.find_spec", lambda name: None if name == "sacrebleu" else object())
    ran = compare(tmp_path / "none.jsonl", tmp_path)
    assert ran.code == 1
    assert "not installed: sacrebleu" in ran.err
    assert 'pip install ".[evaluation]"' in ran.err
