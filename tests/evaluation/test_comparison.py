"""Every strategy answers the same questions under the same conditions, and what fails costs itself only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any

import pytest

from fin_agent.answering.answer import AnswerValue
from fin_agent.evaluation import Oracle
from fin_agent.evaluation.benchmark import PartialResults, Row
from fin_agent.evaluation.comparison import Conditions
from fin_agent.index.protocol import PageKey, StoredPassage
from fin_agent.models.call import Role, Usage
from fin_agent.models.metering import CallRecord, current_meter
from fin_agent.retrieval.search_query import EVERYTHING, Scope, SearchResult
from tests.evaluation.comparisons import FORMS, GOOD, POOR, QUESTIONS, Scripted, compared


class TestScores:
    def test_counts_the_first_k_of_each(self) -> None:
        first, second, third = compared(GOOD).of("good")
        assert (first.figures["page_recall_of_passages"], first.figures["page_recall_of_pages"]) == (1.0, 1.0)
        assert first.figures["page_precision"] == 0.4
        assert (first.figures["gold_ranks"], second.figures["gold_ranks"]) == ([1, 3], [2])
        # The sixth page is gold: neither among the first five pages nor on the pages of the first five passages.
        assert (
            third.figures["page_recall_of_passages"],
            third.figures["page_recall_of_pages"],
            third.figures["gold_ranks"],
        ) == (0.0, 0.0, [6])
        assert third.figures["document_recall"] == 1.0
        assert (third.labels["filing_type"], second.labels["question_type"]) == ("10-Q", "novel-generated")
        assert (first.figures["bleu"], first.figures["rouge_l"]) == (0.25, 0.5)
        assert (first.figures["bleu_of_all"], first.figures["rouge_l_of_all"]) == (0.125, 0.375)

    def test_filings_count_as_listed_and_by_the_passages(self) -> None:
        one_filing = Scripted("one", [("A_2023", page) for page in range(5)] + [("B_2023", 1)])
        third = compared(one_filing).of("one")[2]
        assert (third.figures["document_recall"], third.figures["document_recall_of_passages"]) == (1.0, 0.0)

    def test_what_an_answer_reads_counts_whatever_k_is(self) -> None:
        many = Scripted("many", [("B_2023", page) for page in range(5, 11)] + [("A_2023", 3), ("A_2023", 4)], kept=8)
        first = compared(many).of("many")[0]
        assert (
            first.figures["page_recall_of_passages"],
            first.figures["page_recall_read"],
            first.figures["page_precision_read"],
        ) == (0.0, 1.0, 0.25)
        nothing = compared(Scripted("none", [], kept=0)).of("none")[0]
        assert (
            nothing.figures["page_recall_read"],
            nothing.figures["page_precision_read"],
            nothing.figures["ndcg"],
        ) == (0.0, 0.0, 0.0)

    def test_ndcg_is_of_the_first_ten_pages(self) -> None:
        first, second, third = compared(GOOD).of("good")
        assert first.figures["ndcg"] == pytest.approx((1 + 1 / log2(4)) / (1 + 1 / log2(3)))
        assert second.figures["ndcg"] == pytest.approx(1 / log2(3)) and third.figures["ndcg"] == pytest.approx(
            1 / log2(7)
        )

    def test_calls_of_models_are_counted(self) -> None:
        class Calling(Scripted):
            def search(self, *given: Any) -> SearchResult:
                meter = current_meter()
                assert meter is not None
                usage = Usage(input=100, output=7)
                meter.add(CallRecord(role=Role.CURATION, model="m", prompt="curation", prompt_version="1", usage=usage,
                                     dollars=None, seconds=0.1))  # fmt: skip
                return super().search(*given)

        first = compared(Calling("calling", [("A_2023", 3)])).of("calling")[0]
        assert (first.figures["model_calls"], first.figures["tokens"]) == (1, 107)

    def test_a_smaller_k_counts_less_and_searches_as_far(self) -> None:
        strategy = Scripted("good", [("A_2023", 3), ("A_2023", 4)])
        first = compared(strategy, conditions=Conditions(k=1, forms=FORMS)).of("good")[0]
        assert (
            first.figures["page_recall_of_passages"],
            first.figures["page_precision"],
            first.figures["pages_of_passages"],
        ) == (
            0.5,
            1.0,
            [["A_2023", 3]],
        )
        assert {(depth.documents, depth.pages, depth.passages) for _, _, depth in strategy.asked} == {(5, 20, 10)}

    def test_a_reader_answers_from_the_pages_that_each_strategy_gives_to_read(self) -> None:
        shown: list[int] = []

        def read(question: str, passages: Sequence[StoredPassage]) -> AnswerValue | None:
            shown.append(len(passages))
            if passages[0].key == PageKey("A_2023", 3):
                return AnswerValue(text="It was $100.9 million.", value=100.9, unit="USD millions")
            return None if passages[0].key.page == 1 else AnswerValue(text="It was $101.1 million.")

        golds = ("$100", "In words.", "$100")
        asked = [replace(question, answer=gold) for question, gold in zip(QUESTIONS, golds, strict=True)]
        short, nothing = Scripted("short", [("A_2023", 3), ("A_2023", 4)], kept=1), Scripted("nothing", [])
        comparison = compared(GOOD, short, nothing, questions=asked, reader=read)
        right = {name: [row.figures["answer_right"] for row in comparison.of(name)] for name in comparison.strategies}
        assert right == {"good": [True, None, True], "short": [True, None, True], "nothing": [False, None, False]}
        assert shown == [5, 5, 1, 1]
        for far in (Scripted("far", [("B_2023", 1)]), Scripted("farther", [("B_2023", 2)])):
            assert compared(far, questions=asked, reader=read).of(far.name)[0].figures["answer_right"] is False
        assert compared(GOOD, questions=asked).of("good")[0].figures["answer_right"] is None

    def test_passages_an_answer_is_written_from(self) -> None:
        comparison = compared(GOOD, POOR, Scripted("short", [("A_2023", 3)]))
        assert [comparison.of(name)[0].figures["passages_per_answer"] for name in ("good", "poor", "short")] == [
            5,
            1,
            1,
        ]

    def test_filings_with_the_same_bytes_are_one(self) -> None:
        twin = Scripted("twin", [("COPY", 3), ("COPY", 9)])
        conditions = Conditions(forms=FORMS, same_content={"A_2023": "A_2023", "COPY": "A_2023"})
        first, second, third = compared(twin, conditions=conditions).of("twin")
        assert (
            first.figures["page_recall_of_passages"],
            second.figures["gold_ranks"],
            third.figures["document_recall"],
        ) == (0.5, [2], 0.0)
        assert first.figures["pages"][0] == ["COPY", 3]


class TestFailures:
    def test_a_question_that_fails_finds_nothing_and_the_rest_goes_on(self) -> None:
        comparison = compared(GOOD, POOR)
        first, second, third = comparison.of("poor")
        assert second.figures["failure"] == "unexpected LookupError: no such vector"
        assert (second.figures["page_recall_of_passages"], second.seconds, second.figures["passages_per_answer"]) == (
            0.0,
            None,
            None,
        )
        assert first.figures["failure"] == third.figures["failure"] == ""
        assert len(comparison.of("good")) == 3

    def test_a_strategy_that_cannot_be_built_is_named(self) -> None:
        comparison = compared(GOOD, also=("unknown", "good"))
        assert comparison.strategies == ("good",)
        assert comparison.not_built == {"unknown": "there is no strategy 'unknown'"}

    def test_debug_lets_an_unexpected_error_through_and_no_other(self) -> None:
        conditions = Conditions(forms=FORMS, debug=True)
        assert compared(GOOD, conditions=conditions).not_built
        with pytest.raises(LookupError):
            compared(POOR, conditions=conditions)


class TestStopped:
    def test_what_was_scored_is_not_searched_again_and_what_failed_is(self, tmp_path: Path) -> None:
        class Stopping(Scripted):
            def search(self, *given: Any) -> SearchResult:
                if len(self.asked) == 2:
                    raise KeyboardInterrupt
                return super().search(*given)

        pages = [("A_2023", 3)]
        with pytest.raises(KeyboardInterrupt):
            compared(Stopping("s", pages), kept=kept_in(tmp_path))
        again = Scripted("s", pages)
        scores = compared(again, kept=kept_in(tmp_path)).of("s")
        assert [query.text for query, _, _ in again.asked] == ["question 3?"]
        whole = compared(Scripted("s", pages)).of("s")
        assert [replace(score, seconds=None) for score in scores] == [replace(score, seconds=None) for score in whole]
        assert not list(tmp_path.iterdir())

    def test_another_comparison_takes_nothing_of_it(self, tmp_path: Path) -> None:
        kept = kept_in(tmp_path)
        kept.add("good 0", compared(GOOD).of("good")[0])
        with kept.path.open("a") as file:
            file.write('["good 1", {"strategy": "go')
        assert kept_in(tmp_path).take("good 0") and not kept_in(tmp_path).take("good 1")
        assert kept_in(tmp_path, "other").take("good 0") is None

    def test_what_failed_is_not_kept(self, tmp_path: Path) -> None:
        class Interrupted(Scripted):
            def search(self, *given: Any) -> SearchResult:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            compared(POOR, Interrupted("last", []), kept=kept_in(tmp_path))
        kept = kept_in(tmp_path)
        assert [bool(kept.take(f"poor {number}")) for number in range(3)] == [True, False, True]


def kept_in(folder: Path, run: str = "run") -> PartialResults[Row]:
    return PartialResults(folder / "rows.unfinished.jsonl", run, Row)


class TestOracles:
    def scopes(self, oracle: Oracle, forms: dict[str, str] = FORMS) -> list[Scope]:
        strategy = Scripted("s", [("A_2023", 3)])
        scores = compared(strategy, conditions=Conditions(oracle=oracle, forms=forms)).of("s")
        assert len(scores) == len(QUESTIONS)
        return [scope for _, scope, _ in strategy.asked]

    def test_none_allows_everything(self) -> None:
        assert self.scopes(Oracle.NONE) == [EVERYTHING] * 3

    def test_document_allows_the_gold_filings(self) -> None:
        assert self.scopes(Oracle.DOCUMENT)[1:] == [Scope(doc_ids=("A_2023",)), Scope(doc_ids=("B_2023",))]

    def test_page_allows_the_gold_pages(self) -> None:
        assert self.scopes(Oracle.PAGE)[0] == Scope(pages=(PageKey("A_2023", 3), PageKey("A_2023", 4)))

    @pytest.mark.parametrize("oracle", [Oracle.DOCUMENT, Oracle.PAGE])
    def test_a_filing_that_is_not_there_is_never_searched_for(self, oracle: Oracle) -> None:
        scopes = self.scopes(oracle, {"A_2023": "10-K"})
        assert len(scopes) == 2
        assert all(scope.filings == ("A_2023",) for scope in scopes)
