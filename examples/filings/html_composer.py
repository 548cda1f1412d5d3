"""Reads a template line by line and writes it as HTML in one of the styles; tags as it goes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from html import escape
from typing import Any, Protocol

from filing_sheet import Table
from filing_templates import paragraphs, template
from html_blocks import Blocks
from html_tables import CONCEPTS, STATEMENTS, Tabulator, View, statement_rows
from html_tagging import Period, Tagger
from html_words import CLOSE, OPEN, WORD, WordTagger, marked

LINES = 52
"""Lines that fill a page."""


class Style(Protocol):
    """Markup of one kind of filing software; all texts given are markup already."""

    encoding: str
    paginated: bool

    def document(self, title: str, namespaces: str, header: str, body: str) -> str: ...
    def centered(self, markup: str, size: float, bold: bool) -> str: ...
    def paragraph(self, markup: str) -> str: ...
    def heading(self, markup: str, level: int, anchor: str) -> str: ...
    def bullet(self, markup: str) -> str: ...
    def columns(self, cells: Sequence[str], bold: bool, small: bool) -> str: ...
    def rule(self) -> str: ...
    def contents(self, rows: Sequence[tuple[str, str, str, str]]) -> str: ...
    def page_foot(self, number: str) -> str: ...
    def page_head(self) -> str: ...
    def anchor(self, name: str) -> str: ...
    def table(self, view: View) -> str: ...


@dataclass(frozen=True, slots=True)
class HtmlPlan:
    """One filing to be written as HTML."""

    doc_id: str
    company: Mapping[str, Any]
    form: str
    template: str
    fiscal_year: int
    quarter: int | None
    period_end: date
    filed: date
    words: Mapping[str, str]
    tables: Mapping[str, Table]
    style: type[Style]
    durations: Mapping[str, Period] = field(default_factory=dict)
    """What a word of a note covers, by its ending: `` now, `_prior`, `_before`."""
    outstanding: date | None = None
    """Day of the shares outstanding that the cover gives."""
    marks: Mapping[tuple[str, str], str] = field(default_factory=dict)
    footnotes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    insertions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Lines that follow a line of the template in this filing."""
    released: Period | None = None
    """The quarter whose results an 8-K announces."""
    gzipped: bool = False


