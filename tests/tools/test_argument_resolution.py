"""What narrows a search (company, form, year, ids), what is said where it leaves nothing, and pages as written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.tools.argument_resolution import filter_filings, parse_page_numbers, resolve_company
from fin_agent.tools.arguments import FilterArguments, ListFilingsArguments
from fin_agent.tools.errors import ToolInputError
from fin_agent.vocabulary.page import page_ranges
from fin_agent.workspace import Workspace
from tests.tools.conftest import Call


def left(workspace: Workspace, **given: object) -> set[str]:
    return set(filter_filings(workspace, FilterArguments.model_validate(given)) or ())


def test_nothing_narrows_nothing(workspace: Workspace) -> None:
    assert filter_filings(workspace, FilterArguments()) is None
    assert filter_filings(workspace, FilterArguments(company="", form=None, fiscal_year=None, doc_ids=[])) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name",
    [
        *("Harborlight", "harborlight", "HLGT", "hlgt", "$HLGT", "Harborlight Instruments, Inc."),
        *("HARBORLIGHT INSTRUMENTS INC", " Harborlight  Instruments "),
    ],
)
def test_a_company_by_its_names(workspace: Workspace, name: str) -> None:
    assert resolve_company(name, workspace).name == "Harborlight Instruments, Inc."


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Harborligt", "'Harborlight Instruments, Inc.' (HLGT)"),
        ("Tellurnd Semi", "'Tellurond Semiconductor Corporation' (TUND)"),
        ("QLKM", "'Quillmark Stores, Inc.' (QLMK)"),
    ],
)
def test_a_name_that_is_near_one_is_not_taken_for_it(workspace: Workspace, name: str, near: str) -> None:
    with pytest.raises(ToolInputError) as refused:
        resolve_company(name, workspace)
    assert near in refused.value.remedy


def test_a_longer_name_that_holds_a_company_s_is_another_company(workspace: Workspace) -> None:
    with pytest.raises(ToolInputError, match="'Quillmark & Tellurond Bank' does not clearly name an indexed company"):
        resolve_company("Quillmark & Tellurond Bank", workspace)


def test_a_company_that_is_nowhere_near_is_answered_with_those_there_are(workspace: Workspace) -> None:
    with pytest.raises(ToolInputError, match=r"There are: .*Harborlight.*Quillmark"):
        resolve_company("Zyx", workspace)


@pytest.mark.parametrize("form", ["10-K", "10-k", "10K", "Form 10-K", "10-K/A"])
def test_a_form_as_people_write_it(workspace: Workspace, form: str) -> None:
    assert left(workspace, company="Quillmark", form=form) == {f"quillmark_{year}_10k" for year in (2022, 2023, 2024)}


def test_year_and_quarter_are_those_of_the_filing(workspace: Workspace) -> None:
    names = ("harborlight", "quillmark", "tellurond")
    assert left(workspace, fiscal_year=2022) == {f"{name}_2022_10k" for name in names}
    assert left(workspace, fiscal_year=2024, quarter=3) == {"harborlight_2024q3_10q", "quillmark_2024q3_10q"}
    assert left(workspace, form="8-K", fiscal_year=2024) == {f"{name}_2024_8k" for name in names}


def test_what_is_there_is_said_where_nothing_is_left(call: Call) -> None:
    message = call("list_filings", company="Quillmark", form="10-K", fiscal_year=2019)
    assert message.status == "error"
    assert "there is no 10-K of fiscal 2019 of 'Quillmark Stores, Inc.'" in str(message.content)
    assert "10-K FY2022, 10-K FY2023, 10-K FY2024, 10-Q Q3 FY2024, 8-K FY2024" in str(message.content)


def test_ids_are_known_or_near_ones_are_named(call: Call) -> None:
    message = call("page_search", query="revenue", doc_ids=["harborlight_2023"])
    assert message.status == "error"
    assert "Did you mean 'harborlight_2023_10k'" in str(message.content)


def test_filters_and_ids_both_hold(workspace: Workspace) -> None:
    given = ["quillmark_2023_10k", "harborlight_2023_10k"]
    assert left(workspace, doc_ids=given, company="Quillmark") == {"quillmark_2023_10k"}
    with pytest.raises(ToolInputError, match="among 2 ids given"):
        left(workspace, doc_ids=given, company="Tellurond")


@pytest.mark.parametrize("wrong", [{"fiscal_year": 23}, {"quarter": 5}, {"form": "10-Z"}, {"k": 0}, {"years": [2023]}])
def test_what_cannot_be_is_refused_with_the_argument_s_name(call: Call, wrong: dict[str, object]) -> None:
    message = call("list_filings", **wrong)
    assert message.status == "error"
    assert next(iter(wrong)) in str(message.content)
    assert "It takes: company, form, fiscal_year, quarter, doc_ids, k" in str(message.content)


def test_what_models_fill_in_for_nothing_is_nothing() -> None:
    filled = ListFilingsArguments.model_validate(
        {"company": "", "form": "", "fiscal_year": 0, "quarter": None, "doc_ids": [], "k": 5}
    )
    assert filled == ListFilingsArguments(k=5)


@pytest.mark.parametrize(
    ("written", "pages"),
    [
        ("12", [11]),
        ("3-5", [2, 3, 4]),
        ("3 – 5, 8", [2, 3, 4, 7]),
        ("8; 3 to 4", [7, 2, 3]),
        ("p. 9", [8]),
        ("pages 9-10", [8, 9]),
        ("2, 2, 1-3", [1, 0, 2]),
    ],
)
def test_numbers_and_ranges(written: str, pages: list[int]) -> None:
    assert parse_page_numbers(written) == pages


@pytest.mark.parametrize("written", ["", " , ", "0", "5-3", "nine", "1-", "-3", "1e3", "9" * 7, "1-99999", "3 5"])
def test_what_is_no_range_is_refused(written: str) -> None:
    with pytest.raises(ToolInputError) as refused:
        parse_page_numbers(written)
    assert "from 1" in str(refused.value)


def test_pages_behind_the_last_are_left_out_and_none_at_all_is_refused() -> None:
    assert parse_page_numbers("16-20", 17) == [15, 16]
    with pytest.raises(ToolInputError, match="the filing has 17 pages"):
        parse_page_numbers("18-20", 17)


@given(st.sets(st.integers(0, 500), min_size=1))
def test_what_is_written_is_read(pages: set[int]) -> None:
    assert parse_page_numbers(page_ranges(sorted(pages))) == sorted(pages)
