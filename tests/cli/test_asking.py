"""Questions asked, at once, step by step, and watched on a terminal."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from fin_agent.analyst.events import CallBegun, CallEnded, Event, StepBegun
from fin_agent.cli import app
from fin_agent.cli.asking import update_line
from tests.cli.running import CONTRACT, LOOKUP, UNKNOWN_COMPANY, Ran, without_seconds


class TestAsk:
    def test_shows_the_figure_with_its_filing_and_page(self, sample_index: Path, sample_filings: Path) -> None:
        expected = json.loads((sample_filings / "expected.json").read_text(encoding="utf-8"))
        filing = next(each for each in expected if each["doc_id"] == "harborlight_2023_10k")
        printed = next(figure for figure in filing["figures"] if figure["metric"] == "revenue")
        ran = Ran("ask", LOOKUP, "--index", sample_index)
        assert ran.code == 0
        row = next(line for line in ran.out.splitlines() if line.startswith("revenue"))
        assert row.split()[-5:] == [
            "FY2023",
            f"${printed['values'][0]['amount']:,}",
            "million",
            "harborlight_2023_10k",
            str(printed["page"] + 1),
        ]
        assert "def solution():" in ran.out
        assert "1 round" in ran.out.splitlines()[-1]
        assert not ran.err

    def test_json_is_the_contract(self, sample_index: Path) -> None:
        answer = Ran("ask", LOOKUP, "--index", sample_index, "--json").document
        assert list(answer) == CONTRACT
        assert list(answer["answer"]) == ["value", "unit", "text"]
        assert list(answer["citations"][0]) == ["doc_id", "page", "text", "box"]
        assert list(answer["retrieved"]) == ["documents", "pages", "passages"]
        assert list(answer["retrieved"]["pages"][0]) == ["doc_id", "page"]
        assert list(answer["retrieved"]["passages"][0]) == ["doc_id", "page", "text"]
        assert answer["id"] is None

    def test_trace_is_added_only_where_asked_for(self, sample_index: Path) -> None:
        answer = Ran("ask", LOOKUP, "--index", sample_index, "--json", "--trace").document
        assert list(answer) == [*CONTRACT, "trace"]
        nodes = [step["node"] for step in answer["trace"]]
        shown = Ran("ask", LOOKUP, "--index", sample_index, "--trace").out
        places = [shown.index(f" {number} {node.replace('_', ' ')}  ") for number, node in enumerate(nodes, start=1)]
        assert nodes[0] == "rewrite_query"
        assert places == sorted(places)

    def test_same_question_gives_the_same_but_for_the_time(self, sample_index: Path) -> None:
        first, second = (Ran("ask", LOOKUP, "--index", sample_index, "--json").document for _ in range(2))
        assert without_seconds(first) == without_seconds(second)

    def test_refusal_has_its_own_exit_code_and_says_what_is_missing(self, sample_index: Path) -> None:
        ran = Ran("ask", UNKNOWN_COMPANY, "--index", sample_index)
        assert ran.code == 4
        assert "Refused" in ran.out
        assert "'Apple' is not in the index" in ran.out
        as_json = Ran("ask", UNKNOWN_COMPANY, "--index", sample_index, "--json")
        assert as_json.code == 4
        assert as_json.document["refused"] is True

    def test_text_answer_quotes_its_source(self, sample_index: Path) -> None:
        question = "Who will retire as President and Chief Executive Officer of Tellurond?"
        ran = Ran("ask", question, "--index", sample_index)
        cited = Ran("ask", question, "--index", sample_index, "--json").document["citations"][0]
        assert f"{cited['doc_id']}, page {cited['page'] + 1}" in ran.out
        assert cited["text"][:40] in ran.out

    def test_doc_restricts_the_search(self, sample_index: Path) -> None:
        answer = Ran("ask", LOOKUP, "--doc", "harborlight_2024_10k", "--index", sample_index, "--json").document
        assert answer["retrieved"]["documents"] == ["harborlight_2024_10k"]

    def test_unknown_doc_is_an_error(self, sample_index: Path) -> None:
        ran = Ran("ask", LOOKUP, "--doc", "nowhere", "--index", sample_index, "--json")
        assert (ran.code, ran.out) == (1, "")
        hint = f"`fin-agent filings --index {sample_index}` lists those that are"
        assert ran.err == f"error: nowhere: this filing is not in the index. {hint}\n"

    def test_empty_index_is_warned_about(self, empty_index: Path) -> None:
        ran = Ran("ask", UNKNOWN_COMPANY, "--index", empty_index, "--json")
        assert ran.code == 4
        assert ran.err.startswith("warning: the index in ")
        assert ran.document["refused"] is True


class TestErrors:
    def test_are_told_without_a_traceback(self, tmp_path: Path) -> None:
        ran = Ran("ask", LOOKUP, "--index", tmp_path / "none")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith("error: ")
        assert "fin-agent ingest" in ran.err
        assert "Traceback" not in ran.err

    def test_debug_shows_the_traceback_too(self, tmp_path: Path) -> None:
        ran = Ran("ask", LOOKUP, "--index", tmp_path / "none", "--debug")
        assert ran.code == 1
        assert "Traceback" in ran.err
        assert ran.err.splitlines()[-1].startswith("error: ")

    def test_unexpected_ones_ask_for_a_report(self, sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*arguments: object, **named: object) -> None:
            raise KeyError("revenue")

        monkeypatch.setattr("fin_agent.cli.asking.answer_question", broken)
        ran = Ran("ask", LOOKUP, "--index", sample_index)
        assert ran.code == 1
        assert ran.err.startswith("error: unexpected KeyError")

    @pytest.mark.parametrize(
        "arguments", [["ask"], ["search", "x", "--level", "word"], ["search", "x", "--k", "0"], ["batch", "x"], ["no"]]
    )
    def test_wrong_usage_is_2(self, arguments: list[str]) -> None:
        assert Ran(*arguments).code == 2


class TestSearch:
    @pytest.mark.parametrize("level", ["document", "page", "passage"])
    def test_lists_k_results_best_first(self, level: str, sample_index: Path) -> None:
        found = Ran("search", LOOKUP, "--level", level, "--k", 3, "--index", sample_index, "--json").document
        scores = [result["score"] for result in found["results"]]
        assert [result["rank"] for result in found["results"]] == [1, 2, 3]
        assert scores == sorted(scores, reverse=True)
        assert found["results"][0]["doc_id"] == "harborlight_2023_10k"

    def test_people_see_pages_counted_from_one(self, sample_index: Path) -> None:
        arguments = ("search", LOOKUP, "--level", "page", "--k", 1, "--index", sample_index)
        best = Ran(*arguments, "--json").document["results"][0]
        row = Ran(*arguments).out.splitlines()[-1].split()
        assert row[:3] == ["1", best["doc_id"], str(best["page"] + 1)]

    def test_more_results_than_a_round_reads(self, sample_index: Path) -> None:
        found = Ran("search", "net sales", "--level", "page", "--k", 40, "--index", sample_index, "--json").document
        assert len(found["results"]) == 40

    def test_page_scores_are_taken_apart_biggest_first(self, sample_index: Path) -> None:
        arguments = ("search", LOOKUP, "--level", "page", "-k", 12, "--index", sample_index)
        for result in Ran(*arguments, "--json").document["results"]:
            parts = list(result["features"].values())
            assert sum(parts) == pytest.approx(result["score"], abs=0.01)
            assert parts == sorted(parts, key=abs, reverse=True) and 0 not in parts

    def test_company_that_is_not_there_is_warned_about(self, sample_index: Path) -> None:
        ran = Ran("search", UNKNOWN_COMPANY, "--index", sample_index)
        assert ran.code == 0
        assert ran.err.startswith("warning: the company 'Apple' is not in the index")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(*events: Event) -> str:
    """What stands there after these events."""
    line = ["reading the question"]
    for event in events:
        update_line(line, event)
    return " · ".join(line)


STEP = StepBegun(node="answer_with_reasoning", round=2)
ASKED = CallBegun(role="reasoning", model="openai:gpt-4o")
ENDED = CallEnded(role="reasoning", model="openai:gpt-4o", input_tokens=9, output_tokens=9, dollars=None)


def test_the_step_and_the_model_at_work() -> None:
    assert shown() == "reading the question"
    assert shown(STEP, ASKED) == "answer with reasoning, round 2 · reasoning by openai:gpt-4o"
    assert shown(STEP, ASKED, ENDED) == "answer with reasoning, round 2"


@pytest.mark.parametrize("error", [io.StringIO, Terminal])
def test_standard_output_is_the_document_alone(
    sample_index: Path, monkeypatch: pytest.MonkeyPatch, error: type[io.StringIO]
) -> None:
    monkeypatch.setattr(sys, "stderr", messages := error())
    monkeypatch.setattr(sys, "stdout", out := io.StringIO())
    app(["ask", LOOKUP, "--index", str(sample_index), "--json", "--no-record"], standalone_mode=False)
    assert out.getvalue().startswith("{") and out.getvalue().count("\n") == 1
    assert (messages.getvalue() == "") == (error is io.StringIO)
