"""Style B: `font` tags, explicit spacer cells, `$` and `)` in cells of their own, page breaks on `p` and `div`."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from html_tables import Cell, View, ViewLine
from html_tagging import Dialect

DIALECT = Dialect(
    number="ixt2:numdotdecimal",
    zero="ixt2:zerodash",
    true="ixt2:booleantrue",
    false="ixt2:booleanfalse",
    day="ixt2:datemonthdayyearen",
    month_day="ixt2:datemonthdayen",
    state="ixt-sec:stateprovnameen",
    exchange="ixt-sec:exchnameen",
    units={"USD": "USD", "shares": "Shares", "USD/shares": "USDPShares", "pure": "Pure"},
    namespaces={
        "": "http://www.w3.org/1999/xhtml",
        "ix": "http://www.xbrl.org/2013/inlineXBRL",
        "ixt2": "http://www.xbrl.org/inlineXBRL/transformation/2011-07-31",
        "ixt-sec": "http://www.sec.gov/inlineXBRL/transformation/2015-08-31",
        "xbrli": "http://www.xbrl.org/2003/instance",
        "xbrldi": "http://xbrl.org/2006/xbrldi",
        "iso4217": "http://www.xbrl.org/2003/iso4217",
        "link": "http://www.xbrl.org/2003/linkbase",
        "xlink": "http://www.w3.org/1999/xlink",
        "xsi": "http://www.w3.org/2001/XMLSchema-instance",
        "us-gaap": "http://fasb.org/us-gaap/2025",
        "dei": "http://xbrl.sec.gov/dei/2025",
        "srt": "http://fasb.org/srt/2025",
        "country": "http://xbrl.sec.gov/country/2025",
    },
    descriptive_ids=True,
)
PLAIN = "font-family:Times New Roman;font-size:10pt"


class StyleB:
    """Markup of another filing agent's software."""

    encoding = "utf-8"
    paginated = True

    def __init__(self) -> None:
        self._breaks = 0

    def document(self, title: str, namespaces: str, header: str, body: str) -> str:
        """The whole file."""
        return (
            '<?xml version="1.0" encoding="utf-8"?>\n<!-- Typeset for filing -->\n'
            f"<html {namespaces}>\n<head>\n<title>{title}</title>\n"
            '<meta http-equiv="Content-Type" content="text/html; charset=utf-8" />\n</head>\n'
            f'<body style="{PLAIN}">\n{header}\n{body}</body>\n</html>\n'
        )

    def centered(self, markup: str, size: float, bold: bool) -> str:
        """A centered line."""
        inner = f"<b>{markup}</b>" if bold else markup
        return (
            f'<p style="margin:0pt;text-align:center"><font style="font-family:Times New Roman;font-size:{size:g}pt">'
            f"{inner}</font></p>\n"
        )

    def paragraph(self, markup: str) -> str:
        """Running text."""
        return f'<p style="margin:6pt 0pt;text-indent:24pt"><font size="2">{markup}</font></p>\n'

    def heading(self, markup: str, level: int, anchor: str) -> str:
        """Part, Item or subject."""
        at = f'<a name="{anchor}"></a>' if anchor else ""
        inner = f"<i>{markup}</i>" if level == 3 else markup
        align = "center" if level == 1 else "left"
        return f'<p style="margin:12pt 0pt 6pt;text-align:{align}">{at}<font size="2"><b>{inner}</b></font></p>\n'

    def bullet(self, markup: str) -> str:
        """One point of a list."""
        return (
            '<table cellpadding="0" cellspacing="0" style="width:100%"><tr><td style="width:18pt">&#160;</td>'
            f'<td style="width:18pt;vertical-align:top"><font size="2">&#183;</font></td>'
            f'<td><font size="2">{markup}</font></td></tr></table>\n'
        )

    def columns(self, cells: Sequence[str], bold: bool, small: bool) -> str:
        """Texts side by side."""
        size = 8 if small else 10
        row = "".join(
            f'<td style="width:{100 // len(cells)}%;text-align:center"><font style="font-size:{size}pt">'
            f"{'<b>' if bold else ''}{cell.strip() or '&#160;'}{'</b>' if bold else ''}</font></td>"
            for cell in cells
        )
        return f'<table cellpadding="0" cellspacing="0" style="width:100%"><tr>{row}</tr></table>\n'

    def rule(self) -> str:
        """A line across."""
        return '<hr style="width:30%;color:#000000" />\n'

    def contents(self, rows: Sequence[tuple[str, str, str, str]]) -> str:
        """(label, title, anchor, page) of each Item; a part has a label only."""
        lines = []
        for label, title, anchor, page in rows:
            linked = f'<a href="#{anchor}">{title}</a>' if anchor else title
            inner = label if anchor else f"<b>{label}</b>"
            lines.append(
                f'<tr><td style="width:70pt"><font size="2">{inner}</font></td>'
                f'<td><font size="2">{linked}</font></td>'
                f'<td style="width:30pt;text-align:right">{page}</td></tr>\n'
            )
        return f'<table style="width:100%">\n{"".join(lines)}</table>\n'

    def page_foot(self, number: str) -> str:
        """The number of the page at its foot."""
        return f'<p style="margin:12pt 0pt 0pt;text-align:center"><font size="2">{number}</font></p>\n'

    def page_head(self) -> str:
        """The break, by turns on a paragraph and on a `div` that is empty."""
        self._breaks += 1
        link = '<a href="#contents"><font style="font-size:8pt"><u>Table of Contents</u></font></a>'
        if self._breaks % 2:
            return f'<p style="margin:0pt;page-break-before:always">{link}</p>\n'
        return f'<div style="page-break-before: always"></div>\n<p style="margin:0pt">{link}</p>\n'

    def anchor(self, name: str) -> str:
        """A place to link to."""
        return f'<a name="{name}"></a>\n'

    def table(self, view: View) -> str:
        """A table of figures: for each column a spacer, `$`, the number and what closes it."""
        rows = [*_heads(view)]
        for number, line in enumerate(view.lines):
            rows.append(
                _row(
                    line,
                    len(view.heads),
                    ' bgcolor="#CCEEFF"' if number % 2 == 0 else "",
                )
            )
        notes = "".join(
            f'<p style="margin:2pt 0pt"><font style="font-size:8pt">{escape(note, quote=False)}</font></p>\n'
            for note in view.footnotes
        )
        return (
            '<table cellpadding="0" cellspacing="0" style="border-collapse:collapse;width:100%">\n'
            + "".join(f"<tr{row}</tr>\n" for row in rows)
            + f"</table>\n{notes}"
        )


