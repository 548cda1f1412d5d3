"""A filing that has something in every field."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind, ReadWarning
from fin_agent.vocabulary.identity import FieldSource, Form, Identity, Origin
from fin_agent.vocabulary.page import ItemStart, Note, Page, Statement, TableKind
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

TAGS = (
    Tag("dei:EntityRegistrantName", None, "Acmé “A”", "c0", date(2023, 1, 28), date(2022, 2, 1), numeric=False),
    Tag(
        concept="us-gaap:Assets",
        value=Decimal("1234500000000.00"),
        text="1,234.50",
        context="c1",
        end=date(2023, 1, 28),
        members=(("srt:GeographyAxis", "srt:EuropeMember"),),
        unit="USD",
        decimals=-6,
        page=1,
        box=Box(10.0, 20.0, 30.5, 40.0),
        flags=("conflict",),
    ),
    Tag("us-gaap:Goodwill", None, "", "nowhere", None, nil=True, flags=("unknown context",)),
)

CELL = Cell(Decimal("-1234.50"), "$ (1,234.50)", False, True, Box(10.0, 20.0, 30.5, 40.0))

EVERYTHING = Filing(
    doc_id="acme 2023 “10-K”",
    source="/filings/acmé.pdf",
    content_hash="ab" * 32,
    identity=Identity(
        company="Acmé Holdings, Inc.",
        form=Form.TEN_Q,
        fiscal_year=2022,
        quarter=3,
        period_end=date(2023, 1, 28),
        fiscal_year_end_month=1,
        filed=date(2023, 3, 9),
        ticker="ACM.B",
        cik="0000123456",
        file_number="1-1183",
        employer_id="80-0429876",
        other_names=("Old Acme, Inc.", "Acme “A” Co."),
        amended=True,
        results=FactPeriod(2022, 4, 3, date(2023, 1, 28)),
        sources=(
            FieldSource("company", "Acmé Holdings, Inc.", Origin.COVER, "ACMÉ HOLDINGS, INC.", 0.98, 0),
            FieldSource("quarter", "3", Origin.DERIVED, "January 28, 2023", 0.7),
        ),
    ),
    pages=(
        Page(0, "Cover\nwith \x00 and “quotes”", "cover", None, "Cover"),
        Page(1, "Total assets 5", "8", Statement.BALANCE_SHEET, "CONSOLIDATED BALANCE SHEETS"),
        Page(2, "Note 5", "8", None, "Note 5", TableKind.SEGMENT, "5", (Statement.EQUITY,)),
    ),
    passages=(
        Passage(0, 0, PassageKind.TEXT, "Cover"),
        Passage(1, 1, PassageKind.TABLE, "| 2023\nTotal assets | 5", Box(1.5, 2.5, 300.0, 400.5)),
    ),
    facts=(
        Fact(
            label="Total assets",
            amount=Decimal("-1234.50"),
            scale=1_000_000_000,
            unit="USD",
            period=FactPeriod(2022, 3, 0, date(2023, 1, 28)),
            page=1,
            box=Box(10.0, 20.0, 30.5, 40.0),
            metric="total_assets",
            section=("Assets", "Current, net"),
            line=7,
            column="January 28, 2023",
            statement=Statement.BALANCE_SHEET,
            scope="Europe",
            source="ixbrl",
            tag=TAGS[1],
        ),
        Fact("Rate", Decimal("0.10"), 1, "percent", FactPeriod(2021, None, 12), 1, Box(0.0, 0.0, 1.0, 1.0)),
    ),
    tables=(
        Table(
            page=1,
            box=Box(1.5, 2.5, 300.0, 400.5),
            caption="CONSOLIDATED BALANCE SHEETS",
            unit_line="(in “millions”)",
            columns=("January 28, 2023", "Change"),
            periods=(FactPeriod(2022, 3, 0, date(2023, 1, 28)), None),
            rows=(
                Row("Total assets", ("Assets",), (CELL, None), 7, Box(1.0, 2.0, 3.0, 4.0)),
                Row("Rate", (), (None, CELL), 8, Box(1.0, 2.0, 3.0, 4.0)),
            ),
        ),
    ),
    items=(ItemStart("8", 1, 0), ItemStart("9A", 2, 17)),
    notes=(Note("5", "Segments", 2, 2),),
    tags=TAGS,
    warnings=(ReadWarning("1 tag names no context", None), ReadWarning("a page is odd", 2)),
)
