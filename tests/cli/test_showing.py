"""`fin-agent show`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from fin_agent.cli.showing import write_pictures
from fin_agent.index.protocol import PageKey
from fin_agent.index.sqlite import SqliteIndex
from tests.cli.running import Ran

FILING = "quillmark_2023_10k"


@pytest.fixture
def expected(sample_filings: Path) -> dict[str, Any]:
    filings = json.loads((sample_filings / "expected.json").read_text(encoding="utf-8"))
    return next(each for each in filings if each["doc_id"] == FILING)


class TestFiling:
    def test_at_a_glance(self, sample_index: Path) -> None:
        out = Ran("show", FILING, "--index", sample_index).out
        for said in ("Quillmark Stores, Inc.", "10-K", "FY2023", "balance", "Item", "1A"):
            assert said in out, said
        assert max(map(len, out.splitlines())) <= 100

    def test_json(self, sample_index: Path, expected: dict[str, Any]) -> None:
        document = Ran("show", FILING, "--index", sample_index, "--json").document
        assert document["identity"]["company"] == expected["company"]
        assert document["identity"]["period_end"] == expected["period_end"]
        assert document["pages"] == expected["pages"]
        assert {run["item"] for run in document["items"]} >= {"1", "1A", "7", "8"}
        pages = {run["statement"]: run["first_page"] for run in document["statements"]}
        assert pages["balance"] < pages["cash-flow"] < pages["equity"]

    def test_name_in_other_capitals(self, sample_index: Path) -> None:
        ran = Ran("show", FILING.upper(), "--index", sample_index)
        assert ran.code == 1 and f"Did you mean {FILING}?" in ran.err

    def test_unknown_name(self, sample_index: Path) -> None:
        ran = Ran("show", "quilmark_2023_10k", "--index", sample_index)
        assert ran.code == 1 and FILING in ran.err and "fin-agent filings" in ran.err
        far = Ran("show", "xyz", "--index", sample_index)
        assert far.code == 1 and "Did you mean" not in far.err


class TestStatement:
    def test_balance_sheet(self, sample_index: Path, expected: dict[str, Any]) -> None:
        lines = Ran("show", FILING, "--statement", "balance", "--index", sample_index).out.splitlines()
        assert lines[0] == "CONSOLIDATED BALANCE SHEETS"
        assert "thousands" in lines[2]
        assets = next(line for line in lines if line.strip().startswith("Total assets"))
        figure = next(each for each in expected["figures"] if each["metric"] == "total_assets")
        assert assets.split()[2:] == [f"{each['amount']:,}" for each in figure["values"]]
        cash = next(line for line in lines if "Cash and cash equivalents" in line)
        assert cash.index("Cash") == assets.index("Total") + 2 and len(cash) == len(assets)
        assert lines[-1].startswith(f"{FILING}, page")

    def test_second_statement_of_a_page(self, sample_index: Path) -> None:
        shown = Ran("show", FILING, "--statement", "comprehensive-income", "--index", sample_index, "--json").document
        assert [row["label"] for row in shown["tables"][0]["rows"]][-1] == "Comprehensive earnings"
        income = Ran("show", FILING, "--statement", "income", "--index", sample_index).out
        assert "Net sales" in income and "Comprehensive earnings" not in income

    def test_json_gives_cells_unrounded(self, sample_index: Path) -> None:
        document = Ran("show", FILING, "--statement", "income", "--index", sample_index, "--json").document
        table = document["tables"][0]
        sales = next(row for row in table["rows"] if row["label"] == "Net sales")
        assert len(sales["cells"]) == len(table["columns"]) == len(table["periods"])
        assert sales["cells"][0]["amount"] == sales["cells"][0]["printed"].strip("$ ").replace(",", "")

    def test_statement_that_is_not_there(self, sample_index: Path) -> None:
        ran = Ran("show", "quillmark_2024q3_10q", "--statement", "equity", "--index", sample_index)
        assert ran.code == 1 and "income, comprehensive-income, balance, cash-flow" in ran.err
        none = Ran("show", "quillmark_2024_8k", "--statement", "equity", "--index", sample_index)
        assert none.code == 1 and "None of its pages has a statement" in none.err

    @pytest.mark.parametrize("width", [60, 80, 120, 200])
    def test_fits_the_terminal(self, sample_index: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        out = Ran("show", FILING, "--statement", "equity", "--index", sample_index).out
        assert max(map(len, out.splitlines())) <= width
        assert ("Columns 1 to" in out) == (width < 100)


class TestPage:
    def test_text_with_a_row_of_a_table_on_a_line(self, sample_index: Path) -> None:
        lines = Ran("show", FILING, "--page", 10, "--index", sample_index).out.splitlines()
        assert lines[0].startswith(f"{FILING}, page 10 of ")
        total = [line for line in lines if line.strip().startswith("Total assets")]
        assert [line.split() for line in total] == [["Total", "assets", "$", "3,137,333", "$", "3,152,128"]]

    def test_facts(self, sample_index: Path) -> None:
        facts = Ran("show", FILING, "--page", 10, "--facts", "--index", sample_index, "--json").document["facts"]
        assert facts and {fact["page"] for fact in facts} == {9}
        assets = next(fact for fact in facts if fact["metric"] == "total_assets")
        assert int(assets["value"]) == int(assets["amount"]) * assets["scale"] and assets["scale"] == 1000

    def test_out_of_range(self, sample_index: Path, expected: dict[str, Any]) -> None:
        ran = Ran("show", FILING, "--page", 900, "--index", sample_index)
        assert ran.code == 1 and f"1 to {expected['pages']}" in ran.err


class TestFacts:
    def test_of_a_statement_only(self, sample_index: Path) -> None:
        shown = Ran("show", FILING, "--statement", "comprehensive-income", "--facts", "--index", sample_index, "--json")
        labels = {fact["label"] for fact in shown.document["facts"]}
        assert "Comprehensive earnings" in labels and "Net sales" not in labels

    def test_chosen(self, sample_index: Path) -> None:
        ran = Ran("show", FILING, "--fact", "total assets", "--year", 2022, "--index", sample_index, "--json")
        facts = ran.document["facts"]
        assert facts[0]["statement"] == "balance" and {fact["period"]["fiscal_year"] for fact in facts} == {2022}

    def test_by_another_name(self, sample_index: Path) -> None:
        facts = Ran("show", FILING, "--fact", "capex", "--index", sample_index, "--json").document["facts"]
        assert facts and {fact["metric"] for fact in facts} == {"capital_expenditures"}

    def test_unknown(self, sample_index: Path) -> None:
        ran = Ran("show", FILING, "--fact", "total asets", "--index", sample_index)
        assert ran.code == 1 and "did you mean `total assets`" in ran.err.lower().replace("_", " ")
        year = Ran("show", FILING, "--fact", "total assets", "--year", 1999, "--index", sample_index)
        assert year.code == 1 and "fiscal 1999" in year.err and "2023, 2022" in year.err


class TestImage:
    def test_fact_is_framed_where_it_stands(self, sample_index: Path, tmp_path: Path) -> None:
        file = tmp_path / "new" / "page.png"
        chosen = ("--fact", "total assets", "--image", file)
        ran = Ran("show", FILING, *chosen, "--index", sample_index, "--json")
        (image,) = ran.document["images"]
        assert image["file"] == str(file) and image["page"] == 9 and len(image["tables"]) == 1
        pixels = pymupdf.Pixmap(file.read_bytes())
        size = 110 / 72  # pixels per point
        head = pixels.height - 792 * size
        x0, y0, x1, _ = image["fact"]["box"]
        red, green, blue = pixels.pixel(int((x0 + x1) / 2 * size), round(y0 * size - 1.5 + head))
        assert red > 150 and green < 120 and blue < 120
        x0, y0, _, y1 = image["tables"][0]
        beside = [pixels.pixel(round(x0 * size) - step, int((y0 + y1) / 2 * size + head)) for step in range(5)]
        assert any(blue > 150 and red < 150 for red, _, blue in beside)

    def test_several_pages_get_a_number_each(self, sample_index: Path, tmp_path: Path) -> None:
        with SqliteIndex(sample_index) as index:
            record = index.filing(FILING)
            pages = [stored.page for stored in index.pages([PageKey(FILING, 9), PageKey(FILING, 10)])]
            fact = next(each.fact for each in index.facts([FILING], metrics=["total_assets"]) if each.fact.page == 9)
        written, _ = write_pictures(record, tmp_path / "both.png", pages, [], fact, 36)
        assert [Path(picture["file"]).name for picture in written] == ["both-1.png", "both-2.png"]
        assert [picture["fact"] is None for picture in written] == [False, True]
        first, second = (pymupdf.Pixmap(Path(picture["file"]).read_bytes()) for picture in written)
        assert first.height == second.height == 396

    def test_says_what_it_wrote(self, sample_index: Path, tmp_path: Path) -> None:
        ran = Ran("show", FILING, "--page", 9, "--image", tmp_path / "p.png", "--index", sample_index)
        assert ran.code == 0 and f"{tmp_path / 'p.png'}: page 9, 2 tables framed" in ran.out

    def test_wrong_usage(self, sample_index: Path, tmp_path: Path) -> None:
        at = ("--index", sample_index)
        for arguments in (
            ("--image", tmp_path / "a.png"),
            ("--page", 1, "--image", tmp_path / "a.jpg"),
            ("--page", 1, "--statement", "income"),
            ("--year", 2022),
            ("--page", 0),
        ):
            assert Ran("show", FILING, *arguments, *at).code == 2, arguments
        assert not list(tmp_path.iterdir())


class TestInlineXbrl:
    HTML = """<html xmlns:ix="http://www.xbrl.org/2013/inlineXBRL" xmlns:xbrli="http://www.xbrl.org/2003/instance"
 xmlns:us-gaap="http://fasb.org/us-gaap/2023" xmlns:iso4217="http://www.xbrl.org/2003/iso4217"><body>