@dataclass
class HtmlComposer:
    """Writes one filing; remembers where Items and statements came to stand."""

    plan: HtmlPlan
    tagger: Tagger | None
    known_items: Mapping[tuple[str, str], int]
    known_statements: Mapping[str, int]
    items: dict[tuple[str, str], int] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    page: int = 0
    _body: list[str] = field(default_factory=list)
    _used: float = 0
    _part: str = ""
    _notes: bool = False
    _style: Style = field(init=False)
    _blocks: Blocks = field(init=False)
    _words: WordTagger | None = None

    def compose(self) -> str:
        """The body of the filing."""
        plan = self.plan
        self._style = plan.style()
        self._blocks = Blocks(self._body, self.tagger)
        if self.tagger:
            self._words = WordTagger(self.tagger, plan.form, plan.durations, plan.outstanding or plan.filed)
        words = {name: marked(name, value) for name, value in plan.words.items()}
        lines = []
        for line in paragraphs(template(plan.template, words, plan.form, plan.period_end)):
            lines += [line, *plan.insertions.get(line, ())]
        for number, line in enumerate(lines):
            following = lines[number + 1] if number + 1 < len(lines) else "# "
            if line == "@page" and following.startswith(("# ", "## ")):
                self._blocks.close()
            self._line(line)
        self._blocks.close()
        if self._style.paginated:
            self._body.append(self._style.page_foot(str(self.page)))
        return "".join(self._body)

    def _line(self, line: str) -> None:
        mark, _, rest = line.partition(" ")
        style = self._style
        if mark.startswith("@"):
            self._directive(mark[1:], rest)
        elif mark[0] in "^~" and mark[1:].isdigit():
            self._notes = self._notes or "NOTES TO CONSOLIDATED" in rest
            size, inner = float(mark[1:]), self._inline(rest)
            if self.tagger and self.page == 0 and rest == f"FORM {self.plan.form}":
                inner = "FORM " + self.tagger.text("dei:DocumentType", self.plan.form, self.plan.form)
            self._add(style.centered(inner, size, mark[0] == "^"), 1.3)
        elif mark == "#":
            self._part = rest.partition(".")[0]
            self._add(style.heading(self._inline(rest), 1, ""), 2)
        elif mark == "##":
            self._blocks.close()
            self._notes = False
            self._item(rest)
        elif mark == "###":
            self._room(5)
            concept = CONCEPTS["blocks"].get(re.sub(r"^Note \d+\. ", "", rest)) if self._notes else None
            self._blocks.close()
            if concept:
                self._blocks.open(concept)
            self._add(style.heading(self._inline(rest), 3, ""), 2)
        elif mark == "-":
            self._add(style.bullet(self._inline(rest)), _height(rest))
        else:
            self._add(style.paragraph(self._inline(line)), _height(line))

    def _directive(self, name: str, rest: str) -> None:
        style = self._style
        if name == "page":
            self._break_page()
        elif name == "rule":
            self._add(style.rule(), 1)
        elif name in ("columns", "bold-columns", "small-columns"):
            cells = [self._inline(cell) for cell in rest.split("|")]
            if self.tagger and self.page == 0 and cells[0].startswith("Common stock"):
                title = cells[0].strip()
                cells[0] = self.tagger.text("dei:Security12bTitle", title, title)
            self._add(style.columns(cells, name == "bold-columns", name == "small-columns"), 1.4)
        elif name == "contents":
            self._body.append(style.anchor("contents") + style.contents(self._contents()))
        elif name == "statement-index":
            rows = [
                ("", title, f"statement_{key}", str(self.known_statements.get(key, 0)))
                for key, title in self.plan.company["titles"].items()
            ]
            self._add(style.centered("INDEX TO CONSOLIDATED FINANCIAL STATEMENTS", 10, True), 2)
            self._add(style.contents(rows), 8)
        elif name == "table":
            self._table(rest)
        elif name == "statement":
            key, _, inline = rest.partition(" ")
            together = self.plan.company.get("income_with_comprehensive") and key == "comprehensive-income"
            self._statement(key, bool(inline or together))
        elif name == "exhibit":
            self._body.append(style.anchor("exhibit"))
        elif name != "space":
            raise ValueError(f"{self.plan.template} template: unknown directive @{name}")

    def _item(self, text: str) -> None:
        self._room(6)
        words = text.split(" ")
        number, title = words[1].rstrip("."), " ".join(words[2:])
        part = f"{self._part} " if self.plan.form == "10-Q" else ""
        self.items[f"{part}{number}", title] = self.page
        anchor = f"item_{part}{number}".replace(" ", "_").lower()
        self._add(self._style.heading(escape(text, quote=False), 2, anchor), 2)

    def _contents(self) -> list[tuple[str, str, str, str]]:
        rows, part = [], ""
        for (number, title), page in self.known_items.items():
            before, _, label = number.rpartition(" ")
            if before != part:
                part = before
                rows.append((part, "", "", ""))
            anchor = f"item_{number}".replace(" ", "_").lower()
            rows.append((f"Item {label}.", escape(title, quote=False), anchor, str(page)))
        return rows

    def _statement(self, key: str, inline: bool) -> None:
        plan, style, table = self.plan, self._style, self.plan.tables[key]
        if not inline:
            self._break_page()
        self._room(1.25 * len(table.grid.lines) + 8)
        unaudited = plan.form != "10-K"
        unit = f"{table.unit_line[:-1]}; unaudited)" if unaudited else table.unit_line
        self._body.append(style.anchor(f"statement_{key}"))
        self._add(style.centered(escape(plan.company["name"].upper()), 10, True), 1.3)
        self._add(style.centered(escape(table.title, quote=False), 10, True), 1.3)
        self._add(style.centered(escape(unit, quote=False), 9, False), 1.3)
        self._table(key)
        self.statements[key] = self.page
        notes = "The accompanying notes are an integral part of these consolidated financial statements."
        if plan.form != "8-K":
            self._add(style.centered(notes, 8.4, False), 1.3)

    def _table(self, key: str) -> None:
        plan, table = self.plan, self.plan.tables[key]
        height = 1.25 * len(table.grid.lines) + 3
        if key not in STATEMENTS:
            self._room(height)
        view = Tabulator(plan.company, self.tagger, plan.marks, plan.footnotes).view(key, table)
        inner = self._style.table(view)
        concept = CONCEPTS["tables"].get(key) if self._notes else None
        if self.tagger and concept:
            _, opening = self.tagger.block(concept)
            inner = f"{opening}>{inner}</ix:nonNumeric>"
        self._body.append(inner)
        self._used += height
        if key in STATEMENTS:
            self.rows[key] = list(statement_rows(plan.company, key, table))

    def _inline(self, text: str) -> str:
        """Markup of running text: words of the plan tagged where they stand on the cover or in a note."""
        region = "cover" if self.page == 0 else "notes" if self._notes else ""

        def word(match: re.Match[str]) -> str:
            tagged = self._words.tagged(match[1], match[2], region) if self._words and region else ""
            return tagged or escape(match[2], quote=False)

        # The text around the words is escaped first; the signs that mark words are private and survive it.
        inner = re.sub(f"{OPEN}.*?{CLOSE}", lambda m: m[0].replace("&", "\ue020"), text)
        inner = escape(inner, quote=False).replace("\ue020", "&")
        inner = re.sub(r"\[[x ]\]", self._box, inner)
        return re.sub(WORD, word, inner)

    def _box(self, match: re.Match[str]) -> str:
        box = "&#9746;" if match[0] == "[x]" else "&#9744;"
        return self._words.box(box) if self._words and self.page == 0 else box

    def _add(self, markup: str, lines: float) -> None:
        self._room(lines)
        self._body.append(markup)
        self._used += lines

    def _room(self, lines: float) -> None:
        if self.page and self._style.paginated and self._used and self._used + lines > LINES:
            self._break_page()

    def _break_page(self) -> None:
        foot = self._style.page_foot(str(self.page)) if self.page else ""
        self._blocks.across(foot + self._style.page_head(), excluded=self.page % 3 == 0)
        self.page += self._style.paginated
        self._used = 0


def _height(text: str) -> float:
    return 1 + 1.1 * (1 + len(text) // 105)
