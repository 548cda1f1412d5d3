"""Style C: HTML as written by hand in the nineties; no tags, no page breaks, few elements closed, EDGAR's envelope."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from html_tables import Cell, View, ViewLine


class StyleC:
    """Markup of an old-fashioned filer."""

    encoding = "ascii"
    paginated = False

    def document(self, title: str, namespaces: str, header: str, body: str) -> str:
        """The main document and its exhibit, which `EXHIBIT` parts, each in its envelope."""
        main, _, exhibit = body.partition(EXHIBIT)
        return (
            "<DOCUMENT>\n<TYPE>8-K\n<SEQUENCE>1\n"
            f"<FILENAME>{title}.htm\n<DESCRIPTION>CURRENT REPORT\n<TEXT>\n"
            f'<HTML>\n<HEAD>\n<TITLE>{title}</TITLE>\n</HEAD>\n<BODY BGCOLOR="#FFFFFF">\n{main}</BODY>\n</HTML>\n'
            "</TEXT>\n</DOCUMENT>\n<DOCUMENT>\n<TYPE>EX-99.1\n<SEQUENCE>2\n"
            f"<FILENAME>{title}ex991.htm\n<DESCRIPTION>PRESS RELEASE\n<TEXT>\n"
            f'<HTML>\n<HEAD>\n<TITLE>EX-99.1</TITLE>\n</HEAD>\n<BODY BGCOLOR="#FFFFFF">\n{exhibit}</BODY>\n</HTML>\n'
            "</TEXT>\n</DOCUMENT>\n"
        )

    def centered(self, markup: str, size: float, bold: bool) -> str:
        """A centered line."""
        inner = f"<B>{markup}</B>" if bold else markup
        return f'<P ALIGN=CENTER><FONT SIZE="{5 if size > 14 else 3 if size > 9.5 else 2}">{inner}</FONT>\n'

    def paragraph(self, markup: str) -> str:
        """Running text."""
        return f'<P><FONT SIZE="2">{markup}</FONT>\n'

    def heading(self, markup: str, level: int, anchor: str) -> str:
        """Part, Item or subject."""
        inner = f"<I>{markup}</I>" if level == 3 else markup
        return f'<P><FONT SIZE="2"><B>{inner}</B></FONT>\n'

    def bullet(self, markup: str) -> str:
        """One point of a list."""
        return f'<UL><LI><FONT SIZE="2">{markup}</FONT></UL>\n'

    def columns(self, cells: Sequence[str], bold: bool, small: bool) -> str:
        """Texts side by side."""
        size = 1 if small else 2
        row = "".join(
            f'<TD ALIGN=CENTER><FONT SIZE="{size}">{"<B>" if bold else ""}{cell.strip() or "&nbsp;"}'
            f"{'</B>' if bold else ''}</FONT>\n"
            for cell in cells
        )
        return f"<TABLE WIDTH=100% BORDER=0>\n<TR>\n{row}</TABLE>\n"

    def rule(self) -> str:
        """A line across."""
        return "<HR NOSHADE SIZE=1>\n"

    def contents(self, rows: Sequence[tuple[str, str, str, str]]) -> str:
        """There is none."""
        return ""

    def page_foot(self, number: str) -> str:
        """No page ends; a line parts what would be pages."""
        return "<HR>\n"

    def page_head(self) -> str:
        """Nothing."""
        return ""

    def anchor(self, name: str) -> str:
        """A place to link to."""
        return EXHIBIT if name == "exhibit" else f'<A NAME="{name}"></A>\n'

    def table(self, view: View) -> str:
        """A table of figures; only rows begin, nothing ends."""
        rows = "".join(_heads(view)) + "".join(_row(line, len(view.heads)) for line in view.lines)
        notes = "".join(f'<P><FONT SIZE="1">{escape(note, quote=False)}</FONT>\n' for note in view.footnotes)
        return f"<TABLE WIDTH=100% BORDER=0 CELLSPACING=0 CELLPADDING=1>\n{rows}</TABLE>\n{notes}"


EXHIBIT = "<!-- exhibit -->\n"
UNDERLINE = "<HR NOSHADE SIZE=1>\n"


def _heads(view: View) -> list[str]:
    rows = []
    if view.spans:
        cells = "<TR VALIGN=BOTTOM>\n<TD>&nbsp;\n"
        for text, first, last in view.spans:
            span = 3 * (last - first) + 2
            cells += f'<TD>&nbsp;<TD COLSPAN={span} ALIGN=CENTER><FONT SIZE="1"><B>{escape(text)}</B></FONT>{UNDERLINE}'
        rows.append(cells)
    left = f'<FONT SIZE="1">{escape(view.head_left)}</FONT>' if view.head_left else "&nbsp;"
    row = f"<TR VALIGN=BOTTOM>\n<TD>{left}\n"
    for head in view.heads:
        text = "<BR>".join(escape(part) for part in head)
        row += f'<TD>&nbsp;<TD COLSPAN=2 ALIGN=RIGHT><FONT SIZE="1"><B>{text}</B></FONT>{UNDERLINE}'
    return [*rows, row]


def _row(line: ViewLine, count: int) -> str:
    inner = f"<B>{line.label}</B>" if line.bold else line.label
    mark = f"<SUP>{line.mark}</SUP>" if line.mark else ""
    label = f'<TR VALIGN=BOTTOM>\n<TD><FONT SIZE="2">{"&nbsp;" * (3 * line.indent)}{inner}{mark}</FONT>\n'
    return label + "".join(_cell(cell, line.bold) for cell in line.cells or (Cell(),) * count)


def _cell(cell: Cell, bold: bool) -> str:
    number = f"{cell.opening}{cell.number}{cell.closing}" or "&nbsp;"
    number = f"<B>{number}</B>" if bold else number
    mark = f"<SUP>{cell.mark}</SUP>" if cell.mark else ""
    dollar = f"<TD>&nbsp;<TD ALIGN=RIGHT>{cell.dollar or '&nbsp;'}"
    return f'{dollar}<TD ALIGN=RIGHT NOWRAP><FONT SIZE="2">{number}{mark}</FONT>\n'
