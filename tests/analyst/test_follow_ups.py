"""Messages of a conversation: which are whole, which go on from the question before, and as what they are read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fin_agent.analyst.rules.follow_ups import MessageKind, PreviousTurn, phrases, read_message
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.workspace import Workspace

INCOME = "What was Harborlight's net income in FY2023?"
HIGHER = "Which company had the higher net income in FY2023, Harborlight or Tellurond?"
CHANGE = "By how much did Harborlight's net sales change from FY2022 to FY2023?"
STOCKS = "What were Quillmark's merchandise inventories at the end of fiscal 2023?"
AVERAGE = "What was the average of Harborlight's net income from FY2021 to FY2023?"
GROWTH = "Quillmark's EPS growth 2024"
BOTH = "What was Harborlight's and Tellurond's net income in FY2023?"
ALL = "What was Harborlight's, Tellurond's and Quillmark's net income in FY2023?"
COMPARED = "How does Harborlight's net income in FY2023 compare to Tellurond's?"
QUARTER = "What was Harborlight's gross profit in Q3 FY2024?"


def read(workspace: Workspace, message: str, *before: str) -> tuple[MessageKind, str]:
    reading = read_message(message, [PreviousTurn(question) for question in before], workspace)
    return reading.kind, reading.question


class TestAnotherPeriod:
    @pytest.mark.parametrize(
        ("before", "message", "whole"),
        [
            (INCOME, "and in 2021?", "What was Harborlight's net income in FY2021?"),
            (INCOME, "2021?", "What was Harborlight's net income in FY2021?"),
            (INCOME, "And what about FY22?", "What was Harborlight's net income in FY2022?"),
            (INCOME, "and the year before?", "What was Harborlight's net income in FY2022?"),
            (INCOME, "how about the following year", "What was Harborlight's net income in FY2024?"),
            (INCOME, "and 2022 and 2024?", "What was Harborlight's net income in FY2022 and FY2024?"),
            (INCOME, "and from 2022 to 2024?", "What was Harborlight's net income from FY2022 to FY2024?"),
            (INCOME, "over the last three years?", "What was Harborlight's net income from FY2022 to FY2024?"),
            (STOCKS, "the year before?", "What were Quillmark's merchandise inventories in FY2022?"),
            (CHANGE, "and the year before?", "By how much did Harborlight's net sales change from FY2021 to FY2022?"),
            (CHANGE, "and in 2024?", "By how much did Harborlight's net sales change from FY2023 to FY2024?"),
            (QUARTER, "and the quarter before?", "What was Harborlight's gross profit in Q2 FY2024?"),
            (QUARTER, "and the year before?", "What was Harborlight's gross profit in Q3 FY2023?"),
            (
                CHANGE.replace("FY2022", "FY2021"),
                "and the year before?",
                "By how much did Harborlight's net sales change from FY2020 to FY2022?",
            ),
            (QUARTER, "year over year?", "What was the growth of Harborlight's gross profit in Q3 FY2024?"),
            (QUARTER, "up or down?", "By how much did Harborlight's gross profit change in Q3 FY2024?"),
            (QUARTER, "and in Q1?", "What was Harborlight's gross profit in Q1 FY2024?"),
        ],
    )
    def test_takes_the_place_of_the_one_before(
        self, workspace: Workspace, before: str, message: str, whole: str
    ) -> None:
        assert read(workspace, message, before) == (MessageKind.FOLLOW_UP, whole)

    def test_is_counted_from_the_answer_where_the_question_named_none(self, workspace: Workspace) -> None:
        asked = "What was Harborlight's net income?"
        answer = answer_question(asked, AnswerContext.by_rules(workspace))
        reading = read_message("and the year before?", [PreviousTurn(asked, answer)], workspace)
        assert reading.question == "What was Harborlight's net income in FY2023?"


class TestAnotherCompany:
    @pytest.mark.parametrize(
        ("before", "message", "whole"),
        [
            (INCOME, "same for Tellurond", "What was Tellurond's net income in FY2023?"),
            (INCOME, "and Quillmark?", "What was Quillmark's net income in FY2023?"),
            (INCOME, "What about TUND?", "What was TUND's net income in FY2023?"),
            (INCOME, "and Walmart?", "What was Walmart's net income in FY2023?"),
            (INCOME, "and Tellurond in 2022?", "What was Tellurond's net income in FY2022?"),
            (
                HIGHER,
                "and Quillmark?",
                "Which company had the highest net income in FY2023, Harborlight, Tellurond or Quillmark?",
            ),
            (AVERAGE, "and for Tellurond?", "What was Tellurond's average net income from FY2021 to FY2023?"),
            (
                "What was Walmart's net income in FY2023?",
                "and Tellurond?",
                "What was Tellurond's net income in FY2023?",
            ),
        ],
    )
    def test_takes_the_place_of_the_one_before(
        self, workspace: Workspace, before: str, message: str, whole: str
    ) -> None:
        assert read(workspace, message, before) == (MessageKind.FOLLOW_UP, whole)


class TestTheSetOfCompanies:
    @pytest.mark.parametrize(
        ("before", "message", "whole"),
        [
            (INCOME, "add Tellurond", BOTH),
            (INCOME, "include Tellurond and Quillmark, please", ALL),
            (BOTH, "and Quillmark?", ALL),
            (ALL, "without Quillmark", BOTH),
            (ALL, "only Tellurond", INCOME.replace("Harborlight", "Tellurond")),
            (COMPARED, "and Quillmark?", ALL),
            (COMPARED, "Tellurond's?", INCOME.replace("Harborlight", "Tellurond")),
            (COMPARED, "both?", BOTH),
            (HIGHER, "just Tellurond's", INCOME.replace("Harborlight", "Tellurond")),
        ],
    )
    def test_grows_and_shrinks(self, workspace: Workspace, before: str, message: str, whole: str) -> None:
        assert read(workspace, message, before) == (MessageKind.FOLLOW_UP, whole)

    @pytest.mark.parametrize(
        "message", ["all three?", "all companies?", "and for all of the companies?", "each company?"]
    )
    def test_all_names_every_company_of_the_index(self, workspace: Workspace, message: str) -> None:
        question = read(workspace, message, INCOME)[1]
        assert {"Harborlight's", "Tellurond's", "Quillmark's"} <= set(question.replace(",", "").split()), question

    def test_all_in_a_first_question_too(self, workspace: Workspace) -> None:
        kind, question = read(workspace, "What was the revenue of all three companies in FY2024?")
        assert kind is MessageKind.QUESTION
        assert question == "What was the revenue of Tellurond, Harborlight and Quillmark in FY2024?"

    def test_words_about_other_things_are_left(self, workspace: Workspace) -> None:
        for asked in (
            "What are all three segments of Harborlight?",
            "What was Harborlight's EPS, both basic and diluted?",
        ):
            assert read(workspace, asked, INCOME) == (MessageKind.QUESTION, asked)

    @pytest.mark.parametrize("message", ["all four?", "all five companies?", "both?", "which had the highest?"])
    def test_a_set_that_is_not_there_is_asked_about(self, workspace: Workspace, message: str) -> None:
        assert read(workspace, message, INCOME) == (MessageKind.UNCLEAR, "")

    @pytest.mark.parametrize(
        ("message", "whole"),
        [
            (
                "which had the highest?",
                "Which company had the highest net income in FY2023, Harborlight, Tellurond or Quillmark?",
            ),
            (
                "Which one was lowest?",
                "Which company had the lowest net income in FY2023, Harborlight, Tellurond or Quillmark?",
            ),
            (
                "which of them grew fastest?",
                "Which company's net income grew fastest in FY2023, Harborlight, Tellurond or Quillmark?",
            ),
        ],
    )
    def test_what_was_listed_is_compared(self, workspace: Workspace, message: str, whole: str) -> None:
        assert read(workspace, message, ALL) == (MessageKind.FOLLOW_UP, whole)


class TestAnotherMeasure:
    @pytest.mark.parametrize(
        ("before", "message", "whole"),
        [
            (INCOME, "What about its inventories?", "What were Harborlight's inventories in FY2023?"),
            (INCOME, "and EPS?", "What was Harborlight's EPS in FY2023?"),
            (INCOME, "and the gross margin", "What was Harborlight's gross margin in FY2023?"),
            (INCOME, "and Tellurond's inventories in 2022?", "What were Tellurond's inventories in FY2022?"),
            (INCOME, "What was revenue?", "What was Harborlight's revenue in FY2023?"),
            (INCOME, "What was its revenue in 2022?", "What was Harborlight's revenue in FY2022?"),
            (
                INCOME,
                "as a percentage of revenue?",
                INCOME.replace("net income", "net income as a percentage of revenue"),
            ),
            (INCOME, "in thousands?", "What was Harborlight's net income in FY2023 in thousands?"),
            (HIGHER, "what about revenue?", HIGHER.replace("higher net income", "highest revenue")),
            (
                INCOME,
                "how much did it change?",
                "By how much did Harborlight's net income change in FY2023?",
            ),
            (INCOME, "Who is the CEO?", "Who is the CEO at Harborlight?"),
            (INCOME, "Does it pay dividends?", "Does Harborlight pay dividends in FY2023?"),
            (INCOME, "and per share?", "What was Harborlight's net income per share in FY2023?"),
            (INCOME, "per employee?", "What was Harborlight's net income per employee in FY2023?"),
            (INCOME.replace("net income", "EPS"), "diluted or basic?", INCOME.replace("net income", "diluted EPS")),
            (INCOME, "no wait, cash at the end", "What was Harborlight's cash in FY2023?"),
            (INCOME, "ok, forget that. EPS?", "What was Harborlight's EPS in FY2023?"),
            (INCOME, "vs net margin", "What was Harborlight's net margin in FY2023?"),
            (GROWTH, "payout ratio?", "What was Quillmark's payout ratio in FY2024?"),
            (GROWTH, "stock buybacks?", "What were Quillmark's stock buybacks in FY2024?"),
            (CHANGE, "and gross profit?", CHANGE.replace("net sales", "gross profit")),
            (CHANGE, "Quillmark's EPS growth 2024", "What was the growth of Quillmark's EPS in FY2024?"),
            (
                INCOME.replace("in FY2023", "from FY2021 to FY2023"),
                "the average of those?",
                AVERAGE.replace("the average of Harborlight's", "Harborlight's average"),
            ),
        ],
    )
    def test_is_asked_of_the_same_company_and_period(
        self, workspace: Workspace, before: str, message: str, whole: str
    ) -> None:
        assert read(workspace, message, before) == (MessageKind.FOLLOW_UP, whole)


class TestSetAgainstAnother:
    @pytest.mark.parametrize(
        "message",
        [
            "How does that compare to Tellurond?",
            "compare it with Tellurond",
            "vs Tellurond",
            "versus Tellurond?",
            "Against Tellurond's?",
        ],
    )
    def test_is_the_same_measure_of_both(self, workspace: Workspace, message: str) -> None:
        whole = "How does Harborlight's net income in FY2023 compare to Tellurond's?"
        assert read(workspace, message, INCOME) == (MessageKind.FOLLOW_UP, whole)

    def test_is_of_the_period_that_is_named(self, workspace: Workspace) -> None:
        whole = "How does Harborlight's net income in 2022 compare to Tellurond's?"
        assert read(workspace, "versus Tellurond in 2022?", INCOME)[1].replace("FY", "") == whole

    @pytest.mark.parametrize(
        ("message", "years"),
        [("vs 2022", (2022, 2023)), ("versus FY2024?", (2023, 2024)), ("against 2021", (2021, 2023))],
    )
    def test_another_year_is_the_change_between_them(
        self, workspace: Workspace, message: str, years: tuple[int, int]
    ) -> None:
        whole = "By how much did Harborlight's net income change from FY{} to FY{}?".format(*years)
        assert read(workspace, message, INCOME) == (MessageKind.FOLLOW_UP, whole)

    def test_is_unclear_where_no_figure_was_asked_for(self, workspace: Workspace) -> None:
        asked = "Who is the auditor of Harborlight?"
        assert read(workspace, "is that more than Tellurond?", asked) == (MessageKind.UNCLEAR, "")


class TestPutTogether:
    @pytest.mark.parametrize(
        ("before", "message", "whole"),
        [
            (BOTH, "average?", "What was the average net income of Harborlight and Tellurond in FY2023?"),
            (BOTH, "and in total?", "What was the combined net income of Harborlight and Tellurond in FY2023?"),
            (
                "What was Harborlight's revenue from FY2022 to FY2024?", "on average?",
                "What was Harborlight's average revenue from FY2022 to FY2024?",
            ),
        ],
    )  # fmt: skip
    def test_the_average_and_the_total_of_what_was_listed(
        self, workspace: Workspace, before: str, message: str, whole: str
    ) -> None:
        assert read(workspace, message, before) == (MessageKind.FOLLOW_UP, whole)

    def test_one_figure_has_none(self, workspace: Workspace) -> None:
        assert read(workspace, "average?", INCOME) == (MessageKind.UNCLEAR, "")


class TestWhatIsPassedOver:
    def test_a_question_that_names_nobody_is_not_gone_on_from(self, workspace: Workspace) -> None:
        before = (INCOME, "Show me the balance sheet")
        assert read(workspace, "and in 2022?", *before)[1] == "What was Harborlight's net income in FY2022?"

    @pytest.mark.parametrize(
        "message",
        [
            "hmm", "no", "tell me more", "what about the margin?", "and the other two?", "average?", "and days?",
            "ratio to 2022?", "the average of those?", "litigation?",
        ],
    )  # fmt: skip
    def test_words_that_name_nothing_are_asked_about(self, workspace: Workspace, message: str) -> None:
        assert read(workspace, message, INCOME) == (MessageKind.UNCLEAR, "")

    def test_words_of_time_take_the_place_of_words_of_time(self, workspace: Workspace) -> None:
        before = "What was Harborlight's net income over the last three years?"
        assert (
            read(workspace, "and the last two years?", before)[1]
            == "What was Harborlight's net income in FY2023 and FY2024?"
        )
        assert read(workspace, "and in 2022?", before)[1] == "What was Harborlight's net income in FY2022?"


class TestWhy:
    @pytest.mark.parametrize("message", ["why?", "But why?", "What drove that?", "How come?", "why did it change"])
    def test_asks_for_reasons_in_the_direction_of_the_figures(self, workspace: Workspace, message: str) -> None:
        before = "What was Harborlight's revenue in FY2024?"
        assert read(workspace, message, before) == (
            MessageKind.FOLLOW_UP, "Why did Harborlight's revenue increase in FY2024?",
        )  # fmt: skip
        assert read(workspace, message, "What was Tellurond's revenue in FY2023?")[1] == (
            "Why did Tellurond's revenue decrease in FY2023?"
        )

    def test_a_direction_that_is_said_is_asked_about_where_the_figures_went_the_other_way(
        self, workspace: Workspace
    ) -> None:
        tellurond = INCOME.replace("Harborlight", "Tellurond")
        assert read(workspace, "why did it rise?", INCOME)[1] == "Why did Harborlight's net income increase in FY2023?"
        assert read(workspace, "why did it fall?", INCOME)[1] == "Did Harborlight's net income decrease in FY2023?"
        assert read(workspace, "why did it grow?", tellurond)[1] == "Did Tellurond's net income increase in FY2023?"


class TestWhatIsWhole:
    @pytest.mark.parametrize(
        "message",
        [
            HIGHER, CHANGE, STOCKS, "What was Tellurond's revenue in FY2022?", "Who is the CEO of Tellurond?",
            "Which company has the highest revenue in FY2023, Quillmark or Tellurond?",
        ],
    )  # fmt: skip
    def test_stays_as_it_is_whatever_was_before(self, workspace: Workspace, message: str) -> None:
        assert read(workspace, message) == (MessageKind.QUESTION, message)
        assert read(workspace, message, INCOME) == (MessageKind.QUESTION, message)

    def test_a_greeting_before_a_question_is_left_aside(self, workspace: Workspace) -> None:
        assert read(workspace, f"Hi, {INCOME}") == (MessageKind.QUESTION, INCOME)


class TestTalk:
    @pytest.mark.parametrize(
        ("message", "kind"),
        [
            ("hello", MessageKind.GREETING),
            ("Hi there!", MessageKind.GREETING),
            ("Good morning", MessageKind.GREETING),
            ("Thanks a lot, that helps!", MessageKind.THANKS),
            ("ok", MessageKind.THANKS),
            ("bye", MessageKind.FAREWELL),
            ("What can you do?", MessageKind.HELP),
            ("which page is that?", MessageKind.WHERE),
            ("Sources?", MessageKind.WHERE),
            ("How did you compute that?", MessageKind.HOW),
            ("that's wrong", MessageKind.DOUBT),
            ("Double check that, please", MessageKind.DOUBT),
            ("Hm, is that number right? It looks wrong", MessageKind.DOUBT),
            ("...", MessageKind.UNCLEAR),
            ("😀", MessageKind.UNCLEAR),
        ],
    )  # fmt: skip
    def test_is_no_question_for_filings(self, workspace: Workspace, message: str, kind: MessageKind) -> None:
        assert read(workspace, message, INCOME) == (kind, "")

    @pytest.mark.parametrize("message", ["and in 2021?", "why?", "which page is that?", "growth", "the year before?"])
    def test_what_goes_on_from_nothing_is_unclear(self, workspace: Workspace, message: str) -> None:
        assert read(workspace, message) == (MessageKind.UNCLEAR, "")


KINDS = ("leads", "same time", "theirs", "them", "why", "comparing")
OTHERS = (
    "Harborlight", "Tellurond's", "Walmart", "net income", "inventories", "gross margin", "in 2021", "Q3", "FY2022",
    "from 2022 to 2024", "the last three years", "?", ",", "'s", "as a percentage of", "(", "=", "what was",
    "which", "\n", "é", "%",
)  # fmt: skip
PIECES = sorted({*OTHERS, *(phrase for kind in KINDS for phrase in phrases(kind))})
SAID = st.lists(st.sampled_from(PIECES), max_size=7).map(" ".join) | st.text(max_size=60)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(message=SAID, before=st.sampled_from([INCOME, HIGHER, CHANGE, STOCKS, AVERAGE, QUARTER]) | SAID)
@example(message="x" * 20_000, before=INCOME)
@example(message="and in 2021?", before="x" * 20_000)
@example(message="as a percentage of ?", before=INCOME)
def test_no_message_fails_and_each_is_read_the_same_again(workspace: Workspace, message: str, before: str) -> None:
    earlier: Sequence[PreviousTurn] = [PreviousTurn(before, None)]
    reading = read_message(message, earlier, workspace)
    assert reading == read_message(message, earlier, workspace)
    assert reading.asks == bool(reading.question)
    assert isinstance(reading.question, str) and "\n" not in reading.question
    assert read_message(message, (), workspace).kind is not MessageKind.FOLLOW_UP


@pytest.mark.parametrize(
    "message", ["and quibblemart in 2022?", "and in 2022 for quibblemart?", "and common galvanic in 2022?"]
)
def test_a_name_that_nothing_knows_is_not_passed_over_for_its_year(workspace: Workspace, message: str) -> None:
    earlier = [PreviousTurn("What was Harborlight's net income in FY2023?")]
    assert read_message(message, earlier, workspace).kind is MessageKind.UNCLEAR


def test_it_is_set_against_the_year_that_is_named(workspace: Workspace) -> None:
    earlier = [PreviousTurn("What was Harborlight's net income in FY2023?")]
    whole = "By how much did Harborlight's net income change from FY2022 to FY2023?"
    assert read_message("is it higher than in 2022?", earlier, workspace).question == whole


@pytest.mark.parametrize(
    ("before", "message", "whole"),
    [
        (HIGHER, "by how much?", "What was the difference between Harborlight's and Tellurond's net income in FY2023?"),
        (BOTH, "which is higher?", HIGHER.replace("the higher", "the highest")),
        (BOTH, "compare the two", COMPARED),
        (ALL, "rank them", "Rank Harborlight, Tellurond and Quillmark by net income in FY2023?"),
        (AVERAGE, "cagr?", "What was the CAGR of Harborlight's net income from FY2021 to FY2023?"),
        (AVERAGE, "in which year was it highest?",
         "In which year was Harborlight's net income the highest, FY2021, FY2022 and FY2023?"),
        (CHANGE, "in percent?", f"{CHANGE.rstrip('?')} in percent?"),
        (INCOME, "and the average over 2021 to 2023?",
         AVERAGE.replace("the average of Harborlight's", "Harborlight's average")),
        (INCOME.replace("net income", "net income as a percentage of revenue"), "and inventories?",
         "What were Harborlight's inventories in FY2023?"),
        (INCOME, "did it increase?", "Did Harborlight's net income increase in FY2023?"),
        (INCOME.replace("net income", "Electronic Test revenue"), "and Environmental Sensing?",
         INCOME.replace("net income", "Environmental Sensing revenue")),
        (INCOME.replace("net income", "Electronic Test revenue"), "as a percentage of total revenue?",
         INCOME.replace("net income", "Electronic Test revenue as a percentage of total revenue")),
    ],
)  # fmt: skip
def test_what_is_asked_of_figures_goes_on_from_those_before(
    workspace: Workspace, before: str, message: str, whole: str
) -> None:
    assert read(workspace, message, before) == (MessageKind.FOLLOW_UP, whole)


@pytest.mark.parametrize(
    "message", ["in percent?", "and days?", "which segment was the largest?", "was that a record?"]
)
def test_what_the_figure_before_cannot_be_told_in_is_asked_back(workspace: Workspace, message: str) -> None:
    assert read(workspace, message, INCOME) == (MessageKind.UNCLEAR, "")
