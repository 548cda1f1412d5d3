"""Document search, page search and the list of filings, as a model uses them."""

from __future__ import annotations

import re

import pytest

from fin_agent.config import Settings
from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace
from tests.tools.conftest import Call, called


def test_filings_of_the_company_and_period_asked_about_come_first(call: Call) -> None:
    message = call("document_search", query="What was Tellurond's revenue in FY2023?", k=4)
    assert message.artifact.filings[0].doc_id == "tellurond_2023_10k"
    assert {filing.company for filing in message.artifact.filings} == {"Tellurond Semiconductor Corporation"}
    first = r"^1\. tellurond_2023_10k \| .*10-K, FY2023, period ended 2023-09-30 \| 17 pages$"
    assert re.search(first, str(message.content), re.M)


def test_the_page_of_a_statement_with_its_place(call: Call) -> None:
    message = call("page_search", query="net income", company="HLGT", form="10-K", fiscal_year=2023, k=3)
    best = message.artifact.pages[0]
    assert (best.filing.doc_id, best.page, best.page_number) == ("harborlight_2023_10k", 8, 9)
    assert best.statement == "income"
    assert "544" in best.text
    assert 'of="harborlight_2023_10k page 9, income, ' in str(message.content)
    assert {page.filing.doc_id for page in message.artifact.pages} == {"harborlight_2023_10k"}


def test_the_company_narrowed_to_is_the_one_asked_about(call: Call) -> None:
    found = call("page_search", query="inventories at the end of fiscal 2023", company="Quillmark", k=1).artifact
    assert found.notes == ()
    assert found.pages[0].filing.ticker == "QLMK"
    assert found.pages[0].statement == "balance"


def test_pages_can_be_narrowed_within_filings(call: Call) -> None:
    message = call("page_search", query="net income", doc_ids=["harborlight_2023_10k"], pages="10-12", k=10)
    assert {page.page_number for page in message.artifact.pages} <= {10, 11, 12}
    assert message.artifact.pages


@pytest.mark.parametrize(
    ("given", "said"),
    [({}, "`pages` needs a filing"), ({"doc_ids": ["harborlight_2023_10k"]}, "none of these filings has pages 90-95")],
)
def test_pages_of_no_filing_are_refused(call: Call, given: dict[str, object], said: str) -> None:
    message = call("page_search", query="net income", pages="90-95", **given)
    assert message.status == "error"
    assert said in str(message.content)


def test_who_is_not_indexed_is_told_before_what_is_found(call: Call) -> None:
    message = call("page_search", query="What was Walmart's revenue in FY2023?", k=1)
    assert "'Walmart'" in message.artifact.notes[0]
    assert "Walmart" in re.split(r"<passage-\w+ number=", str(message.content))[0]


def test_every_filing_is_listed_once_by_company_and_time(call: Call) -> None:
    message = call("list_filings")
    listed = [filing.doc_id for filing in message.artifact.filings]
    assert len(listed) == len(set(listed)) == message.artifact.total == 15
    assert listed[:2] == ["harborlight_2022_10k", "harborlight_2023_10k"]
    for doc_id in listed:
        assert doc_id in str(message.content)


def test_a_list_cut_short_says_how_many_there_are(call: Call) -> None:
    message = call("list_filings", k=4)
    assert len(message.artifact.filings) == 4
    assert str(message.content).startswith("15 filings, the first 4 listed")


def test_the_strategy_of_the_settings_searches(workspace: Workspace) -> None:
    tools = FinAgentToolkit(workspace=workspace, settings=Settings(strategy="bm25")).get_tools()
    by_name = {tool.name: tool for tool in tools}
    arguments = {"query": "restructuring liability", "company": "Harborlight", "k": 2}
    words = called(by_name, "page_search", arguments)
    usual = called(
        {tool.name: tool for tool in FinAgentToolkit(workspace=workspace).get_tools()}, "page_search", arguments
    )
    assert "restructuring" in words.artifact.pages[0].text.lower()
    assert words.artifact.pages[0].score != usual.artifact.pages[0].score


def test_a_query_of_nothing_but_blanks_is_refused(call: Call) -> None:
    assert call("page_search", query="   ").status == "error"
    assert call("document_search", query="").status == "error"
