"""Answers and statements as files: workbooks with live formulas (extra `excel`), CSV, and self-contained HTML.

The program of an answer becomes cells: its figures are inputs with their source in a comment, the rest are formulas.
"""

from __future__ import annotations

import ast
import csv
import io
import operator
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib import resources
from math import isclose, isfinite
from pathlib import Path
from string import Template
from typing import Any

from fin_agent.answering.answer import Answer
from fin_agent.answering.program_syntax import program_tree
from fin_agent.atomic_write import escape_spreadsheet_formula
from fin_agent.errors import FinAgentError, require_extra
from fin_agent.filings.page_rendering import Bounds, Frame, FrameColor, FramedPage, draw_pages
from fin_agent.filings.tables.sum_detection import row_sums
from fin_agent.index.protocol import FilingRecord
from fin_agent.lexicon.words import load_yaml
from fin_agent.presentation.pages import ContinuedTable, display_lines, totals_among
from fin_agent.presentation.terminal_text import one_line, plain
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.runs import grouped
from fin_agent.vocabulary.table import Row
from fin_agent.workspace import Workspace

_PLACE = re.compile(r"(\S+) page (\d{1,6}) line (\d{1,6})$")
_FIRST_ROW = 6
_MAX_CELL_LENGTH = 32_000


@dataclass(frozen=True, slots=True)
class Cell:
    """A variable of a program: an input figure, or a formula over earlier cells."""

    name: str
    value: Any
    formula: str = ""
    """Empty for an input."""
    unit: str = ""
    label: str = ""
    doc_id: str = ""
    page: int | None = None
    """1-based, as people count."""
    line: int | None = None
    note: str = ""
    """The comment of the program with the line and filing of the figure."""


def cells_of(program: str | None) -> tuple[list[Cell], list[Cell]]:
    """Convert the variables of a program to cells of column B, in order, and the values it returns to formulas.

    There are no formulas if cells cannot express the program. Raises ProgramError if the text is not a program.
    """
    if not program:
        return [], []
    body = next(each for each in program_tree(program).body if isinstance(each, ast.FunctionDef)).body
    lines = program.splitlines()
    cells, known = list[Cell](), dict[str, Any]()
    for statement in body:
        note = lines[statement.end_lineno - 1].partition("#")[2].strip() if statement.end_lineno else ""
        with suppress(_NoFormulaError, ArithmeticError, LookupError, TypeError):
            if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name):
                formula, worth = _translated(statement.value, known)
                if not isinstance(worth, list):
                    cells.append(_cell_of(target.id, statement.value, f"={formula}", worth, note))
                    formula = f"B{_FIRST_ROW + len(cells) - 1}"
                known[target.id] = formula, worth
            elif isinstance(statement, ast.Return) and statement.value is not None:
                formula, worth = _translated(statement.value, known)
                if not isinstance(worth, list):
                    return cells, [Cell("result", worth, f"={formula}")]
                pairs = enumerate(zip(formula, worth, strict=True), 1)
                return cells, [Cell(f"result {number}", each, f"={one}") for number, (one, each) in pairs]
    return cells, []


class _NoFormulaError(Exception):
    """A workbook formula cannot express this."""


def _cell_of(name: str, value: ast.expr, formula: str, worth: Any, note: str) -> Cell:
    """Return the cell of a variable; a number whose comment names its place is an input."""
    place = _PLACE.search(note)
    if place is None:
        return Cell(name, worth, formula, note=note)
    unit, _, label = note[: place.start()].partition(": ")
    is_input = not any(isinstance(each, ast.Name) for each in ast.walk(value))
    label = label.strip(" ,").strip("'")
    return Cell(name, worth, "" if is_input else formula, unit, label, place[1], int(place[2]), int(place[3]), note)