SPACER = "<td>&#160;</td>"


def _heads(view: View) -> list[str]:
    rows = []
    if view.spans:
        cells = SPACER
        for text, first, last in view.spans:
            cells += SPACER + _head(text, 4 * (last - first) + 2) + SPACER
        rows.append(f' style="vertical-align:bottom">{cells}')
    left = f'<td><font style="font-size:8pt"><i>{escape(view.head_left)}</i></font></td>' if view.head_left else SPACER
    texts = ["<br />".join(escape(part) for part in head) for head in view.heads]
    row = left + "".join(SPACER + _head(text, 2) + SPACER for text in texts)
    return [*rows, f' style="vertical-align:bottom">{row}']


def _head(markup: str, span: int) -> str:
    style = "border-bottom:1px solid black;text-align:center"
    return f'<td colspan="{span}" style="{style}"><font style="font-size:8pt"><b>{markup}</b></font></td>'


def _row(line: ViewLine, count: int, ground: str) -> str:
    label = _font(_wrapped(line.label), line.bold) + (f"<sup>{line.mark}</sup>" if line.mark else "")
    # Three ways to indent that filings mix within one table.
    if line.indent == 1:
        stub = f'<td><p style="margin:0pt 0pt 0pt 10pt">{label}</p></td>'
    elif line.indent == 2:
        stub = f'<td style="padding-left:22pt;text-indent:-8pt">{label}</td>'
    else:
        stub = f"<td>{'&#160;&#160;&#160;' * line.indent}{label}</td>"
    border = "border-top:1px solid black;" if line.rule_above else ""
    border += "border-bottom:3px double black" if line.double_below else ""
    row = "".join(SPACER + _cell(cell, line.bold, border) for cell in line.cells)
    row = row or f'{SPACER}<td colspan="2">&#160;</td>{SPACER}' * count
    return f"{ground}>{stub}{row}"


def _cell(cell: Cell, bold: bool, border: str) -> str:
    """`$`, the number and the closing bracket, each in a cell of its own."""
    style = f' style="{border}"' if border else ""
    number = _font(f"{cell.opening}{cell.number}", bold) if cell.number else "&#160;"
    mark = f"<sup>{cell.mark}</sup>" if cell.mark else ""
    return f'<td{style}>{cell.dollar}</td><td align="right"{style}>{number}</td><td>{cell.closing}{mark}</td>'


def _wrapped(label: str) -> str:
    """A long label broken by hand, as typesetters do."""
    words = label.split(" ")
    if len(label) < 48 or len(words) < 4:
        return label
    half = (len(words) + 1) // 2
    return f"{' '.join(words[:half])}<br />&#160;&#160;{' '.join(words[half:])}"


def _font(markup: str, bold: bool) -> str:
    inner = f"<b>{markup}</b>" if bold else markup
    return f'<font size="2">{inner}</font>'
