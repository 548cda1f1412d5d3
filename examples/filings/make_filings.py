"""Write fifteen PDFs and three HTML filings of invented companies, and what a reader should find in them.

Run `python examples/filings/make_filings.py [--out DIR] [--html-out DIR]`. The same sources always give the same bytes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml
from filing_figures import FIRST_YEAR, model
from filing_layout import CHECKED, UNCHECKED, Typesetter
from filing_sheet import Table
from filing_tables import annual_tables, interim_tables, vote_table
from filing_templates import paragraphs, template
from filing_words import annual_words, event_words, interim_words
from html_filings import write_html_filings

HERE = Path(__file__).resolve().parent
REPORTED = (2022, 2023, 2024)
"""Fiscal years with a 10-K; the 10-Q and 8-K are of the last one."""


def main() -> None:
    """Write both folders of filings with their `expected.json`, or only those that are named."""
    parser = argparse.ArgumentParser(description="Write sample filings of invented companies.")
    parser.add_argument("--out", type=Path, help="folder for the PDFs (default: beside this script)")
    parser.add_argument("--html-out", type=Path, help="folder for the HTML filings (default: ../filings_html)")
    folders = parser.parse_args()
    everything = not folders.out and not folders.html_out
    if everything or folders.out:
        folder = folders.out or HERE
        folder.mkdir(parents=True, exist_ok=True)
        expected = [write(plan, folder) for plan in plans()]
        text = json.dumps(expected, indent=1, ensure_ascii=False) + "\n"
        (folder / "expected.json").write_text(text, encoding="utf-8")
        print(f"{len(expected)} filings written to {folder}")
    if everything or folders.html_out:
        folder = folders.html_out or HERE.parent / "filings_html"
        print(f"{write_html_filings(folder)} filings written to {folder}")


@dataclass(frozen=True, slots=True)
class Plan:
    """One filing to be written: who and when it is about, its template, words and tables."""

    doc_id: str
    company: Mapping[str, Any]
    form: str
    fiscal_year: int
    quarter: int | None
    period_end: date
    created: date
    words: Mapping[str, str]
    tables: Mapping[str, Table]


def plans() -> Iterator[Plan]:
    """Every filing of every company in `companies.yaml`."""
    companies = yaml.safe_load((HERE / "companies.yaml").read_text(encoding="utf-8"))
    last = REPORTED[-1]
    for handle, company in companies.items():
        figures = model(company)
        for year in REPORTED:
            filed = company["filed"][year]
            words, tables = annual_words(company, figures, year), annual_tables(company, figures, year)
            end = company["year_ends"][year - FIRST_YEAR + 1]
            yield Plan(f"{handle}_{year}_10k", company, "10-K", year, None, end, filed, words, tables)
        interim = company["interim"]
        words, tables = interim_words(company, figures, last), interim_tables(company, figures, last)
        doc_id = f"{handle}_{last}q{interim['quarter']}_10q"
        end = interim["end"]
        yield Plan(doc_id, company, "10-Q", last, interim["quarter"], end, interim["filed"], words, tables)
        event = company["event"]
        votes = {"votes": vote_table(event["votes"])} if "votes" in event else {}
        year = event["fiscal_year"]
        words = event_words(company)
        yield Plan(event["doc_id"], company, "8-K", year, None, event["date"], event["signed"], words, votes)


def write(plan: Plan, folder: Path) -> dict[str, Any]:
    """Set the filing twice, the second time with the page numbers its contents page needs; return what it holds."""
    draft = _Composer(plan, {}, {}, draft=True)
    draft.compose()
    final = _Composer(plan, draft.items, draft.statements)
    final.compose()
    if (final.items, final.statements) != (draft.items, draft.statements):
        raise ValueError(f"{plan.doc_id}: the contents page changed the length of the filing")
    created = f"D:{plan.created:%Y%m%d}120000Z"
    pages = final.sheet.page + 1
    final.sheet.save(folder / f"{plan.doc_id}.pdf", f"Form {plan.form}", plan.company["name"], created)
    return {
        "doc_id": plan.doc_id,
        "company": plan.company["name"],
        "ticker": plan.company["ticker"],
        "form": plan.form,
        "fiscal_year": plan.fiscal_year,
        "quarter": plan.quarter,
        "period_end": plan.period_end.isoformat(),
        "filed": plan.created.isoformat(),
        "file_number": plan.company["file_number"],
        "employer_id": plan.company["employer_id"],
        "pages": pages,
        "items": [[item, title, page] for (item, title), page in final.items.items()],
        "statements": final.statements,
        "figures": final.figures,
    }


@dataclass
class _Composer:
    """Reads a template line by line and sets it; remembers where Items, statements and figures came to stand."""

    plan: Plan
    known_items: Mapping[tuple[str, str], int]
    known_statements: Mapping[str, int]
    draft: bool = False
    items: dict[tuple[str, str], int] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    figures: list[dict[str, Any]] = field(default_factory=list)
    sheet: Typesetter = field(init=False)
    _part: str = ""

    def compose(self) -> None:
        """Set the whole filing."""
        plan, company = self.plan, self.plan.company
        foot = company["running_foot"].format(fiscal_name=plan.fiscal_year, form=plan.form)
        head = company["running_head"]
        if plan.form == "8-K":
            head = foot = ""
        numbered = plan.form != "8-K"
        self.sheet = Typesetter(company["font"], company["banded"], head, foot, numbered, self.draft)
        self.sheet.new_page()
        lines = list(paragraphs(template(plan.form.lower(), plan.words, plan.form, plan.period_end)))
        for number, line in enumerate(lines):
            self._keep_with_table(line, lines[number + 1 : number + 3])
            self._line(line)

    def _keep_with_table(self, line: str, following: list[str]) -> None:
        """Break the page before a heading or paragraph whose table would not fit below it."""
        table = next((text for text in following if text.startswith("@table ")), "")
        between = following[: following.index(table)] if table else []
        if table and not any(text.startswith("@") for text in [line, *between]):
            text_height = sum(24 + 12 * (len(text) // 100) for text in [line, *between])
            self.sheet.need(text_height + self.sheet.height(self.plan.tables[table.removeprefix("@table ")].grid))

    def _line(self, line: str) -> None:
        mark, _, rest = line.partition(" ")
        if mark.startswith("@"):
            self._directive(mark[1:], rest)
        elif mark[0] in "^~" and mark[1:].isdigit():
            self.sheet.centered(rest, float(mark[1:]), "bold" if mark[0] == "^" else "plain")
        elif mark == "#":
            self._part = rest.partition(".")[0]
            self.sheet.space(6)
            self.sheet.centered(rest, 11)
            self.sheet.space(4)
        elif mark == "##":
            self._item(rest)
        elif mark == "###":
            self.sheet.heading(rest, 9.6, "bold-italic")
        elif mark == "-":
            self.sheet.bullet(rest)
        else:
            self.sheet.paragraph(line.replace("[x]", CHECKED).replace("[ ]", UNCHECKED), size=self._text_size())

    def _directive(self, name: str, rest: str) -> None:
        sheet = self.sheet
        if name == "page":
            sheet.new_page()
        elif name == "space":
            sheet.space(float(rest))
        elif name == "rule":
            sheet.rule()
        elif name in ("columns", "bold-columns", "small-columns"):
            face = "bold" if name == "bold-columns" else "plain"
            sheet.columns(rest.split("|"), 7.6 if name == "small-columns" else 9.4, face)
        elif name == "contents":
            self._contents()
        elif name == "statement-index":
            self._statement_index()
        elif name == "table":
            self._table(self.plan.tables[rest])
        elif name == "statement":
            key, _, inline = rest.partition(" ")
            together = self.plan.company.get("income_with_comprehensive") and key == "comprehensive-income"
            self._statement(key, bool(inline or together))
        else:
            raise ValueError(f"{self.plan.form} template: unknown directive @{name}")

    def _item(self, text: str) -> None:
        """`Item 7. Title`, counted once on the page where it stands."""
        self.sheet.heading(text, 10.4, "bold")
        words = text.split(" ")
        number, title = words[1].rstrip("."), " ".join(words[2:])
        part = f"{self._part} " if self.plan.form == "10-Q" else ""
        self.items[f"{part}{number}", title] = self.sheet.page

    def _contents(self) -> None:
        part = ""
        for (number, title), page in self.known_items.items():
            before, _, label = number.rpartition(" ")
            if before != part:
                part = before
                self.sheet.leader(part, "", "", bold=True)
            self.sheet.leader(f"Item {label}.", title, str(page))

    def _statement_index(self) -> None:
        self.sheet.centered("INDEX TO CONSOLIDATED FINANCIAL STATEMENTS", 10)
        for key, title in self.plan.company["titles"].items():
            words = " ".join(w if w == "of" else w.capitalize() for w in title.lower().split(" "))
            words = words.replace(" Of ", " of ")
            self.sheet.leader("", words, str(self.known_statements.get(key, 0)))
        self.sheet.space(16)

    def _statement(self, key: str, inline: bool) -> None:
        table, unaudited = self.plan.tables[key], self.plan.form == "10-Q"
        if not inline:
            self.sheet.new_page()
        sheet = self.sheet
        sheet.space(18)
        sheet.centered(self.plan.company["name"].upper(), 10)
        sheet.centered(table.title, 10)
        sheet.centered(f"{table.unit_line[:-1]}; unaudited)" if unaudited else table.unit_line, 9, "plain")
        sheet.space(8)
        sheet.grid(table.grid)
        self.statements[key] = sheet.page
        self._remember(table)
        sheet.space(4)
        notes = "The accompanying notes are an integral part of these consolidated financial statements."
        sheet.centered(notes, 8.4, "italic")

    def _table(self, table: Table) -> None:
        sheet = self.sheet
        grid = replace(table.grid, head_left=table.unit_line or table.grid.head_left)
        sheet.grid(grid)
        self._remember(table)

    def _remember(self, table: Table) -> None:
        for figure in table.figures:
            self.figures.append(
                {
                    "metric": figure.metric,
                    "label": figure.label,
                    "unit": figure.unit,
                    "scale": figure.scale,
                    "page": self.sheet.page,
                    "statement": next((k for k, t in self.plan.tables.items() if t is table and t.title), None),
                    "values": [
                        {"end": span.end.isoformat(), "months": span.months, "amount": _plain(amount)}
                        for span, amount in figure.values
                    ],
                }
            )

    def _text_size(self) -> float:
        if self.sheet.page == 0:
            return 8.2
        return 9.0 if self.sheet.font == "helvetica" else 9.6


def _plain(amount: Decimal) -> int | str:
    """Whole amounts as numbers, others as text, so that no digit is lost."""
    return int(amount) if amount == amount.to_integral_value() else str(amount)


if __name__ == "__main__":
    main()
