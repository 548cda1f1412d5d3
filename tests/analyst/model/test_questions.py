"""A model's reading of a question: taken where rules are unsure, never with another company, year, id or number."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from fin_agent.analyst.events import journal
from fin_agent.analyst.model.questions import offered_ids, years_asked
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.evidence.intent import Comparison, Intent, OutputUnit, Relation
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.models.settings import Preset
from fin_agent.testing import ScriptedChatModel
from fin_agent.workspace import Workspace
from tests.analyst.model.clients import NOTHING, analyst, roles

SURE = "What was Harborlight's revenue in FY2023?"
WORDS = "Which patent suit did Harborlight settle in 2024?"
MEDIAN = "What was the median of Harborlight's revenue over FY2022 - FY2024?"
MARGIN = "What was the median of Harborlight's operating income to revenue over FY2022 - FY2024?"
OF_TWO = "What was the median of Harborlight's and Tellurond's operating income in FY2023?"
FIGURE = "How much did Quillmark pay for Fernhollow in fiscal 2024?"
EUROS = "What was Harborlight's revenue in FY2023 in euros?"


def read(
    workspace: Workspace, question: str, reply: object, preset: Preset = Preset.DEFAULT
) -> tuple[Intent, tuple[str, ...], ScriptedChatModel]:
    """The intent, the warnings, and the model that was asked."""
    reading, model = analyst(workspace, {"intent": reply}, preset)  # type: ignore[dict-item]
    with journal() as notes:
        intent = reading.intent(question)
    return intent, notes.warnings, model


def reply(**fields: JsonValue) -> dict[str, JsonValue]:
    return {"relation": "each", "asks_figure": True, **fields}


@pytest.mark.parametrize(
    ("question", "preset", "asked"),
    [
        (SURE, Preset.FAST, 0),
        (SURE, Preset.DEFAULT, 0),
        (SURE, Preset.THOROUGH, 1),
        (WORDS, Preset.DEFAULT, 0),
        (WORDS, Preset.THOROUGH, 1),
        (MEDIAN, Preset.FAST, 0),
        (MEDIAN, Preset.DEFAULT, 1),
        (FIGURE, Preset.FAST, 0),
        (FIGURE, Preset.DEFAULT, 1),
        (EUROS, Preset.THOROUGH, 0),
    ],
)
def test_a_model_is_asked_where_rules_are_unsure(
    workspace: Workspace, question: str, preset: Preset, asked: int
) -> None:
    own = RulesAnalyst(workspace).intent(question)
    intent, warnings, model = read(workspace, question, {"relation": "explanation"}, preset)
    assert roles(model) == ["intent"] * asked and warnings == ()
    assert intent.model_copy(update={"unsupported": own.unsupported, "beyond_rules": ()}) == own


def test_what_the_model_reads_is_the_intent_where_rules_cannot(workspace: Workspace) -> None:
    answer = reply(
        expression="100 * operating_income / revenue", measure="operating margin", relation="average", unit="percent",
        periods=["FY2022", "fiscal 2023", "FY2024"], companies=["Apple"],
    )  # fmt: skip
    intent, warnings, model = read(workspace, MARGIN, answer)
    assert roles(model) == ["intent"] and warnings == ()
    assert (intent.expression, intent.measure) == ("100 * operating_income / revenue", "operating margin")
    assert (intent.relation, intent.unit, intent.measure_unit) == (Relation.AVERAGE, "percent", "percent")
    assert intent.numeric and intent.unsupported == () and intent.beyond_rules == ()
    assert [company.name for company in intent.companies] == ["Harborlight Instruments, Inc."]
    assert "the model reads the question as average of 100 * operating_income / revenue" in intent.assumed


def test_the_years_between_those_named_are_kept(workspace: Workspace) -> None:
    answer = reply(expression="operating_income", periods=["FY2022", "FY2023", "FY2024", "FY2021", "2031", "all"])
    intent, _, _ = read(workspace, MEDIAN, answer)
    assert intent.periods == tuple(FiscalPeriod(fiscal_year=year) for year in (2022, 2023, 2024))


@pytest.mark.parametrize(
    ("question", "years"),
    [
        ("What was Harborlight's revenue in FY23?", {2023}),
        ("What was Harborlight's revenue in '23, as its 10-K of 2024 has it?", {2023, 2024}),
        ("What was Harborlight's revenue in 2022-23?", {2022, 2023}),
        ("Did Harborlight's revenue of FY2024 lie 23% above 2,023 and 18.21?", {2024}),
    ],
)
def test_the_years_of_a_question(workspace: Workspace, question: str, years: set[int]) -> None:
    assert years_asked(RulesAnalyst(workspace).intent(question)) == years


def test_the_same_reading_as_that_of_rules_adds_nothing(workspace: Workspace) -> None:
    """Rules read `revenue` and lack `median`: a model that reads `revenue` as well does not have the median."""
    intent, _, _ = read(workspace, MEDIAN, reply(expression=" revenue", periods=["FY2022"]))
    assert intent.beyond_rules and intent.unsupported == () and intent.expression == "revenue"
    assert [period.fiscal_year for period in intent.periods] == [2022, 2023, 2024]
    assert intent.assumed == RulesAnalyst(workspace).intent(MEDIAN).assumed


def test_another_reading_of_what_rules_are_sure_of_is_told_and_not_taken(workspace: Workspace) -> None:
    intent, warnings, _ = read(workspace, SURE, reply(expression="revenue", relation="growth"), Preset.THOROUGH)
    assert intent == RulesAnalyst(workspace).intent(SURE)
    assert warnings == ("the model reads the question as growth of revenue, rules as each of revenue",)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("revenue +", "cannot be read"),
        ("inventories_of_apple", "which is none of the ids given"),
        ("goodwill / revenue", "uses goodwill, which is none of the ids given"),
        ("7 * 6", "uses none of the ids"),
        ("revenue + shares_outstanding", "none of the ids|unlike units"),
        ("revenue[2021]", "is of 2021, which the question does not name"),
        ("(" * 2_000 + "revenue" + ")" * 2_000, "at most 100 are read"),
        ("revenue\x00", "cannot be read"),
    ],
)
def test_a_reading_that_cannot_be_used_is_sent_back_once(workspace: Workspace, expression: str, told: str) -> None:
    intent, warnings, model = read(workspace, MEDIAN, reply(expression=expression))
    assert roles(model) == ["intent", "intent"]
    assert "That reply could not be used: " in model.calls[1].text
    (warning,) = warnings
    assert warning.startswith("the intent of the model could not be had: two replies could not be used: ")
    assert re.search(told, warning), warning
    assert intent.beyond_rules and intent.expression == "revenue" and intent.assumed == ()


@pytest.mark.parametrize(
    ("question", "fields", "taken"),
    [
        (MARGIN, {"relation": "growth", "comparison": "ratio"}, False),
        (MARGIN, {"relation": "average", "comparison": "highest"}, False),
        (MARGIN, {"comparison": "difference"}, False),
        (MARGIN, {"comparison": "difference", "periods": ["FY2022", "FY2024"]}, True),
        (MARGIN, {"comparison": "highest"}, True),
        (
            "What was the median of Harborlight's and Tellurond's operating income in FY2023?",
            {"comparison": "ratio"},
            True,
        ),
    ],
)
def test_what_is_compared_must_be_there(
    workspace: Workspace, question: str, fields: dict[str, JsonValue], taken: bool
) -> None:
    intent, warnings, _ = read(workspace, question, reply(expression="2 * operating_income", **fields))
    assert (intent.expression == "2 * operating_income") == taken
    assert taken == all("not computed" in warning for warning in warnings)
    assert taken or "the question has not what that would compare" in warnings[0]


@pytest.mark.parametrize(
    ("said", "measure"),
    [("operating margin", "operating margin"), ("It was 7,654.3", "operating income"), ("x" * 90, "operating income"),
     ("\u200b\n", "operating income")],
)  # fmt: skip
def test_a_measure_is_named_without_numbers_of_the_model(workspace: Workspace, said: str, measure: str) -> None:
    intent, _, _ = read(workspace, MARGIN, reply(expression="operating_income / revenue", measure=said))
    assert intent.expression == "operating_income / revenue" and measure in intent.measure.lower()


GOVERNMENT = "What were Harborlight's net sales to government customers in FY2023?"
PER_LABORATORY = "What were Harborlight's net sales per laboratory in FY2023?"


def test_what_the_expression_leaves_out_is_told_and_not_named(workspace: Workspace) -> None:
    answer = reply(expression="revenue", measure="net sales to government customers", companies=["government"])
    intent, warnings, _ = read(workspace, GOVERNMENT, answer)
    assert (intent.expression, intent.measure) == ("revenue", "revenue")
    (warning,) = warnings
    assert warning.startswith("the model reads the question as each of revenue; 'government'")
    assert warning.endswith(" not computed") and "harborlight" not in warning.lower() and "sales" not in warning


@pytest.mark.parametrize(
    ("question", "fields", "told"),
    [
        (
            GOVERNMENT,
            {"expression": "revenue", "parts": ["government customers"]},
            "`parts` has 'government customers'",
        ),
        (PER_LABORATORY, {"expression": "revenue"}, "asks for a figure 'per laboratory'"),
        (PER_LABORATORY, {"expression": "revenue[2023] - prior(revenue)"}, "asks for a figure 'per laboratory'"),
    ],
)
def test_a_figure_of_the_whole_is_none_of_a_part_and_none_per_piece(
    workspace: Workspace, question: str, fields: dict[str, JsonValue], told: str
) -> None:
    intent, warnings, model = read(workspace, question, reply(**fields))
    assert roles(model) == ["intent", "intent"] and told in model.calls[1].text
    assert not intent.numeric and told in warnings[0]


def test_a_reading_that_is_mended_is_taken_without_a_warning(workspace: Workspace) -> None:
    turns = [reply(expression="revenue[2021]"), reply(expression="revenue[2022]", periods=["FY2024"])]
    intent, warnings, model = read(workspace, MEDIAN, turns)
    assert intent.expression == "revenue[2022]" and warnings == () and len(model.calls) == 2


@pytest.mark.parametrize(
    ("question", "said", "decimals"),
    [
        (MARGIN, 500, None),
        (MARGIN, 0, None),
        (f"{MARGIN} Give it in whole percent.", 0, 0),
        (f"{MARGIN} Round it.", 999_999, None),
        (f"{MARGIN} Round it.", -5, None),
        (f"{MARGIN} Round it to one decimal place.", 4, 1),
    ],
)
def test_decimals_are_those_that_the_question_speaks_of(
    workspace: Workspace, question: str, said: int, decimals: int | None
) -> None:
    intent, _, _ = read(workspace, question, reply(expression="operating_income / revenue", decimals=said))
    assert (intent.expression, intent.decimals) == ("operating_income / revenue", decimals)


def test_a_model_that_fails_leaves_what_rules_read(workspace: Workspace) -> None:
    intent, warnings, _ = read(workspace, MEDIAN, NOTHING)
    assert intent.beyond_rules and intent.expression == "revenue"
    assert warnings[0].startswith("the intent of the model could not be had")


def test_the_ids_offered_are_those_that_the_question_speaks_of(workspace: Workspace) -> None:
    ids = offered_ids(SURE, workspace.lexicon)
    assert ids[0] == "revenue" and len(ids) == len(set(ids))
    assert "goodwill" not in ids
    assert {"operating_income", "revenue"} <= set(offered_ids("What was the operating margin?", workspace.lexicon))


ANY = st.fixed_dictionaries(
    {
        "core": st.text(max_size=20),
        "companies": st.lists(st.sampled_from(["Apple", "Tellurond Ltd", "x"]), max_size=2),
        "periods": st.lists(st.sampled_from(["FY2019", "FY2023", "Q3 FY2024", "2024", "Q9", ""]), max_size=3),
        "measure": st.text(max_size=20),
        "expression": st.one_of(
            st.none(),
            st.text(max_size=30),
            st.sampled_from(
                ["revenue", "revenue[2019]", "prior(revenue)", "revenue / 0", "revenue * 41.7", "-revenue"]
            ),
        ),
        "relation": st.sampled_from([relation.value for relation in Relation]),
        "comparison": st.sampled_from([comparison.value for comparison in Comparison]),
        "parts": st.lists(st.text(max_size=8), max_size=2),
        "unit": st.sampled_from([None, *OutputUnit.__args__]),  # type: ignore[attr-defined]
        "decimals": st.one_of(st.none(), st.integers(-(10**9), 10**9)),
        "asks_figure": st.booleans(),
    }
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer=ANY, question=st.sampled_from([SURE, WORDS, MEDIAN, FIGURE, f"{MARGIN} Round it."]))
def test_whatever_a_model_reads_company_and_years_are_those_of_the_question(
    workspace: Workspace, answer: dict[str, JsonValue], question: str
) -> None:
    own = RulesAnalyst(workspace).intent(question)
    intent, _, _ = read(workspace, question, answer, Preset.THOROUGH)
    assert intent.companies == own.companies and intent.question == question
    assert {period.fiscal_year for period in intent.periods} <= years_asked(own)
    assert intent.decimals is None or 0 <= intent.decimals <= 10