<div style="display:none"><ix:header><ix:resources>
<xbrli:context id="c1"><xbrli:entity><xbrli:identifier scheme="http://www.sec.gov/CIK">0000012345</xbrli:identifier>
</xbrli:entity><xbrli:period><xbrli:startDate>2023-01-01</xbrli:startDate><xbrli:endDate>2023-12-31</xbrli:endDate>
</xbrli:period></xbrli:context>
<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit></ix:resources></ix:header></div>
<p>FORM 10-K</p><p>For the fiscal year ended December 31, 2023</p><p>Brookline Tool Corporation</p>
<p>(Exact name of registrant as specified in its charter)</p>
<hr style="page-break-after:always"/>
<p>CONSOLIDATED STATEMENTS OF INCOME</p><p>(In millions)</p>
<table><tr><td></td><td>2023</td><td>2022</td></tr>
<tr><td>Net sales</td><td><ix:nonFraction name="us-gaap:Revenues" contextRef="c1" unitRef="usd" scale="6"
 decimals="-6" format="ixt:num-dot-decimal">5,123</ix:nonFraction></td><td>4,876</td></tr>
<tr><td>Cost of sales</td><td>3,000</td><td>2,900</td></tr>
<tr><td>Gross profit</td><td>2,123</td><td>1,976</td></tr></table></body></html>"""

    def test_page_with_its_tags_and_picture(self, tmp_path: Path) -> None:
        (tmp_path / "brookline.html").write_text(self.HTML, encoding="utf-8")
        index = ("--index", tmp_path / "index")
        assert Ran("ingest", tmp_path / "brookline.html", "--workers", 0, *index).code == 0
        page = Ran("show", "brookline", "--page", 2, *index, "--json").document
        assert [(tag["concept"], tag["value"]) for tag in page["tags"]] == [("us-gaap:Revenues", "5123000000")]
        fact = Ran("show", "brookline", "--fact", "us-gaap:Revenues", *index, "--json").document["facts"][0]
        assert fact["tag"]["value"] == fact["value"] == "5123000000"
        image = tmp_path / "sales.png"
        ran = Ran("show", "brookline", "--fact", "Revenues", "--image", image, *index)
        assert ran.code == 0 and "page 2" in ran.out and "5,123,000,000 USD" in ran.out and image.is_file()
        (tmp_path / "brookline.html").write_text(self.HTML.replace("5,123", "5,321"), encoding="utf-8")
        changed = Ran("show", "brookline", "--page", 2, "--image", image, *index)
        assert changed.code == 1 and "changed" in changed.err and "fin-agent ingest" in changed.err
