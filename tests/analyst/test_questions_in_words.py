"""Questions in words: their parts, what each wants, what no filing answers, and answers part by part."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from fin_agent.analyst.rules.reasoning.answer_selection import reason
from fin_agent.analyst.rules.reasoning.question_parts import AnswerType, parts_of, unanswerable_reason
from fin_agent.evidence.intent import Relation, RequestedCompany
from fin_agent.lexicon.lexicon import load_lexicon
from tests.analyst.test_reasoning import Words, asked, of, passage


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("Why did sales fall?", AnswerType.CAUSE),
        ("until when does the agreement run", AnswerType.DATE),
        ("How many patents does it hold?", AnswerType.COUNT),
        ("what did it pay for Fernhollow", AnswerType.AMOUNT),
        ("what stake did it take", AnswerType.PERCENT),
        ("what did it pay for its stake in Corvane", AnswerType.AMOUNT),
        ("who bought the mill", AnswerType.BUYER),
        ("over what useful life are servers depreciated", AnswerType.DURATION),
        ("Who is the chief executive officer?", AnswerType.PERSON),
        ("who audits the company", AnswerType.FIRM),
        ("Where are the headquarters?", AnswerType.PLACE),
        ("List the plants closed in 2023", AnswerType.LIST),
        ("Is it seasonal?", AnswerType.VERDICT),
        ("what happened to the mill", AnswerType.SENTENCE),
        ("Which companies did it acquire?", AnswerType.LIST),
        ("Who were its five largest dealers?", AnswerType.LIST),
        ("What's its policy on hedging currency risk?", AnswerType.PRACTICE),
        ("Where does it now see earnings landing for the year?", AnswerType.NUMBER),
        ("What did Corvane 2 bring in?", AnswerType.AMOUNT),
        ("What got the ferry business to operating income?", AnswerType.CAUSE),
    ],
)
def test_each_question_wants_one_kind_of_answer(question: str, wants: AnswerType) -> None:
    assert [part.answer_type for part in parts_of(question)] == [wants]


def test_a_question_has_parts() -> None:
    parts = parts_of("What stake was it to take in Corvane, and for how much, and do they think a loss is probable?")
    assert [part.answer_type for part in parts] == [AnswerType.PERCENT, AnswerType.AMOUNT, AnswerType.VERDICT]
    assert [part.text for part in parts_of("As of 2023, how many ferries were there?")] == [
        "As of 2023, how many ferries were there"
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Where did Acme stock close on 30 June 2025?",
        "Should I buy Acme?",
        "what's the weather in Cupertino",
        "Wie hoch war der Umsatz von Acme im Jahr 2024?",
        "¿Cuántos empleados tiene Acme?",
        "苹果公司的收入是多少",
        "hello there",
    ],
)
def test_what_no_filing_answers_is_known_by_its_words(question: str) -> None:
    assert unanswerable_reason(question)


@pytest.mark.parametrize(
    "question",
    [
        "What was the average price of shares repurchased in 2023?",
        "Why did the share-based compensation rise?",
        "Does the company depend on its share price for retention?",
        "How many stores closed in 2023?",
        "What was La Nouvelle Mills' revenue in 2023?",
    ],
)
def test_what_filings_answer_is_not_refused(question: str) -> None:
    assert unanswerable_reason(question) == ""


def test_a_further_part_may_be_answered_by_the_same_sentence() -> None:
    text = (
        "On May 4, 2023 we sold our mill in Corvane for $31 million. It was a place of work for many. "
        "The weather was mild in all of our regions."
    )
    told = of("When was the Corvane mill sold, and for how much, and how many people did it employ?",
              "when corvane mill sold how much people employ", text)  # fmt: skip
    assert told == (
        "On May 4, 2023 we sold our mill in Corvane for $31 million. Not found: how many people did it employ."
    )


@pytest.mark.parametrize(
    ("further", "told"),
    [
        ("how many people did it employ", "Eleven people were employed there."),
        ("why was it closed", "It closed in March because of high energy costs."),
        ("how much of that is due within a year", "Of the price, $9 million is payable within 12 months."),
        ("for what price", "sold our mill in Corvane for $31 million."),
        ("what was booked in 2019", "Not found: what was booked in 2019."),
        ("how many ferries did it use", "Not found: how many ferries did it use."),
    ],
)
def test_a_further_part_is_answered_around_the_answer_to_the_first(further: str, told: str) -> None:
    text = (
        "On May 4, 2023 we sold our mill in Corvane for $31 million. Eleven people were employed there. "
        "It closed in March because of high energy costs. Of the price, $9 million is payable within 12 months."
    )
    keywords = f"when corvane mill sold {further}"
    assert of(f"When was the Corvane mill sold, and {further}?", keywords, text).endswith(told)


def test_a_part_that_nothing_answers_is_named() -> None:
    told = of("When was the Corvane mill sold, and who bought it?", "corvane mill sold bought",
              "On May 4, 2023 we sold our mill in Corvane to others.")  # fmt: skip
    assert told.endswith("Not found: who bought it.")


def test_a_name_of_the_question_must_be_said() -> None:
    text = "In 2023 revenue of our ferry business was $31 million."
    assert of("How much revenue did Corvane bring in 2023?", "revenue corvane bring", text).startswith("missing")


def test_a_movement_is_no_amount() -> None:
    question = asked("revenue ferry", figure=True, core="How much revenue did the ferry bring?")
    text = "Ferry revenue increased by $31 million in 2023 on new routes."
    named = question.model_copy(update={"names_metric": True})
    assert reason(named, [passage(text)], Words(), load_lexicon()).text == ""  # type: ignore[arg-type]


class Shelf(Words):
    """Filings of 2023 with no other passages."""

    def filing(self, doc_id: str) -> SimpleNamespace:
        return SimpleNamespace(identity=SimpleNamespace(fiscal_year=2023, quarter=None, results=None))

    def search_passages(self, terms: Sequence[str], **_: object) -> list[object]:
        return []

    def passages(self, keys: Sequence[object]) -> list[object]:
        return []


def test_two_companies_are_answered_each_by_its_own() -> None:
    question = asked("employees", Relation.EXPLANATION, core="Who had more employees?").model_copy(
        update={"companies": (RequestedCompany(key="a", name="Acme"), RequestedCompany(key="b", name="Birch"))}
    )
    kept = [
        passage("At the end of 2023 we had 6,912 employees in all."),
        passage("At the end of the year 2023 we had 7,000 employees.", 1),
    ]
    birch = kept[1].passage.model_copy(update={"doc_id": "birch23"})
    told = reason(
        question,
        [kept[0], kept[1].model_copy(update={"passage": birch})],
        Shelf(),  # type: ignore[arg-type]
        load_lexicon(),
        filings={"a": ["acme23"], "b": ["birch23"]},
    )
    assert told.text.startswith("Acme: At the end of 2023 we had 6,912 employees in all. Birch: ")
    assert {cited.doc_id for cited in told.citations} == {"acme23", "birch23"}


@pytest.mark.parametrize(
    ("question", "keywords", "text"),
    [
        ("How many pearls did Corvane hold?", "pearls hold", "In 2023 we held 11,509 units of Pearls in vaults."),
        ("How does Corvane define organic growth?", "define organic growth",
         "Organic growth: A measure that leaves out what was bought in the year."),
        ("How does Corvane define ferry sales?", "define ferry sales",
         "All references to ferry sales for a given period relate to sales on board."),
        ("What is Corvane's exposure to marsh taxes?", "exposure marsh taxes",
         "Our exposure to marsh taxes is $600 million, which is expected to increase over time."),
        ("Why did Corvane split its ferry unit?", "split ferry unit",
         "In 2023 we split the ferry unit to better align it with the ports."),
        ("What share of sales came from the five largest customers?", "share sales came five largest customers",
         "Our top five customers accounted for 68% of sales in 2023."),
        ("How much of payables of mills was owed to suppliers that use the marsh bank service?",
         "payables mills owed suppliers use marsh bank service",
         "In 2023, $1,430 million of payables of mills was payable to suppliers who utilize marsh services."),
    ],
)  # fmt: skip
def test_a_sentence_answers_in_its_own_words(question: str, keywords: str, text: str) -> None:
    assert of(question, keywords, text).startswith(text)


_DEALS = (
    "In May 2022, we acquired all outstanding stock of Fernhollow. In November 2022, we acquired Tarn, a sail maker. "
    "In 2023, we amortized $5 million of costs of purchased software. In June 2020, we acquired Osprey. "
    "During fiscal 2023, we completed the acquisition of Tarn for $9 million. "
)


def test_each_deal_of_the_year_is_told_once() -> None:
    told = of("Which companies did it acquire in fiscal 2023?", "companies acquire", _DEALS)
    assert ("Fernhollow" in told, told.count("Tarn"), "amortized" in told, "Osprey" in told) == (True, 1, False, False)


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        (
            "Who were its biggest dealers in 2023?",
            "Marlow Boats and Teal were our most significant dealers in 2023.",
            "Marlow Boats and Teal",
        ),
        (
            "Who were its biggest dealers in 2023?",
            "We made the largest purchase of land that Marlow County has ever recorded, which helped our dealers.",
            "missing",
        ),
        (
            "What's its policy on hedging currency risk?",
            "We do not use contracts to hedge any currency risk.",
            "We do not use",
        ),
        (
            "What's its policy on hedging currency risk?",
            "Gains on hedging of currency risk are recorded within other income.",
            "missing",
        ),
        (
            "How much cash did it get from selling its ferry business?",
            "We decided to sell our ferry business, and recorded a non-cash impairment of $90 million.",
            "missing",
        ),
        (
            "How much cash did it get from selling its ferry business?",
            "We completed the sale of our ferry business for net cash proceeds of $42 million.",
            "We completed the sale",
        ),
        ("What did Corvane 2 bring in?", "Revenue from Corvane was $7 million.", "missing"),
        ("What did Corvane 2 bring in?", "Corvane 2 brought in $7 million.", "Corvane 2 brought in"),
        (
            "What ratio does it have to keep under its $3 billion revolver?",
            "Our revolving credit facility requires us to maintain a minimum ratio of income to interest of 3.0.",
            "Our revolving credit facility",
        ),
    ],
)
def test_an_answer_is_of_what_the_words_of_a_question_ask(question: str, text: str, told: str) -> None:
    words = question.lower().strip("?").replace("$", "").replace("'s", "")
    assert of(question, words, text).startswith(told)


def test_a_number_in_a_name_counts_nothing() -> None:
    question = asked("many quill engines ship", core="How many Quill engines did it ship?")
    counted = question.model_copy(update={"measure": "Quill engines", "numeric": True})
    text = "We ship the Quill 5000 Series engines, which have up to sixteen valves each, across the world."
    assert reason(counted, [passage(text)], Words(), load_lexicon()).text == ""  # type: ignore[arg-type]


def test_what_a_name_stands_for_is_told_where_it_is_given() -> None:
    text = (
        "The gain associated with the Ferry Transaction was booked. "
        "In 2022, we sold our boats, our piers and other things on the lake to Marlow for cash (Ferry Transaction). "
    )
    told = of("What exactly was the Ferry Transaction?", "what exactly ferry transaction", text)
    assert told.startswith("In 2022, we sold our boats")


def test_a_head_count_has_its_place_behind_it() -> None:
    text = "As of December 31, 2023, our headcount worldwide was 25,665."
    assert of("How many employees were there at the end of 2023?", "many employees end", text) == text


def test_a_filing_of_later_years_tells_nothing_of_other_ones() -> None:
    text = "In 2023 the ferry between Corvane and Marlow was stopped for the summer by high water."
    question = asked("happened ferry marlow", core="What happened to the ferry to Marlow in 2020?", year=2020)
    told = reason(question, [passage(text)], Shelf(), load_lexicon(), filings={"a": ["acme23"]})  # type: ignore[arg-type]
    assert told.text == ""
    assert reason(question, [passage(text)], Words(), load_lexicon()).text == text  # type: ignore[arg-type]


def test_an_allegation_may_be_of_what_would_be() -> None:
    first = "On May 3, 2023, Marlow (MB) filed a complaint alleging that Acme would break its agreement. "
    other = "In the litigation the plaintiff alleged that Acme broke its duties. "
    told = of("What was its litigation with MB about?", "litigation with mb about", f"{first}{other}")
    assert told.startswith("On May 3, 2023")