_SIGNS: dict[type[ast.operator], tuple[str, Callable[[float, float], float]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.Pow: ("^", operator.pow),
}
_CALLED: dict[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max, "sum": sum, "round": round}


def _translated(node: ast.expr, known: dict[str, Any]) -> tuple[Any, Any]:
    """Return an expression as a formula and its value; lists element by element. Raises _NoFormulaError."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return repr(number), _finite(number)
        case ast.Name(id=name):
            return known[name]  # type: ignore[no-any-return]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            formula, value = _translated(operand, known)
            return f"(-{formula})", -value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
            (one, first), (other, second) = _translated(left, known), _translated(right, known)
            sign, compute = _SIGNS[type(op)]
            # This runs outside the sandbox, and Python's integers are unbounded (`9**9**9`): use floats, as cells do.
            as_floats = sign == "^" or max(abs(first), abs(second)) > _LARGEST_EXACT
            worth = _finite(compute(float(first), float(second)) if as_floats else compute(first, second))
            return f"{_bracketed(one, left)}{sign}{_bracketed(other, right)}", worth
        case ast.List(elts=elements):
            each = [_translated(element, known) for element in elements]
            return [one for one, _ in each], [worth for _, worth in each]
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _CALLED:
            each = [_translated(argument, known) for argument in arguments]
            told = [part for one, _ in each for part in (one if isinstance(one, list) else [one])]
            if name == "round" and len(told) == 1:
                told.append("0")
            return f"{name.upper()}({','.join(told)})", _CALLED[name](*(worth for _, worth in each))
    raise _NoFormulaError


def _bracketed(formula: str, node: ast.expr) -> str:
    return f"({formula})" if isinstance(node, ast.BinOp) else formula


_LARGEST_EXACT = 2**53
"""The largest integer that a cell stores exactly."""


def _finite(number: float) -> float:
    if not isfinite(number):
        raise _NoFormulaError
    return number


def answer_cell(answer: Answer, results: Sequence[Cell]) -> str:
    """Return the formula of the result that is the answer's value; empty if none is."""
    value = answer.answer.value
    if value is None:
        return ""
    same = (each.formula for each in results if isclose(each.value, value, rel_tol=1e-6, abs_tol=1e-9))
    return next(same, "")


def answer_workbook(answers: Sequence[Answer]) -> bytes:
    """Return a workbook with a sheet per answer. Raises FinAgentError if XlsxWriter is not installed."""
    made, book, styles = _workbook()
    for number, answer in enumerate(answers, 1):
        _write_answer(book.add_worksheet("Answer" if number == 1 else f"Answer {number}"), answer, styles)
    book.close()
    return made.getvalue()


def _write_answer(sheet: Any, answer: Answer, styles: dict[str, Any]) -> None:
    sheet.set_column("A:A", 44)
    sheet.set_column("B:B", 18)
    sheet.set_column("C:G", 20)
    sheet.write_string("A1", _text(answer.question), styles["title"])
    sheet.write_string("A2", _text(answer.answer.text), styles["said"])
    sheet.write_string("A3", "Answer", styles["head"])
    cells, results = cells_of(answer.program)
    formula, value = answer_cell(answer, results), answer.answer.value
    if formula:
        sheet.write_formula("B3", formula, styles["result"], value)
    elif value is not None and isfinite(value):
        sheet.write_number("B3", value, styles["result"])
        if answer.program:
            sheet.write_comment("B3", "The program's result as a value: cells cannot compute it.")
    sheet.write_string("C3", answer.answer.unit or "")
    heads = ("Figure", "Value", "Unit", "Line as printed", "Filing", "Page", "Line")
    sheet.write_row(_FIRST_ROW - 2, 0, heads, styles["header"])
    row = _FIRST_ROW - 1
    for cell in (*cells, *results):
        sheet.write_string(row, 0, _text(cell.name.replace("_", " ")))
        style = styles["number" if cell.formula else "input"]
        if cell.formula:
            sheet.write_formula(row, 1, cell.formula, style, cell.value)
        else:
            sheet.write_number(row, 1, float(cell.value), style)
            sheet.write_comment(row, 1, _text(cell.note), {"x_scale": 2})
        sheet.write_row(row, 2, (*map(_text, (cell.unit, cell.label, cell.doc_id)), cell.page, cell.line))
        row += 1
    for told in (*(f"Note: {each}" for each in answer.assumptions), *(f"Missing: {each}" for each in answer.missing)):
        row += 1
        sheet.write_string(row, 0, _text(told), styles["said"])
    if not cells:
        for citation in answer.citations:
            row += 1
            sheet.write_string(row, 0, _text(citation.text), styles["said"])
            sheet.write_row(row, 4, (_text(citation.doc_id), citation.page + 1))
    sheet.freeze_panes(_FIRST_ROW - 1, 1)


def statement_workbook(record: FilingRecord, statement: Statement, tables: Sequence[ContinuedTable]) -> bytes:
    """Return a statement as a workbook, as printed; totals that its own sums prove exactly are live formulas.

    Raises FinAgentError if XlsxWriter is not installed.
    """
    made, book, styles = _workbook()
    from xlsxwriter.utility import xl_rowcol_to_cell

    for number, table in enumerate(tables, 1):
        sheet = book.add_worksheet(f"{statement.value} {number}"[:31])
        sheet.set_column(0, 0, 52)
        sheet.set_column(1, len(table.columns), 18)
        sheet.write_string(0, 0, _text(f"{record.identity.company}: {table.title or statement.value}"), styles["title"])
        sheet.write_string(1, 0, _text(f"{table.unit_line} {record.doc_id}"), styles["said"])
        sheet.write_row(3, 1, map(_text, table.columns), styles["header"])
        lines = list(enumerate(display_lines(table.rows), 4))
        line_of_row = [at for at, line in lines if line.row is not None]
        sums = exact_sums(table.rows)
        for at, line in lines:
            sheet.write_string(at, 0, _text("  " * line.depth + line.label), styles["plain" if line.cells else "head"])
            if line.row is None:
                continue
            row, page = table.rows[line.row], table.pages[line.row]
            for column, cell in enumerate(row.cells):
                if cell is None:
                    continue
                worth = float(cell.amount) / (100 if cell.percent else 1)
                style = styles["percent" if cell.percent else "result" if line.kind == "total" else "number"]
                if parts := sums.get((line.row, column)):
                    added = ((sign, xl_rowcol_to_cell(line_of_row[part], column + 1)) for part, sign in parts)
                    formula = "".join(f"{'+' if sign > 0 else '-'}{place}" for sign, place in added)
                    sheet.write_formula(at, column + 1, f"={formula.removeprefix('+')}", style, worth)
                else:
                    sheet.write_number(at, column + 1, worth, style)
                sheet.write_comment(at, column + 1, f"{record.doc_id}, page {page + 1}, line {row.line + 1}")
        sheet.freeze_panes(4, 1)
    book.close()
    return made.getvalue()


def exact_sums(rows: Sequence[Row]) -> dict[tuple[int, int], tuple[tuple[int, int], ...]]:
    """Return the cells that are exact sums of cells above: (row, column) -> the parts as (row, sign).

    A sum that only holds after rounding stays a value, since a formula would give another number than the printed one.
    """
    totals = totals_among(rows)
    found: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}
    for each in row_sums([row.cells for row in rows]):
        if each.total not in totals or len(each.parts) < 2 or any(part >= each.total for part, _ in each.parts):
            continue
        for column in each.closing:
            total = rows[each.total].cells[column]
            # A part that is blank in this column adds nothing, as it does in a workbook.
            added = [(sign, cell) for part, sign in each.parts if (cell := rows[part].cells[column]) is not None]
            if total is not None and sum(sign * cell.amount for sign, cell in added) == total.amount:
                found.setdefault((each.total, column), each.parts)
    return found


