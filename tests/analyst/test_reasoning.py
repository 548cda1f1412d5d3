"""Answers in words: the right sentences, each once, each with its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from fin_agent.analyst.rules.reasoning import reason, sentences_of
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.vocabulary.filing import PassageKind


class Words:
    """As much of an index as reasoning looks at: 1000 pages, every word on ten of them."""

    def document_frequencies(self, stems: Sequence[str]) -> Mapping[str, int]:
        return dict.fromkeys(stems, 10)

    def page_count(self) -> int:
        return 1000


def passage(text: str, ordinal: int = 0, kind: PassageKind = PassageKind.TEXT) -> Evidence:
    return Evidence(
        passage=RetrievedPassage(
            doc_id="acme23", page=ordinal + 5, ordinal=ordinal, kind=kind, text=text, box=(0, 0, 9, 9), score=1, round=1
        ),
        why="",
    )


def answer(question: Intent, *evidence: Evidence) -> str:
    return reason(question, evidence, Words()).text  # type: ignore[arg-type]


def asked(
    keywords: str, relation: Relation = Relation.EXPLANATION, *, figure: bool = False, year: int = 2023
) -> Intent:
    return Intent(
        question="?", core="?", keywords=tuple(keywords.split()), relation=relation, asks_figure=figure,
        periods=(FiscalPeriod(fiscal_year=year),),
    )  # fmt: skip


FILLER = "The weather was mild in all of the regions where we have offices and people. " * 8


def test_the_sentence_that_holds_the_question_is_taken_with_its_page() -> None:
    found = reason(
        asked("settled patent suit", Relation.EACH),
        [passage(FILLER), passage(f"{FILLER} In May we settled the patent suit of Corvane for little. {FILLER}", 3)],
        Words(),  # type: ignore[arg-type]
    )
    assert found.text == "In May we settled the patent suit of Corvane for little."
    assert [(cited.doc_id, cited.page, cited.text) for cited in found.citations] == [("acme23", 8, found.text)]


def test_nothing_is_said_where_no_word_is_shared() -> None:
    found = reason(asked("dividend policy"), [passage(FILLER)], Words())  # type: ignore[arg-type]
    assert (found.text, found.citations) == ("", ())


def test_a_sentence_is_not_said_twice() -> None:
    text = "The board raised the quarterly dividend in the spring of the year."
    assert answer(asked("board dividend"), passage(text), passage(text, 1)).count("raised") == 1


def test_what_follows_a_change_is_told_with_it_but_once() -> None:
    text = (
        "Net sales increased in all of our regions in the year. The growth came from new stores in the south. "
        "Prices were about the same as before in most lines. "
    )
    told = answer(asked("net sales increased growth"), passage(text + FILLER))
    assert "The growth came from new stores" in told
    assert told.count("The growth came from new stores") == 1


def test_a_cause_is_preferred_where_the_reason_is_asked() -> None:
    why = "Gross margin rose because freight became cheaper in the year."
    others = [
        "Gross margin is the difference of prices and costs in it.",
        "Gross margin is shown for every one of our segments below.",
        "We look at gross margin when we decide on what we build.",
        "Some of our competitors define their gross margin otherwise.",
    ]
    told = answer(asked("gross margin"), passage(FILLER.join([*others, why])))
    assert why in told


def test_the_year_asked_about_is_preferred() -> None:
    text = FILLER.join(f" In {year} the dividend was set again by our board. " for year in range(2018, 2024))
    for year in (2018, 2021, 2023):
        assert answer(asked("dividend board", Relation.EACH, year=year), passage(text)).startswith(f"In {year}")


def test_a_figure_is_answered_by_a_sentence_that_states_one() -> None:
    words = "We employ engineers in each of our laboratories and offices."
    number = "At the end of 2023 we had 6,912 engineers in laboratories."
    told = answer(asked("engineers laboratories", Relation.EACH, figure=True), passage(f"{words} {number}"))
    assert told == number


def test_a_figure_that_no_sentence_states_is_not_made_up() -> None:
    words = "In 2023 we employed engineers in each of our laboratories."
    assert answer(asked("engineers laboratories", Relation.EACH, figure=True), passage(words)) == ""
    aside = "We sold 31 laboratories in the course of the year to others."
    wanted = asked("annualized churn subscribers laboratories cohort", Relation.EACH, figure=True)
    assert answer(wanted, passage(aside)) == ""


def test_a_row_of_a_table_is_told_with_its_columns() -> None:
    table = " | 2024 | 2023\nUnited States | 1,731 | 1,625\nEurope | 1,091 | 1,025"
    told = answer(asked("sales europe", Relation.EACH, figure=True), passage(table, 0, PassageKind.TABLE))
    assert told == "Europe: 2024 1,091; 2023 1,025"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "On that day Rolf H. Anselm of Tellurond Corp. (the “Company”) gave notice. He will then retire soon.",
            ["On that day Rolf H. Anselm of Tellurond Corp. (the “Company”) gave notice.",
             "He will then retire soon."],
        ),
        (
            "Ms. Calloway came to the U.S. Company as an engineer. She now leads the whole company alone.",
            ["Ms. Calloway came to the U.S. Company as an engineer.", "She now leads the whole company alone."],
        ),
        (
            "Sales rose in all of our\nregions in the year. Costs fell in all of our\nregions too.",
            ["Sales rose in all of our regions in the year.", "Costs fell in all of our regions too."],
        ),
    ],
)  # fmt: skip
def test_sentences_end_where_people_end_them(text: str, sentences: list[str]) -> None:
    assert sentences_of(text) == sentences


def test_runs_of_figures_are_no_sentences() -> None:
    assert sentences_of("Net sales 3,763 3,533 3,334 6.5% 6.0% 1,723 1,661 1,614 3.7% 2.9%") == []
