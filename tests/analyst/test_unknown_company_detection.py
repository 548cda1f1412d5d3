"""Companies that stand beside a known one in small letters, and words there that name none."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.unknown_company_detection import apparent_company_name, unknown_companies_in
from fin_agent.evidence.intent import Comparison, Intent
from fin_agent.workspace import Workspace


def intent(question: str, workspace: Workspace) -> Intent:
    return RulesAnalyst(workspace).intent(question)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("combined revenue of harborlight and zebulon in FY2023", ("zebulon",)),
        ("combined revenue of zebulon and harborlight in FY2023", ("zebulon",)),
        ("total capex of harborlight plus zebulon fy2023", ("zebulon",)),
        ("How much more revenue did Harborlight make than zebulon in FY2023?", ("zebulon",)),
        ("harborlight vs zebulon vs yonderly revenue fy2023", ("zebulon", "yonderly")),
        ("Harborlight, zebulon and quillmark: combined R&D in FY2023?", ("zebulon",)),
        ("zebulon, Harborlight, and Quillmark: combined revenue in FY2023?", ("zebulon",)),
        ("sum of harborlight and zebulon revenue in FY2023", ("zebulon",)),
        ("Compare harborlight with zebulon: difference in revenue for FY2023", ("zebulon",)),
        ("What is the ratio of Harborlight's revenue to zebulon's in FY2023?", ("zebulon",)),
        ("harborlight vs zebulon's gross margin FY2023", ("zebulon",)),
        ("zebulon wexley revenue 2023 vs harborlight revenue 2023, difference?", ("zebulon wexley",)),
        ("What was Harborlight's revenue divided by zebulon's revenue in FY2023?", ("zebulon",)),
        ("Which had higher FY2023 revenue, zebulon or Harborlight?", ("zebulon",)),
        ("whats harborlight minus zbln net income fy23", ("zbln",)),
    ],
)
def test_a_name_in_small_letters_beside_a_company(question: str, names: tuple[str, ...], workspace: Workspace) -> None:
    found = intent(question, workspace)
    assert found.unknown_companies == names
    assert found.question == question


def test_a_symbol_in_small_letters_beside_a_company_is_that_company(workspace: Workspace) -> None:
    question = "whats tund minus harborlight net income fy23"
    found = intent(question, workspace)
    assert [company.name.split()[0] for company in found.companies] == ["Tellurond", "Harborlight"]
    assert found.comparison is Comparison.DIFFERENCE
    assert (found.unknown_companies, found.question) == ((), question)


@pytest.mark.parametrize(
    "question",
    [
        "What was the revenue of Harborlight and its subsidiaries in FY2023?",
        "Did Harborlight's revenue grow faster than expected in FY2023?",
        "What were Harborlight's revenue and backlog in FY2023?",
        "What was Harborlight's revenue between 2023 and 2024?",
        "How much did Harborlight spend on R&D and marketing in FY2023?",
        "What was Harborlight's revenue and how did it change from 2023 to 2024?",
        "By how much did Harborlight and Quillmark grow revenue in FY2023, respectively?",
        "Compare Harborlight and Quillmark with respect to inventories in FY2023.",
        "Compare Harborlight to Quillmark on net income for FY2023.",
        "For Harborlight, compute the gross margin in FY2023.",
        "In FY2023, Harborlight, Quillmark and Tellurond held how much inventory?",
        "What is the ratio of Harborlight's total assets to its total liabilities in FY2023?",
        "What was Harborlight's free cash flow minus dividends in FY2023?",
        "Was Harborlight's net income higher than in the prior year, FY2023?",
        "Did Harborlight earn more than half of its revenue abroad in FY2023?",
        "Did Harborlight spend more than $1 billion on capex in FY2023?",
        "how much more did harborlight earn than quillmark in 2023",
        "Harborlight and, separately, Quillmark: revenue in FY2023?",
        "Add up Harborlight and Quillmark capex for FY2023.",
        "Tell me Harborlight's goodwill vs its total assets in FY2023.",
        "Harborlight's operating income versus prior-year operating income, FY2023?",
        "What was Harborlight's revenue in FY2024 vs FY2023?",
        "how did harborlight do versus last year in revenue, FY2023?",
        "Which is bigger, Harborlight or Quillmark, by FY2023 total assets?",
        "What was Harborlight's revenue in millions and Quillmark's in FY2023?",
        "Did Harborlight or Quillmark report a higher net income than Tellurond in FY2023?",
        "What was Harborlight's inventory turnover in FY2023, rounded to two decimals and expressed as a ratio?",
        "Take Harborlight's FY2023 operating cash flow and divide it by Quillmark's.",
        "what's harborlight's revenue minus cost of sales in FY2023?",
        "Was Harborlight's revenue greater than or equal to Quillmark's in FY2023?",
        "Harborlight and Quillmark's combined total R&D for fiscal 2023, please?",
        "Among Harborlight, Quillmark, and Tellurond, which was most profitable in terms of net income in FY2023?",
        "What was the change in Harborlight's inventory, compared with the year before, FY2023?",
        "Was Harborlight's FY2023 operating margin greater than forty percent?",
        "What were Harborlight's and, for comparison, Quillmark's revenues in FY2023?",
        "What was mirthware's revenue at Harborlight in FY2023?",
        "By how much did Harborlight's sales beat Quillmark's in FY2023?",
        "How much more did Harborlight spend on R&D than on capex in FY2023?",
        "Of Harborlight and Quillmark, whose revenue grew more than previously in FY2023?",
    ],
)
def test_words_beside_a_company_that_name_none(question: str, workspace: Workspace) -> None:
    found = intent(question, workspace)
    assert found.unknown_companies == ()
    assert unknown_companies_in(found.core, workspace) == []


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("zbln revenue fy2023", "zbln"),
        ("what did zebulon-wexley earn in 2023", "zebulon-wexley"),
        ("J.P. Wexley net interest income 2023", "J.P. Wexley"),
        ("General Wexley capex in FY2023", "General Wexley"),
        ("Wexley and Zebulon: which had more revenue in 2023?", "Wexley and Zebulon"),
        ("total revenue in 2023", None),
        ("what was net income in fiscal 2023?", None),
        ("What Was The Total Revenue In Fiscal Year 2023?", None),
        ("Harborlight revenue 2023", None),
    ],
)
def test_what_seems_to_be_the_company_where_none_is_indexed(
    question: str, name: str | None, workspace: Workspace
) -> None:
    assert apparent_company_name(intent(question, workspace), workspace) == name
