"""The sample filings: reproducible, in agreement with themselves, and printed where `expected.json` says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pymupdf
import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "filings" / "make_filings.py"
STATEMENTS = {"income", "comprehensive-income", "balance", "cash-flow", "equity"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _make(tmp_path_factory.mktemp("filings"))


@pytest.fixture(scope="module")
def filings(folder: Path) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return loaded


def test_writes_the_same_bytes_again(folder: Path, tmp_path: Path) -> None:
    _make(tmp_path)
    written = sorted(path.name for path in folder.iterdir())
    assert written == sorted(path.name for path in tmp_path.iterdir())
    assert [name for name in written if (folder / name).read_bytes() != (tmp_path / name).read_bytes()] == []


def test_three_companies_with_five_small_filings_each(folder: Path, filings: list[dict[str, Any]]) -> None:
    forms: dict[str, list[str]] = {}
    for filing in filings:
        forms.setdefault(filing["company"], []).append(filing["form"])
        assert (folder / f"{filing['doc_id']}.pdf").stat().st_size < 80_000
    assert list(forms.values()) == [["10-K", "10-K", "10-K", "10-Q", "8-K"]] * 3
    assert all(14 <= filing["pages"] <= 18 for filing in filings if filing["form"] == "10-K")


def test_covers_name_registrant_form_and_period(folder: Path, filings: list[dict[str, Any]]) -> None:
    for filing in filings:
        cover = _pages(folder, filing["doc_id"])[0]
        assert f"FORM {filing['form']}" in cover
        assert filing["company"] in cover
        assert filing["file_number"] in cover
        year, month, day = filing["period_end"].split("-")
        assert re.search(rf"[A-Z][a-z]+ {int(day)}, {year}", cover), (filing["doc_id"], month)


def test_retailers_fiscal_year_is_named_after_the_year_it_began(filings: list[dict[str, Any]]) -> None:
    ends = {f["period_end"]: f["fiscal_year"] for f in filings if f["ticker"] == "QLMK" and f["form"] == "10-K"}
    assert ends == {"2023-01-28": 2022, "2024-02-03": 2023, "2025-02-01": 2024}


def test_statements_and_figures_stand_on_the_pages_claimed(folder: Path, filings: list[dict[str, Any]]) -> None:
    for filing in filings:
        pages = _pages(folder, filing["doc_id"])
        expected = {"10-K": STATEMENTS, "10-Q": STATEMENTS - {"equity"}, "8-K": set()}[filing["form"]]
        assert set(filing["statements"]) == expected
        for key, page in filing["statements"].items():
            assert "CONSOLIDATED" in pages[page]
            assert filing["company"].upper() in pages[page], (filing["doc_id"], key)
        for figure in filing["figures"]:
            tokens = pages[figure["page"]].split()
            for value in figure["values"]:
                printed = _printed(value["amount"], figure)
                assert printed in tokens, (filing["doc_id"], figure["metric"], figure["page"], printed)


def test_items_stand_on_the_pages_claimed(folder: Path, filings: list[dict[str, Any]]) -> None:
    for filing in filings:
        pages = _pages(folder, filing["doc_id"])
        for number, title, page in filing["items"]:
            heading = f"Item {number.split(' ')[-1]}. {title}" if filing["form"] != "8-K" else f"Item {number} {title}"
            assert heading in " ".join(pages[page].split()), (filing["doc_id"], heading)


def test_statements_add_up(filings: list[dict[str, Any]]) -> None:
    for filing in (f for f in filings if f["form"] != "8-K"):
        income, balance, flow = (_statement(filing, name) for name in ("income", "balance", "cash-flow"))
        for spanned in income["revenue"]:

            def of(metric: str, spanned: Any = spanned, income: Any = income) -> Decimal:
                return abs(income[metric][spanned]) if metric in income else Decimal(0)

            assert of("revenue") - of("cost_of_revenue") == of("gross_profit")
            expenses = of("research_and_development") + of("selling_general_administrative") + of("restructuring")
            assert of("gross_profit") - expenses == of("operating_income")
            other = of("income_before_taxes") - of("operating_income") + of("interest_expense")
            assert abs(other) == of("other_income")
            assert of("income_before_taxes") - of("income_tax") == of("net_income")
            for kind in ("basic", "diluted"):
                per_share = of("net_income") / of(f"shares_{kind}")
                assert abs(per_share - of(f"eps_{kind}")) <= Decimal("0.005")
        for at in balance["total_assets"]:
            assert balance["total_assets"][at] == balance["liabilities_and_equity"][at]
            assert balance["total_assets"][at] == balance["total_liabilities"][at] + balance["stockholders_equity"][at]
            parts = ("cash", "short_term_investments", "accounts_receivable", "inventories", "prepaid_expenses")
            assert sum(balance[name][at] for name in parts) == balance["current_assets"][at]
        (end, _), *_ = flow["net_change_in_cash"]
        if filing["form"] == "10-K":
            prior = list(balance["cash"])[1]
            assert balance["cash"][end, 0] - balance["cash"][prior] == flow["net_change_in_cash"][end, 12]


def test_prior_year_columns_agree_with_the_prior_filing(filings: list[dict[str, Any]]) -> None:
    seen: dict[tuple[str, str, str, str, int], Any] = {}
    compared = 0
    for filing in filings:
        for figure in filing["figures"]:
            for value in figure["values"]:
                key = (filing["ticker"], figure["metric"], str(figure["statement"]), value["end"], value["months"])
                compared += key in seen
                assert seen.setdefault(key, value["amount"]) == value["amount"], (filing["doc_id"], key)
    assert compared > 500


def _make(folder: Path) -> Path:
    subprocess.run([sys.executable, str(SCRIPT), "--out", str(folder)], check=True, capture_output=True)
    return folder


@cache
def _pages(folder: Path, doc_id: str) -> tuple[str, ...]:
    document: Any = pymupdf.open(folder / f"{doc_id}.pdf")  # type: ignore[no-untyped-call]
    with document:
        return tuple(page.get_text() for page in document)


def _statement(filing: dict[str, Any], name: str) -> dict[str, dict[tuple[str, int], Decimal]]:
    return {
        figure["metric"]: {(v["end"], v["months"]): Decimal(v["amount"]) for v in figure["values"]}
        for figure in filing["figures"]
        if figure["statement"] == name
    }


def _printed(amount: int | str, figure: dict[str, Any]) -> str:
    exact = Decimal(amount)
    if not exact:
        return "—"
    shares = 1 if figure["scale"] == 1_000_000 else 0
    places = {"USD per share": 2, "percent": 1, "shares": shares}.get(figure["unit"], 0)
    text = f"{abs(exact):,.{places}f}"
    sign = "%" if figure["unit"] == "percent" else ""
    return (f"({text})" if exact < 0 else text) + sign
