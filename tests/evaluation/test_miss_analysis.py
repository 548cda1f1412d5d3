"""The stage at which a question is lost is the first that went without the gold evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fin_agent.answering.answer import Answer, AnswerValue, Citation, PagePlace, PassagePlace, Retrieved
from fin_agent.evaluation.financebench import FinanceBenchQuestion, explain, score
from fin_agent.evidence.evidence import JudgedPassage, TraceStep
from fin_agent.evidence.intent import OutputUnit
from fin_agent.evidence.slot_ledger import Entry
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
        JudgedPassage(doc_id=documents[0], page=page, ordinal=page, kept=page in kept, why=f"why {page}")
        for page in pages
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


def missed(answer: Answer, *, failure: str = "", question: FinanceBenchQuestion = QUESTION) -> tuple[str, str]:
    row = score(question, answer)
    assert row.figures["numeric_match_any"] is False
    return explain(question, row, answer, failure=failure)


class TestStages:
    def test_a_run_that_failed(self) -> None:
        miss = missed(asked(missing=("boom",)), failure="boom")
        assert miss == ("failed", "boom")

    def test_refused_before_anything_was_searched(self) -> None:
        miss = missed(asked(missing=("the company is not indexed",), searched=False))
        assert miss == ("refused_at_once", "the company is not indexed")

    def test_filing_not_found(self) -> None:
        miss = missed(asked(documents=(OTHER,)))
        assert miss == ("filing", f"first {OTHER}")

    def test_a_filing_of_the_same_content_is_the_filing(self) -> None:
        answer = asked(documents=(OTHER,))
        same = {OTHER: OTHER, DOC: OTHER}
        row = score(QUESTION, answer, same_content=same)
        assert explain(QUESTION, row, answer, same_content=same)[0] == "words"

    def test_page_not_among_the_first(self) -> None:
        miss = missed(asked(pages=(1, 2, 3, 4, 5, 37), kept=(1,)))
        assert miss == ("page", f"{DOC} page 38: rank 6")
        nowhere = missed(asked(pages=(1, 2, 3), kept=(1,)))
        assert nowhere[1] == f"{DOC} page 38: not among 3"

    def test_passage_dropped(self) -> None:
        miss = missed(asked(kept=(1, 2)))
        assert miss == ("passage", f"{DOC} page 38: why 37")

    def test_another_page_of_the_same_evidence_will_do(self) -> None:
        question = replace(QUESTION, also=((DOC, 2),))
        assert missed(asked(kept=(1, 2)), question=question)[0] == "words"

    def test_slot_empty(self) -> None:
        empty = (Entry(slot=SLOT, required=True), Entry(slot=SLOT, required=False))
        miss = missed(asked(ledger=empty, missing=("debt",)))
        assert miss == ("slot", "debt of Brightwater for FY2023")

    def test_refused_for_another_reason(self) -> None:
        miss = missed(asked(ledger=(Entry(slot=SLOT, required=False),), missing=("a program that runs",)))
        assert miss == ("refused", "a program that runs")

    def test_computed_from_other_figures(self) -> None:
        miss = missed(asked("Debt was $5 million.", program="...", value=5.0, unit="USD millions"))
        assert miss == ("computed", f"Total debt: 5 ({DOC} page 38)")

    def test_in_words(self) -> None:
        miss = missed(asked())
        assert miss == ("words", f"{DOC} page 38")
