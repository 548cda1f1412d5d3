"""The graphs as Studio gets them: what a person sets becomes a context, stops show what follows, errors reach them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import ValidationError

from fin_agent.answering.answer import Answer
from fin_agent.graphs.answer import AnswerContext
from fin_agent.graphs.answer.graph import answer_builder
from fin_agent.graphs.exported import answer, graphs, rerank, search
from fin_agent.graphs.exported.graphs import (
    EDITED_PROGRAM,
    ON_SAMPLES,
    Controls,
    RerankControls,
    RunFailedError,
    SearchControls,
    on_samples,
    open_context,
    with_program_review,
)

LOOKUP = "What were Quillmark's merchandise inventories at the end of fiscal 2023?"
HOLDER = ("quillmark_2023_10k", 9)


@pytest.fixture
def nobodys_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Whose index is not there, and none is named."""
    monkeypatch.delenv("FIN_AGENT_INDEX", raising=False)
    monkeypatch.setattr(platformdirs, "user_data_path", lambda name: tmp_path / name)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: tmp_path / "cache" / name)
    return tmp_path


class TestControls:
    def test_what_is_set_goes_before_the_environment_and_what_is_not_does_not(
        self, sample_index: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FIN_AGENT_ROUNDS", "2")
        monkeypatch.setenv("FIN_AGENT_PASSAGES", "7")
        settings = open_context(Controls(index=str(sample_index), rounds=3)).settings
        assert (settings.rounds, settings.passages) == (3, 7)

    def test_the_same_settings_share_one_context_and_all_share_the_index(self, sample_index: Path) -> None:
        first, second = (open_context(Controls(index=str(sample_index))) for _ in range(2))
        other = open_context(Controls(index=str(sample_index), rounds=1))
        assert first is second
        assert other is not first
        assert other.workspace is first.workspace

    def test_what_is_not_a_control_is_refused(self) -> None:
        with pytest.raises(ValidationError, match="ruonds"):
            Controls.model_validate({"ruonds": 1})

    @pytest.mark.parametrize("controls", [SearchControls, Controls, RerankControls])
    def test_each_is_described(self, controls: type[SearchControls]) -> None:
        assert all(field.description for field in controls.model_fields.values())


class TestIndex:
    def test_without_one_the_sample_filings_are_indexed_once(
        self, nobodys_home: Path, sample_filings: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one = nobodys_home / "filings"
        one.mkdir()
        shutil.copy(sample_filings / "quillmark_2024_8k.pdf", one)
        monkeypatch.setattr(graphs, "SAMPLES", one)
        made = open_context(Controls())
        assert [entry.doc_id for entry in made.workspace.index.entries()] == ["quillmark_2024_8k"]
        monkeypatch.setattr(graphs, "ingest", lambda *given, **named: pytest.fail("read again"))
        assert open_context(Controls()) is made
        assert search.invoke({"question": LOOKUP}, context=SearchControls())["warnings"] == [ON_SAMPLES]

    def test_without_one_and_without_sample_filings_it_says_how_to_make_one(
        self, nobodys_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(graphs, "SAMPLES", nobodys_home / "nothing")
        with pytest.raises(RunFailedError, match=r"there is no index yet\. Make one with `fin-agent ingest PATH"):
            answer.invoke({"question": LOOKUP}, context=Controls())

    def test_ones_own_goes_before_the_sample_filings(self, nobodys_home: Path, sample_index: Path) -> None:
        shutil.copytree(sample_index, nobodys_home / "fin-agent" / "index")
        assert len(open_context(Controls()).workspace.index.entries()) == 15
        assert not on_samples(None)

    def test_one_that_is_named_and_not_there_is_an_error_whoever_named_it(
        self, nobodys_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(RunFailedError, match="there is no index here"):
            search.invoke({"question": LOOKUP}, context=SearchControls(index=str(nobodys_home / "x")))
        monkeypatch.setenv("FIN_AGENT_INDEX", str(nobodys_home / "y"))
        with pytest.raises(RunFailedError, match="y: there is no index here"):
            rerank.invoke({"question": LOOKUP}, context=RerankControls())

    def test_without_a_question_it_says_so(self) -> None:
        with pytest.raises(RunFailedError, match="there is no question"):
            answer.invoke({}, context=Controls())


def test_exported_graphs_have_no_checkpointer() -> None:
    assert all(graph.checkpointer is None for graph in (answer, search, rerank))


def test_the_exported_graph_answers_as_the_plain_one(sample_index: Path, ask: Callable[[str], Answer]) -> None:
    ended = answer.invoke({"question": LOOKUP}, context=Controls(index=str(sample_index)))
    assert ended["answer"] == ask(LOOKUP).model_copy(update={"seconds": 0.0})


class TestSearchAndRerank:
    def test_search_finds_what_the_answer_graph_finds(self, sample_index: Path, ask: Callable[[str], Answer]) -> None:
        controls = SearchControls(index=str(sample_index))
        found = search.invoke({"question": LOOKUP}, context=controls)
        assert next(page.key for page in found["pages"]) == HOLDER
        assert {(each.doc_id, each.page) for each in found["passages"]} <= {
            (page.doc_id, page.page) for page in ask(LOOKUP).retrieved.pages
        }
        assert not found["missing"]
        nowhere = search.invoke({"question": "What was Apple's revenue in 2022?"}, context=controls)
        assert "'Apple' is not in the index" in nowhere["missing"][0]

    def test_rerank_finds_its_candidates_and_puts_the_holder_first(self, sample_index: Path) -> None:
        controls = RerankControls(index=str(sample_index), candidates=30, kept=5)
        ended = rerank.invoke({"question": LOOKUP}, context=controls)
        first = ended["ranked"][0]
        assert ((first.doc_id, first.page), len(ended["ranked"])) == (HOLDER, 5)
        assert ended["groups"]
        assert "inventories" in first.text.casefold()

    def test_a_candidate_that_is_not_there_is_named(self, sample_index: Path) -> None:
        given: Any = {"question": LOOKUP, "candidates": [{"doc_id": "nobody", "page": 0, "ordinal": 3}]}
        with pytest.raises(Exception, match="nobody: passage 3 on page 1 is not in the index"):
            rerank.invoke(given, context=RerankControls(index=str(sample_index)))


class TestProgramsShown:
    @pytest.fixture
    def resumed(self, context: AnswerContext) -> Callable[[object], Answer]:
        """The answer of a run that stopped at its program, resumed with that."""
        graph = answer_builder(AnswerContext, lambda given: given).compile(checkpointer=InMemorySaver())
        stopping = replace(context, analyst=with_program_review(context.analyst))

        def run(answer: object) -> Answer:
            config: Any = {"configurable": {"thread_id": "1"}}
            stopped = graph.invoke({"question": LOOKUP}, config, context=stopping)
            assert "return inventories_fy2023" in stopped["__interrupt__"][0].value["program"]
            ended: Answer = graph.invoke(Command(resume=answer), config, context=stopping)["answer"]
            return ended

        return run

    def test_true_runs_it(self, resumed: Callable[[object], Answer]) -> None:
        answered = resumed(True)
        assert answered.answer.value == 945162 and answered.warnings == ()

    def test_false_refuses_it(self, resumed: Callable[[object], Answer]) -> None:
        answered = resumed(False)
        assert answered.refused
        assert "the program was not approved to run" in answered.missing[0]

    def test_one_that_was_changed_is_checked_run_and_told(self, resumed: Callable[[object], Answer]) -> None:
        changed = (
            "def solution():",
            "    inventories_fy2023 = 945162",
            "    shown = inventories_fy2023",
            "    return shown",
        )
        answered = resumed({"program": "\n".join(changed)})
        assert answered.answer.value == 945162
        assert EDITED_PROGRAM in answered.warnings

    def test_a_number_of_ones_own_is_refused(self, resumed: Callable[[object], Answer]) -> None:
        answered = resumed({"program": "def solution():\n    return 945162 + 4711\n"})
        assert answered.refused
        assert any("4711" in missing for missing in answered.missing)
