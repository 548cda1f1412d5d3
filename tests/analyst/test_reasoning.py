"""Answers in words: the right sentences, each once, each with its page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pytest

from fin_agent.analyst.rules.reasoning.answer_candidates import measure_fitness
from fin_agent.analyst.rules.reasoning.answer_selection import reason
from fin_agent.analyst.rules.reasoning.sentence_splitting import paragraphs_of
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent, Relation, RequestedCompany
from fin_agent.index.protocol import PageKey, SourcedFact, StoredPage, StoredPassage
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.query.tree import Kind, Line, Number, Operation, Parts, Query
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.table import Table


def sentences_of(text: str) -> list[str]:
    """Every sentence of a text, paragraph by paragraph."""
    return [sentence for paragraph in paragraphs_of(text) for sentence in paragraph.sentences]


class Words:
    """As much of an index as reasoning looks at: 1000 pages, every word on ten of them."""

    def document_frequencies(self, stems: Sequence[str]) -> Mapping[str, int]:
        return dict.fromkeys(stems, 10)

    def page_count(self) -> int:
        return 1000

    def pages(self, keys: Sequence[PageKey]) -> Sequence[StoredPage]:
        return []

    def outline(self, doc_ids: Collection[str]) -> Sequence[StoredPage]:
        return []

    def tables(self, keys: Sequence[PageKey]) -> Sequence[Table]:
        return []

    def facts(self, doc_ids: Collection[str], *, pages: Collection[PageKey]) -> Sequence[SourcedFact]:
        return []

    def passages(self, keys: Sequence[PageKey]) -> Sequence[StoredPassage]:
        return []


def passage(text: str, ordinal: int = 0, kind: PassageKind = PassageKind.TEXT, *, before: int = 5) -> Evidence:
    return Evidence(
        passage=RetrievedPassage(
            doc_id="acme23",
            page=ordinal + before,
            ordinal=ordinal,
            kind=kind,
            text=text,
            box=(0, 0, 9, 9),
            score=1,
            round=1,
        ),
        why="",
    )


def answer(question: Intent, *evidence: Evidence) -> str:
    return reason(question, evidence, Words(), load_lexicon()).text  # type: ignore[arg-type]


def asked(
    keywords: str, relation: Relation = Relation.EXPLANATION, *, figure: bool = False, year: int = 2023, core: str = "?"
) -> Intent:
    return Intent(
        question=core, core=core, keywords=tuple(keywords.split()), relation=relation, asks_figure=figure,
        periods=(FiscalPeriod(fiscal_year=year),),
    )  # fmt: skip


FILLER = "The weather was mild in all of the regions where we have offices and people. " * 8


def test_the_sentence_that_holds_the_question_is_taken_with_its_page() -> None:
    found = reason(
        asked("settled patent suit", Relation.EACH),
        [passage(FILLER), passage(f"{FILLER} In May we settled the patent suit of Corvane for little. {FILLER}", 3)],
        Words(),  # type: ignore[arg-type]
        load_lexicon(),
    )
    assert found.text == "In May we settled the patent suit of Corvane for little."
    assert [(cited.doc_id, cited.page, cited.text) for cited in found.citations] == [("acme23", 8, found.text)]


def test_nothing_is_said_where_no_word_is_shared() -> None:
    found = reason(asked("dividend policy"), [passage(FILLER)], Words(), load_lexicon())  # type: ignore[arg-type]
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
    told = answer(asked("gross margin", core="Why did gross margin rise?"), passage(FILLER.join([*others, why])))
    assert told == why


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


def of(core: str, keywords: str, *texts: str, figure: bool = False) -> str:
    found = reason(
        asked(keywords, Relation.EXPLANATION if not figure else Relation.EACH, figure=figure, core=core),
        [passage(text, number) for number, text in enumerate(texts)],
        Words(),  # type: ignore[arg-type]
        load_lexicon(),
    )
    return found.text or f"missing {found.missing[0]}"


def test_a_reason_is_of_the_movement_and_of_the_year_asked_about() -> None:
    text = (
        "Freight expense decreased in 2023 compared with 2022 due to lower diesel prices on our own routes.\n\n"
        "Freight expense increased in 2022 compared with 2021 due to a shortage of drivers in the south.\n\n"
        "Freight expense increased in 2023 at our smallest unit because a bridge on its way was closed."
    )
    core, words = "Why did freight expense {} in 2023?", "freight expense"
    assert "lower diesel prices" in of(core.format("decrease"), words, text)
    assert "bridge" in of(core.format("increase"), words, text).split(".")[0]
    assert "shortage" not in of(core.format("increase"), words, text)


def test_a_reason_is_of_the_years_that_the_heading_over_it_compares() -> None:
    told = "{head}\nEFFECTIVE TAX RATE\nThe {points} basis point decrease in our effective tax rate was due to {cause}."
    texts = [
        told.format(head=f"FISCAL {year} COMPARED TO FISCAL {year - 1}", points=points, cause=cause)
        for year, points, cause in ((2022, 350, "foreign earnings."), (2023, 550, "a settlement."))
    ]
    core = "Why did the effective tax rate fall in fiscal 2023?"
    assert "550" in of(core, "effective tax rate fall", *texts)
    assert "350" not in of(core, "effective tax rate fall", *texts)


def test_without_a_reason_a_question_for_one_is_not_answered() -> None:
    told = of(
        "Why did freight expense rise in 2023?", "freight expense", "Freight expense rose in 2023 in all regions."
    )
    assert told.startswith("missing a sentence that gives the reason")


def test_a_share_of_a_measure_is_of_no_part_that_the_question_does_not_name() -> None:
    measure = Operation(
        operator="/",
        left=Operation(operator="*", left=Number(value=100, unit="percent"), right=Line(words="Mart")),
        right=Line(words="net revenue", metric="revenue"),
    )
    core = "How much of 2023 net revenue came from Mart?"
    query = Query(question=core, kind=Kind.VALUE, measures=(measure,))
    question = asked("2023 net revenue Mart", figure=True, core=core).model_copy(update={"query": query})
    whole = "In 2023, sales to Mart and its affiliates, with clubs, represented 13% of our consolidated net revenue."
    part = "Our five customers were 34% of our 2023 net revenue in North America, with Mart representing 19%."
    told = reason(question, [passage(part), passage(whole, 1)], Words(), load_lexicon())  # type: ignore[arg-type]
    assert told.text == whole


def test_a_difference_of_two_years_is_in_no_sentence_of_one() -> None:
    core = "How many more ferries did Acme have in 2023 than in 2021?"
    question = asked("ferries", figure=True, core=core).model_copy(
        update={"periods": (FiscalPeriod(fiscal_year=2021), FiscalPeriod(fiscal_year=2023))}
    )
    assert answer(question, passage("At the end of 2023 we had 31 ferries.")) == ""
    both = "We had 31 ferries in 2023, as against 28 in 2021."
    assert answer(question, passage(both)) == both


def test_a_list_is_told_whole() -> None:
    text = (
        "We have the following three reportable segments:\n•\nHarbours, which loads and unloads ships;\n•\n"
        "Ferries, which carries people over the sound; and\n•\nYards, which repairs ships.\n"
        "Segment results are regularly looked at by our chief executive officer and by nobody else in the company."
    )
    told = of("What are the reportable segments?", "reportable segments", text)
    assert told == (
        "We have the following three reportable segments: Harbours, which loads and unloads ships; "
        "Ferries, which carries people over the sound; Yards, which repairs ships."
    )


def test_a_sentence_that_names_the_members_is_the_list() -> None:
    text = (
        "Each of our reportable segments has a president. "
        "We operate in two reportable segments: (i) mills and (ii) sails. "
        "The reportable segments share their headquarters in one building."
    )
    told = of("What are the reportable segments?", "reportable segments", text)
    assert told == "We operate in two reportable segments: (i) mills and (ii) sails."


def test_officers_are_listed_with_their_titles() -> None:
    text = (
        "Our executive officers are as follows:\nName\nAge\nOffice\n"
        "Mara T. Quill\n51\nPresident and Chief Executive Officer\n"
        "Jon Ashdown\n47\nExecutive Vice President and Chief Financial Officer\n"
    )
    assert of("Who are the executive officers?", "executive officers", text) == (
        "Mara T. Quill, President and Chief Executive Officer; "
        "Jon Ashdown, Executive Vice President and Chief Financial Officer."
    )


@pytest.mark.parametrize(
    ("question", "holder"),
    [
        ("Who is the CEO?", "Mara T. Quill, President and Chief Executive Officer."),
        ("Who is the chief operating officer?", "Jon Ashdown, Chief Operating Officer and Executive Vice President."),
        ("Who is the president?", "Mara T. Quill, President and Chief Executive Officer."),
    ],
)
def test_an_office_is_held_word_for_word(question: str, holder: str) -> None:
    text = (
        "Our executive officers are as follows:\nName\nAge\nOffice\n"
        "Jon Ashdown\n47\nChief Operating Officer and Executive Vice President\n"
        "Mara T. Quill\n51\nPresident and Chief Executive Officer\n"
    )
    assert of(question, question.removeprefix("Who is the ").strip("?"), text) == holder


def test_who_signs_the_report_is_the_auditor() -> None:
    text = (
        "Report of Independent Registered Public Accounting Firm\n"
        "We have audited the statements of the company.\n/s/ Tarn & Beck LLP\n"
    )
    assert of("Which accounting firm audits the company?", "accounting firm audits", text) == "Tarn & Beck LLP."


@pytest.mark.parametrize(
    ("core", "keywords", "sentence"),
    [
        ("Has it ever paid cash dividends?", "paid cash dividends",
         "We have never declared or paid any cash dividends."),
        ("Is the business seasonal?", "business seasonal", "Our business may become seasonal in the years to come."),
        ("Does it own aircraft?", "own aircraft", "Our customers own aircraft that they lease to others."),
    ],
)  # fmt: skip
def test_whether_something_is_so_is_answered_by_what_the_filing_says_of_it(
    core: str, keywords: str, sentence: str
) -> None:
    assert of(core, keywords, sentence) == sentence


def test_how_many_is_answered_by_what_is_counted() -> None:
    text = (
        "We spent 31 million on training for employees of our yards in the year. "
        "At the end of 2023 we had approximately 8,450 full-time employees in nine countries."
    )
    told = of("How many employees does the company have?", "employees", text, figure=True)
    assert told == "At the end of 2023 we had approximately 8,450 full-time employees in nine countries."


@pytest.mark.parametrize(
    ("core", "keywords", "missing"),
    [
        ("Is the company a good investment?", "good investment", "an opinion"),
        ("Which colour is the logo of the ferry line?", "colour logo ferry", "'logo'"),
        ("What is the largest liability of the ferry line?", "largest liability ferry", "'largest'"),
    ],
)
def test_what_no_sentence_answers_is_refused_with_what_was_looked_for(core: str, keywords: str, missing: str) -> None:
    told = of(core, keywords, "The ferry line has a liability for repairs of its good ships. It is in the sound.")
    assert told.startswith("missing") and missing in told


def test_what_points_elsewhere_is_no_answer() -> None:
    text = (
        "See Note 5 for additional information about our patent suits in the north. Patent suits were settled in May."
    )
    assert of("Tell me about the patent suits", "patent suits", text) == "Patent suits were settled in May."


def test_a_sentence_that_points_back_is_told_with_the_one_before() -> None:
    moved = "Bridge tolls rose by 4% in 2023 on all roads."
    text = f"{moved} The increase was due to a new bridge over the western sound. {FILLER}"
    told = of("Why did tolls rise in 2023?", "tolls rise", text)
    assert told.startswith(f"{moved} The increase was due to a new bridge over the western sound.")


def test_an_abbreviation_of_the_filing_stands_for_its_name() -> None:
    text = "Our Northern Ferries (NF) unit is old. NF income fell in 2023 because two ferries were laid up for repairs."
    told = of("Why did Northern Ferries income fall in 2023?", "northern ferries income fall", text)
    assert "two ferries were laid up" in told


@pytest.mark.parametrize(
    ("defined", "short"),
    [
        ("We run the Northern Ferries & Bridges ( NFB ) unit.", "NFB"),
        ("We report the Northern Ferries Group (the “Group”).", "Group"),
    ],
)
def test_a_short_form_that_is_defined_elsewhere_stands_for_its_name(defined: str, short: str) -> None:
    core, words = "Why did northern ferries income fall in 2023?", "northern ferries income fall"
    said = f"{short} income fell in 2023 because two ferries were laid up."
    question = asked(words, core=core)
    assert answer(question, passage(f"{defined} {FILLER}"), passage(f"{FILLER} {said}", 1)) == said
    other = defined.replace("Northern Ferries", "Southern Tolls")
    assert answer(question, passage(f"{defined} {other}"), passage(f"{FILLER} {said}", 1)) == ""


def test_what_an_amount_is_made_up_of_is_the_reason_that_it_rose() -> None:
    core, words = "What was behind the jump in other harbour charges in 2023?", "other harbour charges jump"
    told = "In 2023, we recorded other harbour charges of $4 million. These charges consisted of $3 million for a pier."
    assert of(core, words, told) == told
    no_amount = "Our other harbour charges office consisted of two rooms over the pier in 2023."
    assert of(core, words, no_amount).startswith("missing")


@pytest.mark.parametrize(
    ("question", "told", "other"),
    [
        (
            "What is the tolls authority suing Acme over?",
            "The tolls authority filed a complaint in May. The complaint alleges that Acme shut the bridge to carts.",
            "The suit of the tolls authority is before the court of the western sound.",
        ),
        (
            "How did the dispute over the bridge end?",
            "The suit over the bridge was dismissed in May 2023 by the court of the western sound.",
            "In the suit over the bridge, a trial was held in May 2023 before the court of the western sound.",
        ),
        (
            "What has it decided to do about the ferry yards?",
            "In May 2023 we committed to sell the ferry yards on the western sound.",
            "The ferry yards are on the western sound, where most of our people live.",
        ),
    ],
)
def test_of_a_dispute_or_a_decision_the_telling_sentence_is_quoted(question: str, told: str, other: str) -> None:
    words = "tolls authority suing bridge dispute decided ferry yards end"
    assert of(question, words, f"{other} {FILLER}\n\n{told}") == told
    assert of(question, words, other).startswith("missing")


def test_the_reason_of_another_measure_does_not_point_back() -> None:
    why = "The increase in bridge tolls in 2023 was due to a new bridge."
    for before in ("Ferry fares were 94 percent of income.", "Harbour dues fell by half."):
        assert of("Why did bridge tolls increase in 2023?", "bridge tolls increase", f"{before} {why}") == why


def test_the_reason_of_a_quarter_or_of_a_later_year_is_not_that_of_the_year() -> None:
    for when in ("in the second quarter of 2023 ", "in 2024 "):
        text = f"Freight expense increased {when}because a bridge on the way of our ships was closed."
        assert of("Why did freight expense increase in 2023?", "freight expense increase", text).startswith("missing")


def test_an_office_is_told_by_who_is_named_for_it_and_not_by_a_president() -> None:
    officers = passage(
        "Jo Doe  60  President, Europe operating unit since January 2021, and prior to that Chief Executive Officer\n"
        "Ann Poe  57  Chair of the Board since April 2019 and Chief Executive Officer since May 2017. President.\n"
    )
    told = answer(asked("chief executive officer", core="Who is the chief executive officer?"), officers)
    assert told == "Ann Poe, Chair of the Board and Chief Executive Officer."


def test_items_numbered_with_a_bracket_are_a_list() -> None:
    whole = passage(
        "We have three reportable segments, as follows:\n1) Garden;\n2) Marine; and\n3) Pool.\nAll are ours."
    )
    question = asked("reportable segments", core="List the reportable segments")
    assert answer(question, whole).startswith("We have three reportable segments, as follows: Garden; Marine; Pool.")


def test_what_a_share_costs_is_refused() -> None:
    assert answer(asked("acme stock price", core="Acme stock price"), passage("The stock price of Acme moves.")) == ""


def test_everyday_words_of_a_question_need_not_be_said() -> None:
    told = answer(
        asked("cash put into corvane settlement", core="How much cash did Acme put into the Corvane settlement?"),
        passage("In May 2023 we paid $70 million in cash for the Corvane settlement. Other matters remain open."),
    )
    assert told == "In May 2023 we paid $70 million in cash for the Corvane settlement."


def test_a_word_that_nothing_says_is_told_beside_those_that_are() -> None:
    question = "What was the transaction value of the Corvane packaging venture that Acme inked with Birchwood?"
    known = "transaction value corvane packaging venture inked birchwood"
    said = "The Corvane packaging venture with Birchwood was formed in a transaction valued at $436 million."
    told = answer(asked(known, core=question), passage(f"{FILLER} {said}"))
    assert told == f"{said} Not said there: 'inked'."


def test_a_word_that_nothing_says_is_what_a_short_question_is_about() -> None:
    said = "Our mining revenue was $436 million in 2023."
    assert not answer(asked("lunar mining", core="How much was earned by lunar mining?"), passage(said))


def test_a_name_over_a_section_is_the_subject_of_its_sentences() -> None:
    said = "Net income increased by $75 million in 2023, primarily due to lower restructuring charges."
    question = "Why did the net income of Zephyr Materials jump in 2023?"
    told = answer(
        asked("net income zephyr materials jump", core=question), passage(f"Zephyr Materials\n\n{FILLER}\n\n{said}")
    )
    assert told == said


def test_a_line_broken_amid_a_sentence_does_not_end_it() -> None:
    text = (
        "On February 15, the Board of Directors of the company appointed Jo Doe, age 46, as\n"
        "interim Chief Financial Officer of the company and of its subsidiaries, effective\n"
        " March\n"
        "1, 2023, in addition to his current duties as head of planning and of the treasury."
    )
    (found,) = sentences_of(text)
    assert found.endswith("his current duties as head of planning and of the treasury.")


def test_a_name_that_begins_with_what_is_counted_is_not_counted() -> None:
    said = "Acme sponsors 15 different Employee Resource Groups worldwide."
    question = "How many employees did Acme have at the end of 2022?"
    assert "15" not in answer(asked("employees", core=question), passage(f"{FILLER} {said}"))


@pytest.mark.parametrize(
    "said",
    [
        "Acme has three reportable segments: domestic ferry, foreign ferry and other lines with their members.",
        "At the end of 2023 the remaining term of ferry members was 3.38 years.",
        "In 2023 we became the sponsor of the 401(k) plan for ferry members.",
        "In 2023 we acquired 28,334 shares transferred to us from ferry members.",
    ],
)
def test_a_number_of_other_things_counts_nothing(said: str) -> None:
    question = "How many ferry members did Acme have at the end of 2023?"
    told = answer(asked("ferry members", core=question, figure=True), passage(f"{FILLER} {said}"))
    assert not told.startswith(("Three", "3.38"))


def test_of_transactions_what_was_done_is_told_and_not_what_may_come_of_them() -> None:
    risk = (
        "Acme may face challenges with integrating major acquisitions, joint ventures, and other deals that Acme does."
    )
    done = "On March 17, 2023, Acme completed the acquisition of all of the shares of a major packaging manufacturer."
    question = "What are the major acquisitions that Acme has done in 2023?"
    told = answer(asked("major acquisitions", core=question), passage(f"{FILLER} {risk} {FILLER} {done}"))
    assert told.startswith("On March 17, 2023")


COMING = "At the end of 2023 debt of $40 million was outstanding, of which $9 million falls due in {}."


def test_a_figure_for_a_coming_year_is_of_that_year() -> None:
    core, words = "How much debt falls due in 2025?", "debt due"
    assert "$9 million" in of(core, words, COMING.format(2025), figure=True)
    assert of(core, words, COMING.format(2024), figure=True).startswith("missing")


def test_the_number_of_a_model_counts_none_of_it() -> None:
    core, words = "How many 737s did we deliver in 2023?", "737s deliver"
    beside = "Costs fell in 2023 on lower 737 MAX penalties and higher 737 MAX deliveries to customers."
    assert of(core, words, beside, figure=True).startswith("missing")
    assert "263" in of(core, words, f"{beside} We delivered 263 737s in 2023, and no others.", figure=True)


@pytest.mark.parametrize(
    "other",
    [
        "Our cloud revenue, which includes Tellurond, other services and support, was $9 million in 2023.",
        "The maximum revenue of Tellurond in any month of 2023 was $9 million, as we had said before.",
        "A hypothetical change of prices in 2023 by a tenth is worth $9 million of revenue of Tellurond.",
    ],
)
def test_a_figure_of_a_whole_an_extreme_or_a_supposition_is_none_of_the_subject(other: str) -> None:
    core, words = "How much revenue did Tellurond bring in 2023?", "revenue Tellurond"
    stated = "The revenue of Tellurond was $7 million in 2023."
    assert of(core, words, other, figure=True).startswith("missing")
    assert of(core, words, f"{other} {stated}", figure=True) == stated


def test_what_rose_is_not_told_of_a_question_for_a_rise_without_a_subject() -> None:
    told = of("How much did it rise?", "rise", "Fuel expense increased by 13% in 2023 in all regions.", figure=True)
    assert told.startswith("missing")


def test_a_verdict_about_a_movement_needs_one() -> None:
    core, words = "Did sales of yogurt grow in 2023?", "sales yogurt grow"
    still = "We restated the sales of yogurt of 2023 by unit and by segment of the company."
    assert of(core, words, still).startswith("missing")
    assert "fell" in of(core, words, f"{still} Our sales of yogurt fell in 2023 to the level of years before.")


def test_a_comparison_is_answered_by_what_names_both() -> None:
    core, words = "What was bigger in 2023, cinemas or ferries?", "cinemas ferries"
    one = "Cinemas were bigger in 2023 than they had been in any year before it."
    both = "Cinemas were bigger in 2023 than ferries."
    assert of(core, words, one).startswith("missing")
    assert both in of(core, words, f"{one} {both}")


def test_a_reason_for_a_movement_is_given_where_one_is_stated() -> None:
    core, words = "Why did wholesale revenue fall in 2023?", "wholesale revenue"
    aside = "Wholesale revenue depends on weather because people stay at home."
    why = "Wholesale revenue fell because two customers left in 2023."
    assert of(core, words, aside).startswith("missing")
    assert of(core, words, f"{aside} {why}") == why


@pytest.mark.parametrize(
    "question",
    [
        "Did any customer account for more than 10% of revenue in 2023?",
        "Did any single customer make up more than 10% of revenue in 2023?",
        "Did any one customer represent 10% or more of revenue in 2023?",
        "Did any customer constitute over 10 percent of revenue in 2023?",
    ],
)
def test_a_bound_is_settled_in_other_words(question: str) -> None:
    stated = "No single customer accounted for more than 10% of our revenue in 2023."
    assert of(question, f"customer revenue {question}", stated) == stated


def test_the_report_of_the_auditor_before_is_not_told() -> None:
    report = (
        "Report of Independent Registered Public Accounting Firm\n"
        "We have audited the statements of the company as of December 31, {}.\n/s/ {} LLP\n"
    )
    core, words = "Which accounting firm audits the company in 2023?", "accounting firm audits"
    reports = (report.format(2022, "Orrin & Vale"), report.format(2023, "Tarn & Beck"))
    assert of(core, words, *reports) == of(core, words, *reversed(reports)) == "Tarn & Beck LLP."


def test_nobody_is_named_by_a_pronoun() -> None:
    core, words = "Who became treasurer of the foundation in 2023?", "became treasurer foundation"
    nameless = "In 2023, he became treasurer of the foundation of Arbor Hall and of Vale House."
    named = "In 2023, Mara Quill became treasurer of the foundation, as she had been before."
    assert of(core, words, nameless).startswith("missing")
    assert of(core, words, f"{nameless} {named}") == named


@pytest.mark.parametrize(
    "text",
    [
        "Ferry sales rose by 9% compared to a rise of 4% in 2022, driven by passengers of the islands.",
        "Excluding the impact of disposals, ferry sales rose by 9% in 2023, driven by passengers of the islands.",
    ],
)
def test_what_is_excluded_or_set_against_a_movement_is_neither_its_reason_nor_its_time(text: str) -> None:
    assert of("Why did ferry sales rise in 2023?", "ferry sales", text) == text
    assert of("Did ferry sales rise in 2023?", "ferry sales rise", text) == text


def test_a_verdict_of_a_year_may_name_a_quarter() -> None:
    text = "Our ferry business is seasonal, as its sales are highest in the third quarter."
    assert of("Is the ferry business seasonal in 2023?", "ferry business seasonal", text) == text


@pytest.mark.parametrize(
    "asked_for", ["made up 10% or more of", "accounted for more than 10% of", "make up 10% or more of"]
)
def test_a_threshold_is_not_among_the_figures_that_answer(asked_for: str) -> None:
    stated = "Two customers accounted for 14% and 11%, respectively, of our revenue in 2023."
    assert of(f"How many customers {asked_for} revenue in 2023?", f"customers revenue {asked_for}", stated) == stated


def test_the_company_is_not_its_unit() -> None:
    whole = (
        "As of May 31, 2023, Acme employed 900 drivers in all countries, and Acme Freight used another 70 contractors."
    )
    unit = "As of May 31, 2023, Acme Freight employed 200 drivers."
    intent = asked("drivers employ", figure=True, core="How many drivers did Acme employ in 2023?").model_copy(
        update={"companies": (RequestedCompany(key="acme", name="Acme Corporation", confidence=1.0),)}
    )
    assert answer(intent, passage(unit), passage(whole, 1)) == whole
    of_unit = intent.model_copy(update={"core": "How many drivers did Acme Freight employ in 2023?"})
    assert answer(of_unit, passage(unit), passage(whole, 1)) == unit


def test_an_office_is_nobodys_name() -> None:
    core = "Who was Acme's finance chief in 2023?"
    question = asked("finance chief", Relation.EXPLANATION, core=core)
    signed = (
        "With our Chief Executive Officer and Chief Financial Officer, we assessed internal control over reporting."
    )
    officers = (
        "Ann B. Moss, age 61, is Chief Executive Officer.\n"
        "Bo C. Reed, age 51, is Chief Financial Officer. He came in 2009."
    )
    assert answer(question, passage(f"{FILLER} {signed}")) == ""
    assert answer(question, passage(signed), passage(officers, 3)) == "Bo C. Reed, Chief Financial Officer."


def test_a_definition_is_of_what_is_to_be_defined() -> None:
    question = asked("define net bookings", Relation.EXPLANATION, core="How does Acme define net bookings?")
    told = "Net bookings is the amount of products sold in the period, and includes license fees."
    beside = (
        "Net debt is defined as long-term debt less cash.",
        "Net bookings is a key performance indicator for us.",
    )
    assert answer(question, *(passage(text, at) for at, text in enumerate(beside))) == ""
    assert answer(question, *(passage(text, at) for at, text in enumerate((*beside, told)))) == told


def test_a_brand_in_small_letters_begins_a_sentence() -> None:
    sentences = sentences_of(
        "iTable sales fell in 2023 due to fewer models. iTable sales rose in 2022 due to more of them."
    )
    assert sentences == [
        "iTable sales fell in 2023 due to fewer models.",
        "iTable sales rose in 2022 due to more of them.",
    ]


def test_a_bound_is_no_answer_and_a_range_has_two_ends() -> None:
    share = asked(
        "share net sales Corvane", Relation.EACH, figure=True, core="What percentage of net sales came from Corvane?"
    )
    bound = "No customer other than Corvane accounted for 10 percent or more of our net sales."
    assert answer(share, passage(bound)) == ""
    assert "20 percent" in answer(
        share, passage(bound), passage("Corvane accounted for 20 percent of our net sales.", 3)
    )
    core = "What operating income range did Acme expect for 2023?"
    outlook = asked("operating income range expect", Relation.EACH, figure=True, core=core)
    one, two = (
        f"We expect operating income {told} in 2023." for told in ("of $5 million", "between $4 million and $6 million")
    )
    assert answer(outlook, passage(one)) == "" and answer(outlook, passage(one), passage(two, 3)) == two


def test_a_designation_counts_nothing() -> None:
    question = asked("787 aircraft deliver", Relation.EACH, figure=True, core="How many 787 aircraft did Acme deliver?")
    slow = "Deliveries of 787 aircraft were slowed by production issues, and we delivered few of them."
    assert answer(question, passage(slow)) == ""


@pytest.mark.parametrize(
    "core",
    [
        "What explanation does the company give for lower freight expense in 2023?",
        "How does the company account for the fall in freight expense in 2023?",
        "To what does the company attribute the decrease in freight expense in 2023?",
        "What was responsible for the decline in freight expense in 2023?",
        "Freight expense lower yoy in 2023: causes",
    ],
)
def test_a_reason_is_asked_for_in_many_ways(core: str) -> None:
    text = "Freight expense decreased in 2023 compared with 2022 due to lower diesel prices on our own routes."
    assert of(core, "freight expense", f"Freight expense was $9 million.\n\n{text}") == text


@pytest.mark.parametrize(
    "core",
    [
        "Who is the auditor of the company, and since when?",
        "Auditor of the company and year engaged",
        "Which accounting firm audits the company and when did it start serving as auditor?",
        "Name the accounting firm that audits the company, and the year its tenure began",
    ],
)
def test_since_when_an_auditor_serves_is_told_behind_its_name(core: str) -> None:
    text = (
        "Report of Independent Registered Public Accounting Firm\n\n"
        "We have audited the statements of the company as of December 31, 2023.\n\n/s/ Tarn & Beck LLP\n\n"
        "We have served as the Company\u2019s auditor since 1983."
    )
    assert "auditor since 1983" in of(core, "accounting firm audits auditor engaged serving tenure", text)


@pytest.mark.parametrize(
    "core", ["In which state is the company incorporated?", "The company's state of incorporation"]
)
def test_the_state_of_incorporation_is_that_of_the_cover(core: str) -> None:
    named = "ACME, INC.\n(Exact name of registrant)\nNorth Carolina\n13-1584302\n"
    cover = f"{named}(State or other jurisdiction of incorporation)"
    assert of(core, "incorporated laws", cover) == "North Carolina."


COVER = (
    "For the fiscal year ended May 31, 2023\nCommission File Number: 001-35992\nAcme Corporation\n"
    "(Exact name of registrant)\nDelaware\n54-2185193\n(State or other jurisdiction of incorporation)\n\n"
    "The aggregate market value of the common stock, $0.01 par value, held by non-affiliates of the registrant on\n"
    "November 30, 2022 was $129.6 billion. As of June 12, 2023, there were 2,714,259,000 shares of common stock,\n"
    "par value $0.01, outstanding."
)


@pytest.mark.parametrize(
    ("core", "told"),
    [
        ("When does the company's fiscal year end?", "May 31, 2023."),
        ("On what date did its financial year end?", "May 31, 2023."),
        ("What is the company's commission file number?", "001-35992."),
        ("What is its employer identification number?", "54-2185193."),
        ("What was the market value of the stock held by non-affiliates?", "$129.6 billion."),
        ("How many shares of common stock are on the cover of the report?", "2,714,259,000."),
        ("Number of common shares outstanding per the 10-K cover?", "2,714,259,000."),
        ("Share count on the cover page", "2,714,259,000."),
        ("According to the front page, how many shares were outstanding as of June 12, 2023?", "2,714,259,000."),
    ],
)
def test_what_a_cover_states_is_read_from_the_cover(core: str, told: str) -> None:
    words = asked("registrant", Relation.EXPLANATION, core=core)
    on_cover, inside = (passage(COVER, before=page) for page in (0, 40))
    assert answer(words, on_cover).endswith(told)
    assert answer(words, inside) == ""


def test_a_cover_of_another_day_and_shares_held_by_others_or_in_treasury_are_not_told() -> None:
    of_another_day = asked("registrant", core="How many shares does the cover give as of June 13, 2022?")
    assert answer(of_another_day, passage(COVER, before=0)) == ""
    cover = (
        "As of June 30, 2023, there were 575,883,680 shares outstanding held by nonaffiliates of the registrant.\n"
        "At January 31, 2024, 564,985,109 shares were outstanding, after deducting 153,285,058 shares held in treasury."
    )
    every = asked("registrant", Relation.EXPLANATION, core="How many shares are on the cover?")
    assert answer(every, passage(cover, before=0)).endswith("564,985,109.")


@pytest.mark.parametrize(
    ("report", "told"),
    [
        ("that performing procedures relating to the warranty\nreserve is a critical audit matter are (i) the judgment",
         "The warranty reserve."),
        ("Program Estimates — Refer to Notes 1 and 7\nCritical Audit Matter Description\nMore.\nPensions\n"
         "Description of the Matter\nMore.", "Program Estimates; Pensions."),
        ("Evaluation of tax positions\nAs discussed in Note 9, the company", "Evaluation of tax positions."),
        ("The matters communicated below are critical audit matters.", ""),
    ],
)  # fmt: skip
def test_critical_audit_matters_are_told_by_their_heads(report: str, told: str) -> None:
    core = "What did the auditor flag as critical audit matters?"
    assert answer(asked("matters", Relation.EXPLANATION, core=core), passage(report, before=60)) == told


def test_a_reason_is_of_the_measure_and_not_of_its_parts() -> None:
    def fit(sentence: str) -> float:
        return measure_fitness(sentence, "Why did net sales change in fiscal 2023?", load_lexicon())

    whole = (
        "Net sales for 2023 increased by $12 million",
        "Total net sales, after returns, fell",
        "Our net sales were up 4%",
    )
    others = ("The allocation of net sales follows the stores", "Freight rose")
    parts = (
        "Tablet net sales decreased 9%",
        "Net sales per store fell",
        "Net sales in Japan grew",
        "Net sales from Tablets rose",
    )
    assert min(map(fit, whole)) > max(map(fit, others)) > max(map(fit, parts))


@pytest.mark.parametrize(
    ("core", "words", "told", "beside"),
    [
        ("How does the company value its inventories?", "value inventories",
         "Inventories are stated at the lower of cost or net realizable value.",
         "Inventories rose to $34 million because the value of goods in transit doubled."),
        ("What depreciation method does the company use?", "depreciation method use",
         "Depreciation is computed by the straight-line method over the lives of the assets.",
         "Depreciation rose to $9 million as the new plant came into use."),
        ("How does the company account for advertising costs?", "account advertising costs",
         "Advertising costs are expensed as incurred.", "Advertising costs were $21 million on account of the games."),
        ("Did any customer account for more than 10% of revenue?", "customer account revenue",
         "No single customer accounted for 10% or more of revenue.",
         "Revenue is recognized when a customer takes control of the goods."),
        ("Who is the chief executive officer?", "chief executive officer",
         "Ada Brook, our Chief Executive Officer, leads the company.",
         "The Audit Committee and the Chief Executive Officer Performance Award were reviewed."),
    ],
)  # fmt: skip
def test_a_practice_a_customer_and_a_holder_need_words_of_their_own(
    core: str, words: str, told: str, beside: str
) -> None:
    assert of(core, words, f"{beside}\n\n{told}") == told
    assert of(core, words, beside).startswith("missing")


@pytest.mark.parametrize(
    ("core", "said"),
    [
        ("How many employees did the company have at the end of 2023?",
         "As of December 31, 2023, our total workforce was approximately 142,000, with 12% located abroad."),
        ("The number of car deliveries in 2023", "In 2023 we delivered approximately 721,000 consumer vehicles."),
        ("The vehicle delivery count for 2023", "In 2023 we delivered approximately 721,000 consumer vehicles."),
        ("How many GWh of storage did the company deploy in 2023?", "In 2023, we deployed 31.4 GWh of energy storage."),
        ("How many MW of solar did the company install in 2023?", "In 2023, we installed 212 MW of solar roofs."),
    ],
)  # fmt: skip
def test_what_is_counted_may_be_named_otherwise(core: str, said: str) -> None:
    part = (
        "Approximately 47,000 employees, which constitute 33% of our total workforce, were union represented in 2023."
    )
    assert (
        of(
            core,
            "employees car vehicle delivery deliveries count GWh storage deploy MW solar install",
            f"{part}\n\n{said}",
            figure=True,
        )
        == said
    )


@pytest.mark.parametrize(
    ("core", "told"),
    [
        ("What sales and EPS range is the company guiding to?",
         ["Net sales: $5 billion", "Diluted earnings per share: $7"]),
        ("The company's comparable sales outlook", ["Comparable sales: 4% to 5%"]),
        ("The sales and comparable sales guidance", ["Net sales: $5 billion", "Comparable sales: 4% to 5%"]),
    ],
)  # fmt: skip
def test_each_line_of_an_outlook_that_a_question_names_is_told(core: str, told: list[str]) -> None:
    table = (
        "FY23 Outlook\nNet sales\n$5 billion\nComparable sales\n4% to 5%\nDiluted earnings per share\n$7\n"
        "Capital expenditures\n$400 million"
    )
    said = answer(asked("sales earnings per share", core=core), passage(table))
    assert said.rstrip(".").split(". ") == [f"{one} (FY23 Outlook)" for one in told]


def test_an_outlook_for_two_measures_is_told_of_each() -> None:
    sales = "Net sales are expected to be between $151 billion and $155 billion in 2025."
    income = "Operating income is expected to be between $14 billion and $18 billion in 2025."
    core = "What did the company guide to for 2025 net sales and operating income?"
    question = asked("net sales operating income", figure=True, year=2025, core=core)
    found = reason(question, [passage(f"{sales}\n\n{income}")], Words(), load_lexicon())  # type: ignore[arg-type]
    assert found.text == f"{sales} {income}"


@pytest.mark.parametrize(
    ("core", "level", "change"),
    [
        (
            "How much is the exposure to harbour dues?",
            "The exposure to harbour dues is estimated to be about $60 million, and is expected to increase over time.",
            "The exposure to harbour dues increased by approximately $7 million, or 13%.",
        ),
        (
            "How much was owed for harbour dues?",
            "A decrease in cash was caused by $60 million owed for harbour dues.",
            "The amount owed for harbour dues saw a $7 million decrease.",
        ),
    ],
)
def test_how_far_something_moved_is_not_how_high_it_is(core: str, level: str, change: str) -> None:
    assert of(core, "exposure owed harbour dues", level, figure=True) == level
    assert of(core, "exposure owed harbour dues", change, figure=True).startswith("missing")


@pytest.mark.parametrize(
    "reason_given",
    [
        "We have discontinued the ferry timetable, focusing instead on calls for boats.",
        "We have discontinued the ferry timetable as we sail on demand.",
        "We have discontinued the ferry timetable with the aim of sailing on demand.",
    ],
)
def test_a_reason_may_be_an_aim(reason_given: str) -> None:
    assert of("Why did it stop the ferry timetable?", "stop ferry timetable", reason_given) == reason_given
    described = "We have discontinued the ferry timetable as we described above."
    assert of("Why did it stop the ferry timetable?", "stop ferry timetable", described).startswith("missing")


def test_a_reason_is_of_the_later_of_two_years() -> None:
    texts = [
        f"For {year}, the harbour tax rate was higher, at {rate}%, due to {why}."
        for year, rate, why in ((2022, 25, "a toll"), (2023, 27, "a fine"))
    ]
    core = "Why was the harbour tax rate higher in 2023 than in 2022?"
    both = asked("harbour tax rate higher", core=core).model_copy(
        update={"periods": (FiscalPeriod(fiscal_year=2023), FiscalPeriod(fiscal_year=2022))}
    )
    assert "a fine" in answer(both, *(passage(text, number) for number, text in enumerate(texts)))
    assert "a toll" not in answer(both, *(passage(text, number) for number, text in enumerate(texts)))


def test_words_that_stand_together_as_in_the_question_count_for_one_that_is_missing() -> None:
    core = "How many sailors steer northern ferries nightly?"
    together = "In all, 60 sailors steer our northern ferries."
    apart = "60 sailors live in the northern hills above the old yards and quays, where ferries are hard to steer."
    assert of(core, core.removesuffix("?"), together, figure=True).startswith(together)
    assert of(core, core.removesuffix("?"), apart, figure=True).startswith("missing")


@pytest.mark.parametrize(
    ("core", "said"),
    [
        ("How much was knocked off the price of the ferry?", "The ferry price was reduced by $9 million."),
        ("How much was shaved off the price of the ferry?", "The ferry price was lowered by $9 million."),
        ("What is the max leverage?", "A ratio of debt to EBITDA not to exceed 3.5 to 1.0 is required of us."),
        ("How much is the backlog?", "Remaining performance obligations were $9 million."),
    ],
)
def test_people_say_it_otherwise_than_filings(core: str, said: str) -> None:
    words = core.removesuffix("?").removeprefix("How much ").removeprefix("What ")
    assert of(core, words, said, figure=True) == said


def test_what_a_measure_includes_defines_it() -> None:
    defined, other = "Deck sales include revenues from all ferries.", "We paint some yards that include deck sales."
    assert of("How does it define deck sales?", "define deck sales", f"{other} {defined}") == defined


def test_what_moved_a_measure_is_told_of_it_and_not_of_what_was_left_out() -> None:
    text = "Excluding the impact of bridge tolls, ferry income rose driven by {}."
    assert of("What lifted bridge tolls?", "bridge tolls", text.format("tourists")).startswith("missing")
    assert "tourists" in of("What lifted ferry income?", "ferry income", text.format("tourists"))
    still = "In order to compare bridge tolls, we measure bridge tolls at last year's rates."
    assert of("What lifted bridge tolls?", "bridge tolls", still).startswith("missing")


def test_a_reason_of_one_part_is_not_that_of_another_or_of_the_whole() -> None:
    core = "Why did operating profit of the Harbour segment fall in 2023?"
    query = Query(
        question=core, kind=Kind.REASON, measures=(Line(words="operating profit", metric="operating_income"),),
        parts=Parts(names=("Harbour",)),
    )  # fmt: skip
    whole = "Operating profit decreased 1 percent in 2023, primarily driven by higher input costs."
    part = "HARBOUR SEGMENT\n\nSegment operating profit decreased 30 percent in 2023, primarily driven by a toll."
    question = asked("operating profit Harbour segment fall", core=core).model_copy(update={"query": query})
    found = reason(question, [passage(whole), passage(part, 1)], Words(), load_lexicon())  # type: ignore[arg-type]
    assert found.text == part.partition("\n\n")[2]
    of_all = question.model_copy(update={"core": core.replace(" of the Harbour segment", ""), "query": None})
    assert reason(of_all, [passage(whole)], Words(), load_lexicon()).text == whole  # type: ignore[arg-type]


def test_a_minimum_in_a_name_makes_no_figure_a_minimum() -> None:
    core = "What effective tax rate does it expect for 2023?"
    told = "With global minimum tax laws, the effective tax rate in 2023 is expected to be approximately 20.8%."
    assert of(core, "effective tax rate expect", told, figure=True) == told
    least = "The minimum effective tax rate in 2023 is expected to be approximately 20.8%."
    assert of(core, "effective tax rate expect", least, figure=True).startswith("missing")


@pytest.mark.parametrize(
    "core",
    [
        "What did the company guide to for Q1 2025?",
        "What guidance did the company give for the first quarter of 2025?",
        "What does it expect for Q1 2025?",
    ],
)
def test_an_outlook_of_the_period_is_told_whole_where_no_line_is_named(core: str) -> None:
    question = asked("guidance", core=core).model_copy(update={"periods": (FiscalPeriod(fiscal_year=2025, quarter=1),)})
    sales = "Net sales are expected to be $5 billion in all."
    tolls = "Tolls of the western sound are expected to be between $1 and $2 million."
    text = "Guidance\n\nWe gave it in May.\n\n"
    text += f"First Quarter 2025 Guidance\n\n•{sales}\n\n•{tolls}\n\nOur Ferries"
    assert answer(question, passage(text)) == f"{sales} {tolls}"
    assert answer(question, passage("Q1 2025 Outlook\nNet sales\n$5 billion\nTolls\n$2 million")) == (
        "Net sales: $5 billion (Q1 2025 Outlook). Tolls: $2 million (Q1 2025 Outlook)."
    )
    for other in ("Second Quarter 2025", "First Quarter 2024", "Fiscal 2025"):
        assert answer(question, passage(text.replace("First Quarter 2025", other))) == ""


def test_a_reason_may_stand_farther_behind_what_it_is_of() -> None:
    core, words = (
        "What did the company change about the useful lives of ferries, and why?",
        "useful lives ferries change",
    )
    told = "We changed the useful lives of our ferries from six years to five years in 2023."
    between = "We bought two more of them. Their crews live on the western sound."
    why = "These two changes are due to the faster development of engines."
    assert of(core, words, f"{told} {between} {why}") == f"{told} {why}"
    for other in ("These engines are due to be replaced because they are slow.", f"\n\n{why}"):
        assert "Not found: why" in of(core, words, f"{told} {between} {other}")


@pytest.mark.parametrize(
    ("second", "behind"),
    [
        ("is the company contesting it", "The Company has appealed the decision."),
        ("has the company accepted it", "We have appealed the order to the court of the western sound."),
        ("has it booked anything for it", ""),
    ],
)
def test_whether_it_is_settled_is_told_beside_what_was_told(second: str, behind: str) -> None:
    fine = "The tolls authority fined the Company $5 million over the bridge in 2023, which we have not recorded."
    question = f"How much did the tolls authority fine the company over the bridge, and {second}?"
    said = of(question, "tolls authority fine bridge contesting accepted booked", f"{fine} {behind}".strip())
    assert said == f"{fine} {behind}".strip()


def test_a_program_of_another_month_is_another_one() -> None:
    core = "How much of the May {} bridge program was left as of June 28, 2023?"
    said = "As of June 28, 2023, the amount remaining under the May 2022 bridge program was $19 million."
    for year, told in ((2022, said), (2023, "")):
        question = asked("bridge program left", core=core.format(year))
        assert answer(question, passage(said)) == told


def test_a_heading_apart_from_its_text_is_one_and_names_the_subject() -> None:
    fined = "On May 3, 2023, the tolls authority fined the Company $5 million for it."
    text = f"The harbour is closed.\n\nHarbour Tolls Act Inquiry\n\n{fined}"
    (*_, last) = paragraphs_of(text)
    assert last.heading == "Harbour Tolls Act Inquiry"
    said = of(
        "What fine did it get from the tolls authority under the Harbour Tolls Act?",
        "fine tolls authority harbour",
        text,
    )
    assert said == fined


def test_a_reason_beside_the_best_is_of_the_same_subject() -> None:
    told = "Ferry ticket sales fell in 2023 due to a closed harbour."
    other = "Ticket costs fell in 2023 due to lower prices of paper."
    said = of(
        "Why did ferry ticket sales fall in 2023?",
        "ferry ticket sales fall",
        f"{told}\n\n{FILLER}\n\n{FILLER}\n\n{other}",
    )
    assert said == told


@pytest.mark.parametrize("core", ["It has signed leases that have not begun yet: how much are they?",
                                  "It has signed leases that haven't started yet: how much are they?",
                                  "It has signed leases that have yet to begin: how much are they?"])  # fmt: skip
def test_what_stands_before_a_colon_is_the_subject(core: str) -> None:
    said = "As of May 31, 2023, we had $849 million of payments under leases that had not yet commenced."
    assert of(core, "signed leases begun started begin", said) == said
    assert of(core, "signed leases begun started begin", "We paid $8 million for leases in 2023.").startswith("missing")


def test_what_something_cost_is_an_amount() -> None:
    said = "We recorded a charge of $10 million for the harbour aid decision in 2023."
    assert of("What did the long harbour aid ruling cost the company in 2023?", "harbour aid ruling cost", said) == said
    none = "The harbour aid decision of 2023 is before the court of the western sound."
    assert of(
        "What did the long harbour aid ruling cost the company in 2023?", "harbour aid ruling cost", none
    ).startswith("missing")


def test_an_explanation_is_a_reason_of_the_measure_and_not_of_its_cost() -> None:
    told = "Ferry sales revenue decreased $6 million in 2023 due to lower prices."
    cost = "Cost of ferry sales revenue decreased $3 million in 2023 due to cheaper oil."
    question = asked("ferry sales revenue decline", core="Explain the decline in ferry sales revenue in 2023.")
    found = reason(question, [passage(f"{cost}\n\n{told}")], Words(), load_lexicon())  # type: ignore[arg-type]
    assert found.text == told


@pytest.mark.parametrize("word", ["profits", "profit", "earnings"])
def test_the_profit_of_a_part_is_its_operating_income(word: str) -> None:
    told = "The increase in Harbour operating income in 2023 is primarily due to lower tolls."
    of_tax = "The increase in Harbour tax expense in 2023 is primarily due to a law."
    question = asked(f"Harbour {word} jump", core=f"Why did Harbour {word} jump in 2023?")
    found = reason(question, [passage(f"{of_tax}\n\n{told}")], Words(), load_lexicon())  # type: ignore[arg-type]
    assert found.text == told
    whole = asked(f"{word} jump", core=f"Why did {word} jump in 2023?")
    assert not reason(whole, [passage(told)], Words(), load_lexicon()).text  # type: ignore[arg-type]


def test_a_longer_name_of_the_line_is_the_line_asked_about() -> None:
    told = "The decrease in ferry services and other revenues for 2023 was due to less demand for trips."
    question = asked("ferry services revenue", core="Why did ferry services revenue decline in 2023?")
    found = reason(question, [passage(told)], Words(), load_lexicon())  # type: ignore[arg-type]
    assert found.text == told


def test_what_only_offset_a_movement_is_no_reason_of_it() -> None:
    core, words = "Why did ferry income increase in 2023?", "ferry income increase"
    assert of(core, words, "Ferry income increased in 2023, partially offset by tolls.").startswith("missing")
    told = "Ferry income increased in 2023 due to tourists, partially offset by tolls."
    assert of(core, words, told) == told


def test_the_causes_of_what_moved_are_told_with_it() -> None:
    general = "Ferry income decreased in 2023 due to lower ticket sales and lower cabin sales."
    causes = "The decreases in ticket sales and cabin sales were attributable to a bridge over the sound."
    assert of("What's behind the drop in ferry income in 2023?", "ferry income drop", f"{general} {causes}") == (
        f"{general} {causes}"
    )


@pytest.mark.parametrize("asks", ["weighed on", "hurt", "squeezed"])
def test_what_hurt_a_measure_is_no_reason_of_its_rise(asks: str) -> None:
    rose = "Ferry income increased in 2023 due to tourists."
    fell = "Ferry income decreased in 2023 due to a bridge."
    assert of(f"What {asks} ferry income in 2023?", "ferry income", f"{rose}\n\n{fell}") == fell
    assert of(f"What {asks} ferry income in 2023?", "ferry income", rose).startswith("missing")


@pytest.mark.parametrize(
    "core",
    [
        "What is the Corvane lawsuit over the ferry tolls about?",
        "What does the suit of Corvane over the ferry tolls allege?",
        "What is the harbour accused of in the Corvane case over ferry tolls?",
    ],
)
def test_a_suit_is_about_what_it_alleges(core: str) -> None:
    told = "Corvane filed a complaint in 2023, alleging that the ferry tolls are against the law."
    spent = "We spent much on the Corvane case over the ferry tolls in 2023."
    assert of(core, "Corvane lawsuit suit case ferry tolls", f"{spent}\n\n{told}") == told
    assert of(core, "Corvane lawsuit suit case ferry tolls", spent).startswith("missing")


@pytest.mark.parametrize("core", ["Where does the Corvane case stand?", "What is the status of the Corvane case?"])
def test_a_suit_stands_where_it_came_last(core: str) -> None:
    earlier = "On May 3, 2015, the court dismissed one claim of the Corvane case over tolls."
    last = "On May 3, 2022, we appealed the decision in the Corvane case over tolls to the court of the sound."
    question = asked("Corvane case", core=core).model_copy(update={"periods": ()})
    assert last in answer(question, passage(f"{earlier}\n\n{last}"))
    assert answer(question, passage("Nobody of us likes the Corvane case over tolls.")) == ""


@pytest.mark.parametrize("core", ["On what terms is it buying Corvane?", "What are the terms of the Corvane deal?"])
def test_terms_of_a_deal_are_what_is_given_for_it(core: str) -> None:
    told = "Under the merger agreement, each share of Corvane will be converted into the right to receive 1.7 shares."
    other = "With the acquisition of Corvane, the company now offers ferries."
    assert of(core, "buying Corvane terms", f"{other}\n\n{told}") == told
    assert of(core, "buying Corvane terms", other).startswith("missing")


def test_a_price_is_what_was_paid_and_not_what_the_acquired_earned() -> None:
    core, words = "What did it pay for Corvane and for Tellur in 2023?", "pay Corvane Tellur"
    sold = "Sales from our newly acquired Corvane and Tellur boats totaled $244 million for 2023."
    assert of(core, words, sold).startswith("missing")
    one = "During the third quarter, we acquired Corvane for $737 million."
    other = "In 2023, we acquired Tellur for a purchase price of $360 million."
    assert of(core, words, f"{sold}\n\n{one}\n\n{other}") == f"{one} {other}"


SUIT = (
    "On June 4, 2021, a holder filed a suit in the Ohio Court against Acme over the 2020 pay plan. "
    "On December 2, 2022, the Court denied the motion to revise its opinion. "
    "Acme appealed to the Supreme Court on March 11, 2023. "
    "The appeal has been fully briefed. "
    "If the appeal fails, Acme may have to pay $9 million."
)


@pytest.mark.parametrize(
    "core",
    [
        "What's the latest on the suit in the Ohio Court over the 2020 pay plan?",
        "Where does the suit in the Ohio Court over the 2020 pay plan stand?",
        "What is the current status of the suit in the Ohio Court over the 2020 pay plan?",
    ],
)
def test_a_suit_stands_where_the_end_of_what_is_told_of_it_says(core: str) -> None:
    said = answer(asked("suit ohio court 2020 pay plan", core=core), passage(SUIT))
    assert "The appeal has been fully briefed." in said
    assert "If the appeal fails" not in said


@pytest.mark.parametrize(("month", "says"), [("April 2023", "fined Acme $5 million"), ("May 2022", "opened a probe")])
def test_what_happened_in_a_month_is_told_by_a_sentence_of_that_month(month: str, says: str) -> None:
    text = (
        "On May 3, 2022, the Trade Commission opened a probe of Acme. "
        "On April 23, 2023, the Trade Commission fined Acme $5 million for its store terms. "
        "In April 2021, the Trade Commission issued a paper on stores."
    )
    core = f"What did the Trade Commission do to Acme in {month}?"
    said = answer(asked("trade commission", core=core), passage(text))
    assert says in said and "2021" not in said


@pytest.mark.parametrize(
    ("core", "words", "said"),
    [
        ("How much storage did it deploy in 2023?", "storage deploy", "In 2023, we deployed 31.4 GWh of storage."),
        (
            "What were the outstanding notes worth at fair value?",
            "outstanding notes worth fair value",
            "The fair value of the notes was $88 million.",
        ),
        (
            "What was the stake in Corvane worth on its books?",
            "stake Corvane worth books",
            "The fair value of our investment in Corvane totaled $612 million.",
        ),
        (
            "How much did it lose on its Corvane stake in 2023?",
            "lose Corvane stake",
            "We had a loss of $16 million from our investment in Corvane.",
        ),
        (
            "How much is it on the hook for under ferry deals in total?",
            "hook ferry deals total",
            "We owe $16 million under ferry contracts, with minimum guaranteed fees.",
        ),
    ],
)
def test_a_figure_is_of_the_kind_that_is_asked_for(core: str, words: str, said: str) -> None:
    assert of(core, words, said) == said


def test_what_is_sold_has_a_buyer() -> None:
    told = "In 2023, we completed the sale of Corvane to Seaholm, Inc. for $4 million."
    other = "Corvane costs of our Harbour Card business also include food."
    for core in ("Who bought Corvane?", "To whom did it sell Corvane?", "Which company acquired Corvane in 2023?"):
        assert of(core, "Corvane", f"{other}\n\n{told}") == told
        assert of(core, "Corvane", other).startswith("missing")


def test_what_has_to_come_first_is_told_by_a_condition() -> None:
    told = "We will not pay dividends until we have earned $6 million."
    other = "We are unable to predict when we will begin the payment of dividends."
    core = "What has to happen before it can start paying dividends again?"
    assert of(core, "start paying dividends", f"{other}\n\n{told}") == told
    unclaimed = "The board may stop paying dividends until they are claimed."
    assert of(core, "start paying dividends", unclaimed).startswith("missing")


def test_what_has_accumulated_is_not_what_a_year_took() -> None:
    told = "Goodwill is net of accumulated impairment charges of $167 million."
    assert of("How much goodwill did it impair in 2023?", "goodwill impair", told).startswith("missing")


def test_a_write_down_is_no_fall_and_a_leasehold_improvement_no_rise() -> None:
    told = "In 2023, we recorded an impairment charge on piers, primarily leasehold improvements, due to closures."
    assert of("Why did it write down piers in 2023?", "write down piers", told) == told


def test_a_figure_of_a_year_is_not_that_of_its_last_quarter() -> None:
    quarter = "Harbour tolls represented 55% of all tolls in the fourth quarter of 2023."
    year = f"Harbour tolls, which {'we and all of our many friends and partners ' * 2}know, represented 54% in 2023."
    assert of("What portion of tolls were Harbour tolls in 2023?", "tolls Harbour", f"{quarter}\n\n{year}") == year


def test_how_far_something_moved_may_be_told_as_a_reason() -> None:
    told = "Sales increased 15.6% compared to 21.4% in 2022, driven by a 13.6% increase in crossings."
    assert of("By how much did crossings grow in 2023?", "crossings grow", told) == told
    assert of("By how much did crossings fall in 2023?", "crossings fall", told).startswith("missing")
