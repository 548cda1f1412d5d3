"""The stage at which a question is lost is the first that went without the gold evidence."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer, AnswerValue, Citation, PagePlace, PassagePlace, Retrieved
from fin_agent.evaluation.financebench import FinanceBenchQuestion, score
from fin_agent.evaluation.misses import Miss, MissStage, explain, misses_as_markdown, write_misses
from fin_agent.evidence.intent import OutputUnit
from fin_agent.evidence.ledger import Entry
from fin_agent.evidence.trace import Judged, TraceStep
from fin_agent.lexicon.slots import Slot

DOC = "BRIGHTWATER_2023_10K"
OTHER = "BRIGHTWATER_2022_10K"
QUESTION = FinanceBenchQuestion(
    id="q1",
    company="Brightwater",
    doc_id=DOC,
    question_type="domain-relevant",
    reasoning="",
    question="How did debt change in FY2023?",
    answer="It fell by $2.5bn.",
    pages=((DOC, 37),),
)
SLOT = Slot(company="b", company_name="Brightwater", metric="debt", label="debt", fiscal_year=2023)


def asked(
    text: str = "Debt is described in Note 4.",
    *,
    pages: Sequence[int] = (37, 1, 2),
    documents: Sequence[str] = (DOC,),
    kept: Sequence[int] = (37,),
    printed: str = "",
    program: str | None = None,
    value: float | None = None,
    unit: OutputUnit | None = None,
    ledger: tuple[Entry, ...] = (),
    missing: tuple[str, ...] = (),
    searched: bool = True,
) -> Answer:
    """An answer whose run retrieved `pages` of the filing, and whose filter kept those of `kept`."""
    judged = tuple(
        Judged(doc_id=documents[0], page=page, ordinal=page, kept=page in kept, why=f"why {page}") for page in pages
    )
    steps = (
        TraceStep(node="rewrite_query", round=1, summary=""),
        TraceStep(node="search_documents", round=1, summary=""),
        TraceStep(node="filter_passages", round=1, summary="", judged=judged),
    )
    ranked = sorted(pages, key=lambda page: page not in kept)
    return Answer(
        question=QUESTION.question,
        answer=AnswerValue(text=text, value=value, unit=unit),
        refused=bool(missing),
        missing=missing,
        citations=() if missing else (Citation(doc_id=DOC, page=37, text="Total debt: 5"),),
        retrieved=Retrieved(
            documents=tuple(documents),
            pages=tuple(PagePlace(doc_id=documents[0], page=page) for page in pages),
            passages=tuple(PassagePlace(doc_id=documents[0], page=page, text=printed) for page in ranked),
        )
        if searched
        else Retrieved(),
        ledger=ledger,
        program=program,
        trace=steps if searched else steps[:1],
    )


def missed(answer: Answer, *, failure: str = "", question: FinanceBenchQuestion = QUESTION) -> Miss:
    row = score(question, answer)
    assert row.numeric_match_any is False
    return explain(question, row, answer, failure=failure)


class TestStages:
    def test_a_run_that_failed(self) -> None:
        miss = missed(asked(missing=("boom",)), failure="boom")
        assert (miss.stage, miss.detail) == (MissStage.FAILED, "boom")

    def test_refused_before_anything_was_searched(self) -> None:
        miss = missed(asked(missing=("the company is not indexed",), searched=False))
        assert (miss.stage, miss.detail) == (MissStage.REFUSED_AT_ONCE, "the company is not indexed")

    def test_filing_not_found(self) -> None:
        miss = missed(asked(documents=(OTHER,)))
        assert (miss.stage, miss.detail) == (MissStage.FILING, f"first {OTHER}")

    def test_a_filing_of_the_same_content_is_the_filing(self) -> None:
        answer = asked(documents=(OTHER,))
        same = {OTHER: OTHER, DOC: OTHER}
        row = score(QUESTION, answer, same_content=same)
        assert explain(QUESTION, row, answer, same_content=same).stage is MissStage.WORDS

    def test_page_not_among_the_first(self) -> None:
        miss = missed(asked(pages=(1, 2, 3, 4, 5, 37), kept=(1,)))
        assert (miss.stage, miss.detail) == (MissStage.PAGE, f"{DOC} page 38: rank 6")
        nowhere = missed(asked(pages=(1, 2, 3), kept=(1,)))
        assert nowhere.detail == f"{DOC} page 38: not among 3"

    def test_passage_dropped(self) -> None:
        miss = missed(asked(kept=(1, 2)))
        assert (miss.stage, miss.detail) == (MissStage.PASSAGE, f"{DOC} page 38: why 37")

    def test_another_page_of_the_same_evidence_will_do(self) -> None:
        question = replace(QUESTION, also=((DOC, 2),))
        assert missed(asked(kept=(1, 2)), question=question).stage is MissStage.WORDS

    def test_slot_empty(self) -> None:
        empty = (Entry(slot=SLOT, required=True), Entry(slot=SLOT, required=False))
        miss = missed(asked(ledger=empty, missing=("debt",)))
        assert (miss.stage, miss.detail) == (MissStage.SLOT, "debt of Brightwater for FY2023")

    def test_refused_for_another_reason(self) -> None:
        miss = missed(asked(ledger=(Entry(slot=SLOT, required=False),), missing=("a program that runs",)))
        assert (miss.stage, miss.detail) == (MissStage.REFUSED, "a program that runs")

    def test_computed_from_other_figures(self) -> None:
        miss = missed(asked("Debt was $5 million.", program="...", value=5.0, unit="USD millions"))
        assert (miss.stage, miss.detail) == (MissStage.COMPUTED, f"Total debt: 5 ({DOC} page 38)")
        assert miss.relation == ""

    def test_in_words(self) -> None:
        miss = missed(asked())
        assert (miss.stage, miss.detail) == (MissStage.WORDS, f"{DOC} page 38")


class TestRelation:
    @pytest.mark.parametrize(
        ("gold", "text", "relation"),
        [
            ("It fell by $2.5bn.", "from $49,781 million to $47,237 million.", "gold is the difference"),
            ("It fell by $2.5bn.", "from $49,781 million to $48,237 million.", ""),
            ("It was -14.8%.", "It was 14.8%.", "sign apart"),
            ("It grew by 3.4%.", "from 0.67 to 0.693", "gold is the relative change"),
            ("It grew by 0.9%.", "from 18.5% to 19.4%", "gold is the difference"),
        ],
    )
    def test_told_from_the_numbers(self, gold: str, text: str, relation: str) -> None:
        miss = missed(asked(text, program="..."), question=replace(QUESTION, answer=gold))
        assert miss.stage is MissStage.COMPUTED
        assert miss.relation.startswith(relation) and bool(miss.relation) is bool(relation)

    def test_words_are_not_compared(self) -> None:
        assert missed(asked("from $49,781 million to $47,237 million")).relation == ""


@pytest.mark.parametrize(
    ("printed", "kept", "read"),
    [("Total | 2.5 billion", (37,), True), ("Total | 2.4", (37,), False), ("Total | 2.5", (), False)],
)
def test_whether_a_passage_kept_prints_the_figure(printed: str, kept: tuple[int, ...], read: bool) -> None:
    assert missed(asked(printed=printed, kept=kept)).figure_was_read is read


class TestReport:
    def test_says_each_miss_and_counts_stages(self, tmp_path: Path) -> None:
        miss = missed(asked("One | two\nthree" + " and so on" * 60))
        matched = replace(miss.row, id="q2", text="Something else. 2.5 bn", numeric_match_any=True, stated_match=False)
        no_figure = replace(miss.row, id="q3", numeric_match_any=None, stated_match=None)
        said = misses_as_markdown([miss], [miss.row, matched, no_figure])
        assert "1 of 2 questions" in said and f"| {MissStage.WORDS} | 1 |" in said
        assert "1 of the 1 matches" in said and "| q2 |" in said and "q3" not in said
        assert "One \\| two three and so on" in said
        assert max(map(len, said.splitlines())) < 1500
        write_misses([miss], tmp_path / "misses.csv")
        with (tmp_path / "misses.csv").open(newline="", encoding="utf-8") as file:
            (line,) = csv.DictReader(file)
        assert (line["id"], line["stage"], line["figure_was_read"]) == ("q1", MissStage.WORDS, "no")
        assert line["answer"] == " ".join(miss.row.text.split()), "a cell is one line"