def answer_csv(answers: Sequence[Answer]) -> str:
    """Return every figure of the answers with its source, then the answer, one per line."""
    made = io.StringIO()
    writer = csv.writer(made, quoting=csv.QUOTE_NONNUMERIC)  # some locales separate cells by `;`

    writer.writerow(("question", "figure", "value", "unit", "line as printed", "filing", "page", "line"))
    for answer in answers:
        cells, results = cells_of(answer.program)
        for cell in (*cells, *results):
            place = (cell.unit, cell.label, cell.doc_id, cell.page or "", cell.line or "")
            writer.writerow([_cell(each) for each in (answer.question, cell.name, cell.value, *place)])
        said = (answer.question, "answer", answer.answer.value, answer.answer.unit, answer.answer.text, "", "", "")
        writer.writerow([_cell("" if each is None else each) for each in said])
    return made.getvalue()


def _cell(value: object) -> object:
    return escape_spreadsheet_formula(one_line(value) if isinstance(value, str) else value)


def _text(text: str) -> str:
    return one_line(text)[:_MAX_CELL_LENGTH] if text.strip() else text


def _workbook() -> tuple[io.BytesIO, Any, dict[str, Any]]:
    require_extra("excel", ["xlsxwriter"])
    import xlsxwriter

    made = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    book = xlsxwriter.Workbook(made, options)
    styles = load_yaml("workbook_styles", __package__)
    return made, book, {name: book.add_format(given) for name, given in styles.items()}


Picture = Callable[[str, int, list[Box]], bytes | None]
"""Returns a page (0-based) of a filing as PNG with boxes framed, or None if it cannot be drawn."""
_MAX_PAGES = 12
USUAL_DPI = 110
BOUNDS = Bounds(longest_side=1_600, most_bytes=2_000_000)
"""Limits of the picture of a page; larger ones are of no use to people and models."""


