"""Questions that are answered in words: the right filing, the right page, the telling sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer

Ask = Callable[..., Answer]


@pytest.mark.parametrize(
    ("question", "doc_id", "page", "says"),
    [
        ("Which patent suit did Harborlight settle in 2024?", "harborlight_2024_10k", 4, "Corvane Metrology"),
        ("What legal proceedings did Harborlight settle in 2024?", "harborlight_2024_10k", 4, "$6 million"),
        ("Who was appointed CEO of Tellurond in 2024?", "tellurond_2024_8k", 1, "Ines K. Calloway"),
        ("Who will retire as chief executive officer of Tellurond?", "tellurond_2024_8k", 1, "Rolf H. Anselm"),
        (
            "By how much did Harborlight increase its credit agreement in June 2024?",
            "harborlight_2024_8k", 1, "by $250 million, from $500 million to $750 million",
        ),
        ("What did Quillmark pay for Fernhollow?", "quillmark_2024_8k", 1, "$146.2 million"),
        (
            "What drove the change in Harborlight's gross profit in 2024?",
            "harborlight_2024_10k", 5, "richer mix of software",
        ),
        ("Why did Tellurond's revenue increase in FY2024?", "tellurond_2024_10k", 5, "Data Center recovered"),
        ("Why did Tellurond's revenues increase in fiscal 2024?", "tellurond_2024_10k", 5, "Data Center recovered"),
        ("What drove Tellurond's revenue growth in FY2024?", "tellurond_2024_10k", 5, "Data Center recovered"),
        ("Why did Tellurond's gross margin increase in FY2024?", "tellurond_2024_10k", 5, "use of our factories"),
        ("Why did Quillmark's gross margin decrease in FY2022?", "quillmark_2022_10k", 5, "reflects markdowns"),
        ("What drove Harborlight's net sales in 2024?", "harborlight_2024_10k", 5, "data-center optics"),
        ("Why did Quillmark's gross profit change in fiscal 2024?", "quillmark_2024_10k", 5, "lower freight"),
        (
            "Tellurond's revenue rose in FY2024. What's behind that?",
            "tellurond_2024_10k", 5, "Data Center recovered",
        ),
        ("Quillmark's gross margin slipped in FY2022. How come?", "quillmark_2022_10k", 5, "reflects markdowns"),
        (
            "Why did Tellurond's gross margin increase in FY2024 even though wages rose?",
            "tellurond_2024_10k", 5, "use of our factories",
        ),
        ("Why was Quillmark's gross margin so low in FY2022?", "quillmark_2022_10k", 5, "reflects markdowns"),
        (
            "Quillmark's gross margin edged down in FY2022. What was the reason given?",
            "quillmark_2022_10k", 5, "reflects markdowns",
        ),
        (
            "Quillmark's gross margin ticked lower in FY2022. What reason did management give?",
            "quillmark_2022_10k", 5, "reflects markdowns",
        ),
        ("What made Tellurond's revenue move higher in FY2024?", "tellurond_2024_10k", 5, "Data Center recovered"),
        ("What made Tellurond's revenue jump in FY2024?", "tellurond_2024_10k", 5, "Data Center recovered"),
        ("Does Harborlight hold derivatives for trading?", "harborlight_2024_10k", 6, "do not hold derivatives"),
        ("How much did Harborlight pay for Tarn Valley?", "harborlight_2024_10k", 13, "for $99 million in cash"),
        ("What was the purchase price of Tarn Valley?", "harborlight_2024_10k", 13, "for $99 million in cash"),
        ("Who is the auditor of Harborlight?", "harborlight_2024_10k", 7, "Pellworth & Dane LLP"),
        ("Who audited Tellurond in 2023?", "tellurond_2023_10k", 7, "Strand Whitlow LLP"),
        ("Where is Quillmark headquartered?", "quillmark_2024_10k", 4, "Dayton, Ohio"),
    ],
)  # fmt: skip
def test_the_sentence_and_its_page(ask: Ask, question: str, doc_id: str, page: int, says: str) -> None:
    answer = ask(question)
    assert not answer.refused, answer.answer.text
    assert says in answer.answer.text
    assert (answer.answer.value, answer.answer.unit, answer.program) == (None, None, None)
    assert (doc_id, page) in [
        (citation.doc_id, citation.page) for citation in answer.citations if says in citation.text
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Who was appointed CEO of Tellurond in 2024?",
        "What drove the change in Harborlight's gross profit in 2024?",
        "What are the risks from suppliers for Tellurond?",
    ],
)
def test_an_answer_is_made_of_its_citations_and_repeats_none(ask: Ask, question: str) -> None:
    answer = ask(question)
    texts = [citation.text for citation in answer.citations]
    assert answer.answer.text == " ".join(texts)
    assert len(set(texts)) == len(texts)
    read = {(passage.doc_id, passage.page): passage.text for passage in answer.retrieved.passages}
    for citation in answer.citations:
        assert (citation.doc_id, citation.page) in read


@pytest.mark.parametrize(
    "question",
    [
        "Does Tellurond have any debt maturing in 2025?",  # investments that mature are no debt
        "How much did Harborlight pay for Calibration Services?",  # `added $21 million` is no price
        "Why did Tellurond's net income increase in FY2023?",
    ],
)
def test_nothing_is_quoted_that_is_of_something_else(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert answer.refused, answer.answer.text


@pytest.mark.parametrize(
    ("question", "figures"),
    [
        ("Why did Tellurond's revenue fall in FY2024?", "a fall to explain: Change in revenue of Tellurond"),
        ("What caused the drop in Tellurond's revenue in FY2024?", "up "),
        ("Tellurond's gross margin shrank in FY2024. Why?", "a fall to explain: Change in gross margin"),
        ("What explains the increase in Quillmark's gross margin in FY2022?", "a rise to explain"),
        ("What made Tellurond's revenue slip in FY2024?", "a fall to explain: Change in revenue of Tellurond"),
        ("Quillmark's gross margin edged up in FY2022. What was the reason given?", "a rise to explain"),
        ("Why did Tellurond's revenue get smaller in FY2024 than in FY2023?", "a fall to explain"),
    ],
)
def test_what_did_not_happen_is_not_explained(ask: Ask, question: str, figures: str) -> None:
    answer = ask(question)
    assert answer.refused and not answer.citations
    assert figures in answer.answer.text


def test_a_movement_is_refuted_by_its_whole_measure_only(ask: Ask) -> None:
    answer = ask("Why did Tellurond's product gross margin fall in FY2024?")  # that of the company rose
    assert "to explain" not in answer.answer.text


def test_a_refusal_quotes_the_sentence_that_comes_nearest_with_its_page(ask: Callable[..., Answer]) -> None:
    refused = ask("What did Quillmark pay to settle the lawsuit over markdowns in fiscal 2022?")
    assert refused.refused and not refused.citations
    assert "nearest: quillmark_2023_10k page 5: “In September 2023 we agreed to settle" in refused.answer.text


def test_a_refusal_quotes_nothing_that_has_little_of_the_question(ask: Callable[..., Answer]) -> None:
    refused = ask("Why did Tellurond's Data Center customers leave in FY2024?")
    assert (
        refused.refused and "nearest: tellurond_2024_10k page" in refused.answer.text and "“" not in refused.answer.text
    )
