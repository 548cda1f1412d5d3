"""A model's wording of a question: read by rules, where they do not read the question itself, and of nothing else."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from fin_agent.analyst.events import journal
from fin_agent.analyst.model.analyst import years_in
from fin_agent.analyst.rules.analyst import RulesAnalyst, is_computable
from fin_agent.evidence.intent import Intent
from fin_agent.models.settings import Preset
from fin_agent.testing import ScriptedChatModel
from fin_agent.workspace import Workspace
from tests.analyst.model.clients import NOTHING, analyst, roles

SURE = "What was Harborlight's revenue in FY2023?"
WORDS = "Which patent suit did Harborlight settle in 2024?"
MEDIAN = "What was the median of Harborlight's revenue over FY2022 - FY2024?"
SLANG = "Harborlight FY23: how fat was the cushion left of net sales once operating income was through?"
FIGURE = "How much did Quillmark pay for Fernhollow in fiscal 2024?"
EUROS = "What was Harborlight's revenue in FY2023 in euros?"
MARGIN = "operating income / revenue of Harborlight in FY2023"


def read(
    workspace: Workspace, question: str, reply: object, preset: Preset = Preset.DEFAULT
) -> tuple[Intent, tuple[str, ...], ScriptedChatModel]:
    """The intent, the warnings, and the model that was asked."""
    reading, model = analyst(workspace, {"intent": reply}, preset)  # type: ignore[dict-item]
    with journal() as notes:
        intent = reading.intent(question)
    return intent, notes.warnings, model


def reply(*questions: str, search: str = "") -> dict[str, JsonValue]:
    return {"questions": list(questions), "search": search}


@pytest.mark.parametrize(
    ("question", "preset", "asked"),
    [
        (SURE, Preset.FAST, 0),
        (SURE, Preset.DEFAULT, 0),
        (SURE, Preset.THOROUGH, 0),
        (WORDS, Preset.FAST, 0),
        (WORDS, Preset.DEFAULT, 1),
        (WORDS, Preset.THOROUGH, 1),
        (MEDIAN, Preset.FAST, 0),
        (MEDIAN, Preset.DEFAULT, 1),
        (FIGURE, Preset.DEFAULT, 1),
        (EUROS, Preset.THOROUGH, 0),
        ("What was Apple's revenue in FY2023?", Preset.DEFAULT, 0),
    ],
)
def test_a_model_is_asked_where_rules_do_not_read_it_whole(
    workspace: Workspace, question: str, preset: Preset, asked: int
) -> None:
    own = RulesAnalyst(workspace).intent(question)
    intent, warnings, model = read(workspace, question, reply(question), preset)
    assert roles(model) == ["intent"] * asked and warnings == ()
    assert intent.model_copy(update={"unsupported": own.unsupported, "beyond_rules": ()}) == own


def test_the_wording_is_read_by_rules(workspace: Workspace) -> None:
    own = RulesAnalyst(workspace).intent(MARGIN)
    intent, warnings, model = read(workspace, SLANG, reply(MARGIN))
    assert roles(model) == ["intent"] and warnings == ()
    assert is_computable(own) and (intent.expression, intent.periods) == (own.expression, own.periods)
    assert intent.query == own.query and intent.question == SLANG
    assert intent.assumed[-1] == f"the model reads the question as: {MARGIN}"


def test_several_wordings_are_answered_one_by_one(workspace: Workspace) -> None:
    several = [MARGIN, "change in net sales of Harborlight from FY2022 to FY2023"]
    reading, _ = analyst(workspace, {"intent": reply(*several)})
    intent = reading.intent(SLANG)
    assert list(reading.split_asks(intent)) == several and intent.question == SLANG


@pytest.mark.parametrize(
    "questions",
    [[MEDIAN], [MARGIN, "Why did Harborlight's margin rise in FY2023?"], ["net sales of nothing at all"]],
)
def test_what_rules_do_not_read_either_is_left_to_the_model(workspace: Workspace, questions: list[str]) -> None:
    own = RulesAnalyst(workspace).intent(MEDIAN)
    reading, _ = analyst(workspace, {"intent": reply(*questions)})
    intent = reading.intent(MEDIAN)
    assert intent.beyond_rules == own.unsupported and intent.unsupported == ()
    assert list(reading.split_asks(intent)) == [MEDIAN]


def test_words_to_search_with_are_searched_with(workspace: Workspace) -> None:
    intent, _, _ = read(workspace, WORDS, reply(WORDS, search="patent infringement Corvane settlement 12.5"))
    assert {"infringement", "corvane"} <= {word.lower() for word in intent.expansions}
    reading, _ = analyst(workspace, {"intent": reply(WORDS, search="infringement Corvane")})
    asked = reading.intent(WORDS)
    query = reading.query(asked, reading.plan(asked), None)
    assert any("infring" in term.lower() for term in (*query.terms, *query.expansions))


@pytest.mark.parametrize(
    ("wording", "told"),
    [
        ("operating income / revenue of Harborlight in FY2019", "names 2019"),
        ("operating income / revenue of Tellurond in FY2023", "is of Tellurond"),
        ("operating income / revenue of Harborlight in FY2023 * 41.7", "has 41.7"),
        ("", "contains no question"),
    ],
)
def test_a_wording_of_something_else_is_sent_back_once(workspace: Workspace, wording: str, told: str) -> None:
    intent, warnings, model = read(workspace, SLANG, reply(wording))
    assert roles(model) == ["intent", "intent"] and told in model.calls[1].text
    assert warnings[0].startswith("the intent of the model could not be had") and not is_computable(intent)


def test_a_line_that_has_nothing_to_do_with_the_question_is_not_taken(workspace: Workspace) -> None:
    intent, warnings, _ = read(workspace, SLANG, reply("goodwill of Harborlight in FY2023"))
    assert "nothing to do with it" in warnings[0] and not is_computable(intent)


def test_a_model_that_fails_leaves_what_rules_read(workspace: Workspace) -> None:
    intent, warnings, _ = read(workspace, MEDIAN, NOTHING)
    assert intent.beyond_rules and warnings[0].startswith("the intent of the model could not be had")


@pytest.mark.parametrize(
    ("question", "years"),
    [
        ("What was Harborlight's revenue in FY23?", {2023}),
        ("What was Harborlight's revenue in '23, as its 10-K of 2024 has it?", {2023, 2024}),
        ("What was Harborlight's revenue in 2022-23?", {2022, 2023}),
        ("Harborlight YE22 debt vs 4Q23", {2022, 2023}),
        ("What did Harborlight sign on May 26, 2023, or in 2022, and when?", {2022, 2023}),
        ("Did Harborlight's revenue of FY2024 lie 23% above 2,023 and 18.21?", {2024}),
    ],
)
def test_the_years_of_a_question(question: str, years: set[int]) -> None:
    assert years_in(question) == years


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    questions=st.lists(
        st.one_of(
            st.text(max_size=30),
            st.sampled_from(
                [
                    MARGIN,
                    SURE,
                    "revenue of Apple in FY2023",
                    "revenue of Tellurond in FY2023",
                    "goodwill of Harborlight in FY2031",
                ]
            ),
        ),
        max_size=3,
    ),
    search=st.text(max_size=20),
    question=st.sampled_from([SURE, WORDS, MEDIAN, SLANG]),
)
def test_whatever_a_model_words_companies_and_years_are_those_of_the_question(
    workspace: Workspace, questions: list[str], search: str, question: str
) -> None:
    own = RulesAnalyst(workspace).intent(question)
    reading, _ = analyst(workspace, {"intent": reply(*questions, search=search)}, Preset.THOROUGH)
    intent = reading.intent(question)
    assert intent.question == question
    for ask in reading.split_asks(intent):
        one = reading.intent(ask) if ask != question else intent
        assert {each.key for each in one.companies} <= {each.key for each in own.companies}
        assert {each.fiscal_year for each in one.periods} <= {2021, 2022, 2023, 2024, 2025}


@pytest.mark.parametrize(
    ("question", "worded", "lost"),
    [
        (MEDIAN, "revenue of Harborlight in FY2021", "2022"),
        (MEDIAN, "average revenue of Harborlight over FY2022, FY2023 and FY2024", "median"),
        ("What was Harborlight's revenue in FY2023 without the acquired businesses?",
         "revenue of Harborlight in FY2023", "acquired"),
        ("How much of Quillmark's net sales in fiscal 2024 came from customers under forty?",
         "net sales of Quillmark in FY2024", "forty"),
    ],
)  # fmt: skip
def test_a_wording_that_leaves_something_out_is_another_question(
    workspace: Workspace, question: str, worded: str, lost: str
) -> None:
    reading, warnings, _ = read(workspace, question, reply(worded))
    own = RulesAnalyst(workspace, reads_alone=False).intent(question)
    assert reading.expression == own.expression and reading.question == question
    assert any(lost in each for each in warnings)


def test_a_company_that_the_question_leaves_open_is_not_chosen(workspace: Workspace) -> None:
    question = "Which company had the better year in FY2023 in terms of revenue quality?"
    _, warnings, model = read(workspace, question, reply("revenue of Tellurond in FY2023"))
    assert roles(model) == ["intent", "intent"]
    assert any("Tellurond" in each for each in warnings)


def test_years_may_be_asked_back(workspace: Workspace) -> None:
    asked_back = "Which year do you mean, FY2022, FY2023 or FY2024?"
    intent, warnings, model = read(workspace, "How did Harborlight do?", {**reply(), "ask_back": asked_back})
    assert intent.ask_back == asked_back
    assert roles(model) == ["intent"] and warnings == ()
