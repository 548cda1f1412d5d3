"""Pages read and passages described."""

from __future__ import annotations

import re
from decimal import Decimal

from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace
from tests.tools.conftest import Call, called


def test_pages_are_shown_as_printed_in_the_order_asked_for(call: Call) -> None:
    message = call("read_page", doc_id="harborlight_2023_10k", pages="11, 9")
    assert [page.page_number for page in message.artifact.pages] == [11, 9]
    assert [page.page for page in message.artifact.pages] == [10, 8]
    assert re.search(r"^Net income \$ 544 \$ 474 \$ 482$", str(message.content), re.M)
    assert re.findall(r'of="harborlight_2023_10k page (\d+): ', str(message.content)) == ["11", "9"]


def test_what_is_cut_can_be_read_on_to_the_end(workspace: Workspace, call: Call) -> None:
    whole = call("read_page", doc_id="harborlight_2023_10k", pages="2-4")
    few = {tool.name: tool for tool in FinAgentToolkit(workspace=workspace, max_tokens=500).get_tools()}
    given: dict[str, object] = {"doc_id": "harborlight_2023_10k", "pages": "2-4"}
    read: list[str] = []
    for _ in range(40):
        content = str(called(few, "read_page", given).content)
        read += re.findall(r"<page-\w+ [^>]*>\n(.*?)\n</page-\w+>", content, re.S)
        more = re.search(r"go on with pages='([^']+)'(?:, from_line=(\d+))?\.\]", content)
        if more is None:
            break
        given = {**given, "pages": more[1], "from_line": int(more[2] or 1)}
    else:
        raise AssertionError("it never ends")
    printed = re.findall(r"<page-\w+ [^>]*>\n(.*?)\n</page-\w+>", str(whole.content), re.S)
    assert " ".join(read).split() == " ".join(printed).split()
    assert len(read) > 3


def test_a_filing_or_page_that_is_not_there(call: Call) -> None:
    message = call("read_page", doc_id="harborlight_2023_10k", pages="40")
    assert message.status == "error"
    assert "the filing has 17 pages" in str(message.content)
    message = call("read_page", doc_id="Harborlight", pages="1")
    assert message.status == "error"
    assert "list_filings" in str(message.content)


def test_too_many_pages_at_once(call: Call) -> None:
    assert call("read_page", doc_id="harborlight_2023_10k", pages="1-17").status == "success"
    doubled = call("card_extraction", doc_id="harborlight_2023_10k", pages="1-9999")
    assert doubled.status == "success"  # what the filing does not have is left out


def test_a_page_number_alone_is_a_page(call: Call) -> None:
    assert call("read_page", doc_id="harborlight_2023_10k", pages=9).artifact.pages[0].page_number == 9
    assert len(call("read_page", doc_id="harborlight_2023_10k", pages=[9, 10]).artifact.pages) == 2


def test_cards_say_what_a_page_holds_with_exact_figures(call: Call) -> None:
    message = call("card_extraction", doc_id="harborlight_2023_10k", pages="9")
    figures = {
        (fact.metric, fact.period): fact.amount * fact.scale for card in message.artifact.cards for fact in card.facts
    }
    assert figures["net_income", "FY2023"] == Decimal(544_000_000)
    row = r"^figures: Net income \| USD millions \| FY2023: 544; FY2022: 474; FY2021: 482 \| line \d+$"
    assert re.search(row, str(message.content), re.M)
    assert str(message.content).count("figures: Net income |") == 1, "running text repeats no figure of its tables"
    assert "metrics: revenue" in str(message.content)
