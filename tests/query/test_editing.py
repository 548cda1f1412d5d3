"""A reading that is edited: what is asked is the tree as it was left, and its words say so."""

from __future__ import annotations

import pytest

from fin_agent.errors import QuestionError
from fin_agent.graphs.answer import answer_question
from fin_agent.graphs.answer.context import AnswerContext, with_intent
from fin_agent.query.editing import intent_of_edit, query_for_question, reword_question
from fin_agent.query.tree import Company, Line, NamedFormula, Parts, Period, Query
from fin_agent.workspace import Workspace

INCOME = "What was Harborlight's net income in FY2023?"
TURNOVER = "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?"


@pytest.fixture(scope="module")
def companies(workspace: Workspace) -> dict[str, Company]:
    """By the first word of their names."""
    known = workspace.directory.by_key.values()
    return {each.name.split()[0]: Company(key=each.key, name=each.name) for each in known}


def edited(question: str, workspace: Workspace, **changes: object) -> Query:
    return query_for_question(question, workspace).model_copy(update=changes)


@pytest.mark.parametrize(
    ("question", "changes", "words", "expression", "periods"),
    [
        (
            INCOME,
            {"periods": (Period(fiscal_year=2022),)},
            "What was Harborlight's net income in FY2022?",
            "net_income",
            ["FY2022"],
        ),
        (
            INCOME,
            {"measures": (Line(words="operating income", metric="operating_income"),)},
            "What was Harborlight's operating income in FY2023?",
            "operating_income",
            ["FY2023"],
        ),
        (
            INCOME,
            {"measures": (NamedFormula(words="gross margin", formula="gross_margin"),)},
            "What was Harborlight's gross margin in FY2023?",
            "gross_margin",
            ["FY2023"],
        ),
        (
            INCOME,
            {"measures": (Line(words="net income / revenue"),)},  # as typed: the grammar reads it
            "What was Harborlight's net income / revenue in FY2023?",
            "(net_income / revenue)",
            ["FY2023"],
        ),
        (
            TURNOVER,
            {"periods": (Period(fiscal_year=2023), Period(fiscal_year=2024))},
            TURNOVER.replace("FY2022 - FY2024", "FY2023 and FY2024"),
            "inventory_turnover",
            ["FY2023", "FY2024"],
        ),
        (
            "Did Harborlight's revenue exceed $3 billion in each year from 2022 to 2024?",
            {"unread": ()},
            "Did Harborlight's revenue exceed $3 billion from 2022 to 2024?",
            "revenue",
            ["FY2022", "FY2023", "FY2024"],
        ),
    ],
)
def test_the_tree_is_asked_and_the_words_say_it(
    workspace: Workspace, question: str, changes: dict[str, object], words: str, expression: str, periods: list[str]
) -> None:
    intent = intent_of_edit(edited(question, workspace, **changes), workspace)
    assert (intent.question, intent.expression, list(map(str, intent.periods))) == (words, expression, periods)
    assert not intent.unsupported


def test_companies_are_put_in_place_of_others_added_and_left_out(
    workspace: Workspace, companies: dict[str, Company]
) -> None:
    tellurond, harborlight = companies["Tellurond"], companies["Harborlight"]
    for chosen, words in (
        ((tellurond,), "What was Tellurond Semiconductor Corporation's net income in FY2023?"),
        (
            (harborlight, tellurond),
            "What was Harborlight and Tellurond Semiconductor Corporation's net income in FY2023?",
        ),
        ((), "What was net income in FY2023?"),
    ):
        intent = intent_of_edit(edited(INCOME, workspace, companies=chosen), workspace)
        assert intent.question == words
        assert [one.key for one in intent.companies] == [one.key for one in chosen]


def test_a_part_is_added_and_taken_away(workspace: Workspace) -> None:
    of_all = "What was Harborlight's revenue in FY2023?"
    parts = Parts(names=("Electronic Test",))
    intent = intent_of_edit(edited(of_all, workspace, parts=parts), workspace)
    assert intent.parts == ("Electronic Test",) and "Electronic Test" in intent.question
    again = intent_of_edit(edited(intent.question, workspace, parts=None), workspace)
    assert (again.parts, again.question) == ((), of_all)


def test_the_words_read_back_as_the_same_tree(workspace: Workspace) -> None:
    changed = edited(INCOME, workspace, periods=(Period(fiscal_year=2022),), unit="USD thousands")
    back = query_for_question(reword_question(changed, workspace), workspace)
    assert (back.measures, back.periods, back.unit) == (changed.measures, changed.periods, changed.unit)


def test_a_question_in_words_is_asked_of_another_company(workspace: Workspace, companies: dict[str, Company]) -> None:
    why = edited("Why did Harborlight's gross margin fall in FY2023?", workspace, companies=(companies["Tellurond"],))
    intent = intent_of_edit(why, workspace)
    assert intent.question == "Why did Tellurond Semiconductor Corporation's gross margin fall in FY2023?"


@pytest.mark.parametrize(
    "changes",
    [
        {"companies": (Company(key="cik 1", name="Nobody Inc."),)},
        {"measures": (Line(words="x", metric="no_such_metric"),)},
        {"measures": (NamedFormula(words="x", formula="no_such_formula"),)},
        {"measures": (Line(words="net income", metric="net_income", company='x") + 1'),)},
        {"measures": (Line(words="net income", metric="net_income", part='x") + 1'),)},
        {"parts": Parts(names=("No Such Segment",))},
        {"measures": (Line(words="net income / / revenue"),)},
        {"periods": tuple(Period(fiscal_year=1900 + year) for year in range(100))},
    ],
)
def test_what_is_not_there_is_refused(workspace: Workspace, changes: dict[str, object]) -> None:
    with pytest.raises(QuestionError) as refused:
        intent_of_edit(edited(INCOME, workspace, **changes), workspace)
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("measure", "unit", "fits"),
    [
        (Line(words="net income", metric="net_income"), "percent", False),
        (Line(words="net income", metric="net_income"), "basis points", False),
        (Line(words="net income", metric="net_income"), "USD billions", True),
        (Line(words="net income / revenue"), "basis points", True),
        (Line(words="net income / revenue"), "USD millions", False),
        (NamedFormula(words="gross margin", formula="gross_margin"), "percent", True),
        (NamedFormula(words="gross margin", formula="gross_margin"), "USD millions", False),
    ],
)
def test_a_unit_is_kept_or_refused_and_never_passed_over(
    workspace: Workspace, measure: Line | NamedFormula, unit: str, fits: bool
) -> None:
    query = edited(INCOME, workspace, measures=(measure,), unit=unit)
    if not fits:
        with pytest.raises(QuestionError, match=f"cannot be given in {unit}"):
            intent_of_edit(query, workspace)
        return
    intent = intent_of_edit(query, workspace)
    said = answer_question(intent.question, with_intent(AnswerContext.by_rules(workspace), intent)).answer.text
    assert {"percent": "%", "basis points": "basis points", "USD billions": "billion"}[unit] in said