def exported(kind: str, answers: Sequence[Answer], picture: Picture) -> bytes:
    """Return answers as a file of this kind: `xlsx`, `csv`, or `html` with their pages."""
    if kind == "xlsx":
        return answer_workbook(answers)
    return answer_csv(answers).encode("utf-8-sig") if kind == "csv" else html_report(answers, picture).encode()


def html_report(answers: Sequence[Answer], picture: Picture) -> str:
    """Return the report of these answers. Texts of filings are escaped."""
    parts = "".join(part for answer in answers for part in _answer(answer, picture))
    title = _said(answers[0].question) if answers else "Answers"
    page, style = (resources.files(__package__).joinpath(f"report.{of}").read_text("utf-8") for of in ("html", "css"))
    return Template(page).substitute(title=title, style=style, parts=parts)


def answer_html(answer: Answer, workspace: Workspace | None = None) -> str:
    """Return an answer as an HTML fragment for a notebook, with its first page if the workspace can draw it."""
    picture: Picture = (lambda doc_id, page, boxes: None) if workspace is None else partial(drawn_page, workspace)
    return f"<div>{''.join(_answer(answer, picture, most_pages=1))}</div>"


def draw_page(workspace: Workspace, doc_id: str, page: int, boxes: Sequence[Box]) -> bytes:
    """Return a page (0-based) as PNG with boxes framed. Raises FilingIndexError and ReadError."""
    wanted = FramedPage(page, tuple(Frame(box, FrameColor.FACT) for box in boxes))
    record = workspace.index.filing(doc_id)
    return draw_pages(Path(record.source), record.content_hash, [wanted], USUAL_DPI, BOUNDS)[0]


def drawn_page(
    workspace: Workspace, doc_id: str, page: int, boxes: Sequence[Box], *, notify: Callable[[str], object] = str
) -> bytes | None:
    """Return what `draw_page` does; if it fails, return None, and call `notify` with the reason."""
    try:
        return draw_page(workspace, doc_id, page, boxes)
    except FinAgentError as error:
        notify(f"the report leaves out page {page + 1} of {doc_id}: {error}")
        return None


def _answer(answer: Answer, picture: Picture, most_pages: int = _MAX_PAGES) -> Iterator[str]:
    yield f'<h1>{_said(answer.question)}</h1><p class="said">{_said(answer.answer.text)}</p>'
    if answer.missing:
        yield f"<p>Missing:</p><ul>{''.join(f'<li>{_said(each)}</li>' for each in answer.missing)}</ul>"
    figures = [(entry, entry.figure) for entry in answer.ledger if entry.figure is not None]
    if figures:
        heads = "<th>Figure<th>Company<th>Period<th class=n>Value<th>Unit<th>Filing<th class=n>Page<th class=n>Line"
        yield f"<table><thead><tr>{heads}</tr></thead><tbody>"
        for entry, figure in figures:
            unit = f"{figure.unit} × {figure.scale:,}" if figure.scale != 1 else figure.unit
            words = (figure.label, entry.slot.company_name, entry.slot.period)
            yield (
                f"<tr>{''.join(f'<td>{_said(each)}</td>' for each in words)}"
                f'<td class="n">{figure.amount:,}</td><td>{_said(unit)}</td><td>{_said(figure.doc_id)}</td>'
                f'<td class="n">{figure.page + 1}</td><td class="n">{figure.line + 1}</td></tr>'
            )
        yield "</tbody></table>"
    if answer.program:
        yield f'<pre tabindex="0">{_said(answer.program)}</pre>'
    for note in (*answer.assumptions, *answer.warnings):
        yield f'<p class="quiet">Note: {_said(note)}</p>'
    yield from _pages(answer, picture, most_pages)


def _pages(answer: Answer, picture: Picture, most: int) -> Iterator[str]:
    of_page = grouped(((citation.doc_id, citation.page), citation.box) for citation in answer.citations)
    for (doc_id, page), boxes in list(of_page.items())[:most]:
        drawn = picture(doc_id, page, [Box(*box) for box in boxes if box is not None])
        if drawn is not None:
            where = f"{_said(doc_id)}, page {page + 1}"
            image = f'<img alt="{where}" src="data:image/png;base64,{b64encode(drawn).decode()}">'
            yield f"<figure>{image}<figcaption>{where}</figcaption></figure>"


def _said(text: str) -> str:
    return escape(plain(text))
