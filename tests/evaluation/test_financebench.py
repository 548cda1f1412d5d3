"""Questions are read with errors that name the place, and answers are scored by the contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fin_agent.answering.answer import Answer
from fin_agent.errors import QuestionError
from fin_agent.evaluation.financebench import FinanceBenchQuestion, load_questions, score

LINE: dict[str, Any] = {
    "financebench_id": "q1",
    "company": "Brightwater",
    "doc_name": "BRIGHTWATER_2023_10K",
    "question_type": "metrics-generated",
    "question_reasoning": None,
    "question": "What was net income (in USD millions)?",
    "answer": "$11588.00",
    "evidence": [
        {"doc_name": "BRIGHTWATER_2023_10K", "evidence_page_num": 37, "evidence_text": "..."},
        {"doc_name": "BRIGHTWATER_2023_10K", "evidence_page_num": 39},
        {"doc_name": "BRIGHTWATER_2023_10K", "evidence_page_num": 37},
    ],
}
DOC = "BRIGHTWATER_2023_10K"


def answer(**changes: Any) -> Answer:
    fields = {
        "id": "q1",
        "question": "...",
        "answer": {"value": 11588.0, "unit": "USD millions", "text": "Net income was 11,588 USD millions."},
        "refused": False,
        "missing": [],
        "citations": [{"doc_id": DOC, "page": 37, "text": "Net income", "box": None}],
        "retrieved": {
            "documents": ["OTHER", DOC],
            "pages": [{"doc_id": DOC, "page": page} for page in (1, 39, 3, 4, 37, 5)],
            "passages": [{"doc_id": DOC, "page": page, "text": ""} for page in (37, 37, 37, 1, 2, 39)],
        },
        "ledger": [],
        "program": None,
        "rounds": 2,
        "seconds": 0.25,
        "usage": {},
        **changes,
    }
    return Answer.model_validate(fields)


def questions_file(folder: Path, *lines: object) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return path


@pytest.fixture
def question(tmp_path: Path) -> FinanceBenchQuestion:
    return load_questions(questions_file(tmp_path, LINE))[0]


class TestLoading:
    def test_gold_pages_are_distinct_and_reasoning_may_be_null(self, question: FinanceBenchQuestion) -> None:
        assert question.pages == ((DOC, 37), (DOC, 39))
        assert question.documents == (DOC,)
        assert question.reasoning == ""

    def test_separators_inside_a_text_and_blank_lines_are_fine(self, tmp_path: Path) -> None:
        odd = json.dumps({**LINE, "question": "one\u2028two\u0085three"}, ensure_ascii=False)
        path = tmp_path / "questions.jsonl"
        path.write_text(f"{odd}\n\n{json.dumps(LINE)}\n", encoding="utf-8")
        assert len(load_questions(path)) == 2

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ({key: LINE[key] for key in LINE if key != "answer"}, "line 2: field `answer` is missing"),
            (
                {key: LINE[key] for key in LINE if key not in ("answer", "doc_name")},
                "line 2: field `answer` is missing; field `doc_name` is missing",
            ),
            (
                {**{key: LINE[key] for key in LINE if key != "doc_name"}, "answer": ""},
                "field `answer` cannot be used .*; field `doc_name` is missing",
            ),
            ({**LINE, "question": "  "}, "line 2: field `question` cannot be used"),
            ({**LINE, "evidence": []}, "line 2: field `evidence` cannot be used"),
            ({**LINE, "evidence": [{"doc_name": "X"}]}, r"field `evidence\[0\].evidence_page_num` is missing"),
            ({**LINE, "evidence": [{"doc_name": "X", "evidence_page_num": -1}]}, "evidence_page_num` cannot be used"),
            ("{not json", r"line 2: the line cannot be used \(Invalid JSON"),
            ("[1]", "line 2: the line cannot be used"),
        ],
    )
    def test_error_names_line_and_field(self, tmp_path: Path, line: object, reason: str) -> None:
        path = questions_file(tmp_path, LINE, line)
        with pytest.raises(QuestionError, match=reason) as raised:
            load_questions(path)
        assert str(path) in str(raised.value)

    def test_what_only_answers_need_may_be_left_out_where_none_is_scored(self, tmp_path: Path) -> None:
        evidence = [{"doc_name": DOC, "evidence_page_num": 3}]
        short = {"financebench_id": "q1", "question": "What?", "doc_name": DOC, "evidence": evidence}
        (question,) = load_questions(questions_file(tmp_path, short), answers=False)
        assert (question.doc_id, question.pages, question.documents) == (DOC, ((DOC, 3),), (DOC,))
        assert (question.company, question.question_type, question.answer) == ("", "untyped", "")
        other = {"financebench_id": "q1", "question": "What?", "doc_name": DOC, "evidence": [{"evidence_page_num": 3}]}
        assert load_questions(questions_file(tmp_path, other), answers=False)[0].pages == ((DOC, 3),)

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ({"question": "What?", "evidence": [{}]}, "`evidence[0].evidence_page_num` is missing; field `doc_name`"),
            (
                {"financebench_id": "q1", "question": "What?", "evidence": [{"evidence_page_num": 1}]},
                "`doc_name` is missing",
            ),
            ({"doc_name": DOC}, "`financebench_id` is missing; field `question` is missing; field `evidence` is"),
        ],
    )
    def test_all_that_a_search_needs_is_named_at_once(self, tmp_path: Path, line: object, said: str) -> None:
        with pytest.raises(QuestionError) as raised:
            load_questions(questions_file(tmp_path, line), answers=False)
        assert said in str(raised.value)

    def test_no_file_and_no_questions(self, tmp_path: Path) -> None:
        with pytest.raises(QuestionError, match=r"cannot be read \(No such file or directory\)"):
            load_questions(tmp_path / "absent.jsonl")
        with pytest.raises(QuestionError, match="no questions"):
            load_questions(questions_file(tmp_path, ""))


class TestScore:
    def test_counts_the_first_five_of_each(self, question: FinanceBenchQuestion) -> None:
        row = score(question, answer(), forms={DOC: "10-K"})
        assert row.figures["page_recall_of_passages"] == 0.5
        assert row.figures["page_hits_of_passages"]
        assert row.figures["page_recall"] == 1.0
        assert row.figures["page_precision"] == 0.4
        assert row.figures["document_recall"] == 1.0
        assert (row.labels["filing_type"], row.figures["numeric_match"], row.figures["strict_match"]) == (
            "10-K",
            True,
            True,
        )
        assert (row.figures["rounds"], row.seconds, row.refused) == (2, 0.25, False)

    def test_wrong_value(self, question: FinanceBenchQuestion) -> None:
        wrong = {"value": 11600.0, "unit": "USD millions", "text": "about"}
        row = score(question, answer(answer=wrong))
        assert (row.figures["numeric_match"], row.figures["strict_match"]) == (True, False)

    def test_refusal_matches_nothing(self, question: FinanceBenchQuestion) -> None:
        row = score(question, answer(refused=True, missing=["net income FY2023"]))
        assert (row.figures["numeric_match"], row.figures["strict_match"], row.refused) == (False, False, True)
        assert row.missing == ("net income FY2023",)

    def test_only_metrics_questions_have_a_numeric_match(self, tmp_path: Path) -> None:
        (textual,) = load_questions(questions_file(tmp_path, {**LINE, "question_type": "novel-generated"}))
        row = score(textual, answer())
        assert (row.figures["numeric_match"], row.figures["strict_match"]) == (None, None)

    def test_a_figure_in_gold_is_matched_whatever_the_type(self, tmp_path: Path) -> None:
        textual = {**LINE, "question_type": "novel-generated", "answer": "It rose to $11.6bn."}
        (question,) = load_questions(questions_file(tmp_path, textual))
        row = score(question, answer())
        assert (row.figures["numeric_match_any"], row.figures["stated_match"]) == (True, True)
        later = {"value": None, "unit": None, "text": "It rose. It was $11,588 million, of 12 entities."}
        row = score(question, answer(answer=later))
        assert (row.figures["numeric_match_any"], row.figures["stated_match"]) == (True, False)
        row = score(question, answer(refused=True, missing=["net income FY2023"]))
        assert (row.figures["numeric_match_any"], row.figures["stated_match"]) == (False, False)

    def test_no_figure_in_gold_is_not_matched_at_all(self, tmp_path: Path) -> None:
        worded = {**LINE, "question_type": "novel-generated", "answer": "It rose in the 12 months of 2023."}
        (question,) = load_questions(questions_file(tmp_path, worded))
        row = score(question, answer())
        assert (row.figures["numeric_match_any"], row.figures["stated_match"]) == (None, None)

    def test_the_type_of_a_filing_that_is_not_indexed_is_unknown(self, question: FinanceBenchQuestion) -> None:
        assert score(question, answer()).labels["filing_type"] == "unknown"

    def test_same_content_counts_a_twin_as_the_filing(self, question: FinanceBenchQuestion) -> None:
        twin = {
            "documents": ["TWIN"],
            "pages": [{"doc_id": "TWIN", "page": 37}],
            "passages": [{"doc_id": "TWIN", "page": 39, "text": ""}],
        }
        row = score(question, answer(retrieved=twin), same_content={DOC: "TWIN"})
        found = [row.figures[name] for name in ("document_recall", "page_recall", "page_recall_of_passages")]
        assert found == [1.0, 0.5, 0.5]
        assert score(question, answer(retrieved=twin)).figures["document_recall"] == 0.0
