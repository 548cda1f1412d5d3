"""Style A: absolute styles on every cell, `hr` page breaks, the dollar sign, number and bracket in spanned cells."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from html_tables import Cell, View, ViewLine
from html_tagging import Dialect

FACE = "font-family:'Times New Roman'"
DIALECT = Dialect(
    number="ixt:num-dot-decimal",
    zero="ixt:fixed-zero",
    true="ixt:fixed-true",
    false="ixt:fixed-false",
    day="ixt:date-monthname-day-year-en",
    month_day="ixt:date-monthname-day-en",
    state="ixt-sec:stateprovnameen",
    exchange="ixt-sec:exchnameen",
    units={"USD": "usd", "shares": "shares", "USD/shares": "usdPerShare", "pure": "number"},
    namespaces={
        "": "http://www.w3.org/1999/xhtml",
        "ix": "http://www.xbrl.org/2013/inlineXBRL",
        "ixt": "http://www.xbrl.org/inlineXBRL/transformation/2020-02-12",
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
    descriptive_ids=False,
)


class StyleA:
    """Markup of one filing agent's software."""

    encoding = "ascii"
    paginated = True

    def document(self, title: str, namespaces: str, header: str, body: str) -> str:
        """The whole file."""
        return (
            "<?xml version='1.0' encoding='ASCII'?>\n"
            f'<html {namespaces} xml:lang="en-US"><head><meta http-equiv="Content-Type" content="text/html"/>\n\n\n'
            f"<title>{title}</title></head><body>{header}"
            f'<div style="min-height:36pt;width:100%"><div><span><br/></span></div></div>{body}</body></html>\n'
        )

    def centered(self, markup: str, size: float, bold: bool) -> str:
        """A centered line."""
        return f'<div style="margin-top:3pt;text-align:center">{_span(markup, size, bold)}</div>'

    def paragraph(self, markup: str) -> str:
        """Running text."""
        return f'<div style="margin-top:9pt;text-align:justify">{_span(markup)}</div>'

    def heading(self, markup: str, level: int, anchor: str) -> str:
        """Part, Item or subject; an Item has an anchor."""
        at = f'<div id="{anchor}"></div>' if anchor else ""
        italic = ";font-style:italic" if level == 3 else ""
        align = "center" if level == 1 else "left"
        style = f"{FACE};font-size:10pt;font-weight:700{italic}"
        return f'{at}<div style="margin-top:12pt;text-align:{align}"><span style="{style}">{markup}</span></div>'

    def bullet(self, markup: str) -> str:
        """One point of a list."""
        return (
            f'<div style="margin-top:4pt;padding-left:36pt;text-indent:-18pt">{_span("&#8226;")}'
            f'<span style="{FACE};font-size:10pt;padding-left:14.5pt">{markup}</span></div>'
        )

    def columns(self, cells: Sequence[str], bold: bool, small: bool) -> str:
        """Texts side by side."""
        share = 100 / len(cells)
        definer = "".join(
            f'<td style="width:1.0%"/><td style="width:{share - 1.1:.3f}%"/><td style="width:0.1%"/>' for _ in cells
        )
        row = "".join(
            f'<td colspan="3" style="padding:2px 1pt;text-align:center;vertical-align:top">'
            f"{_span(cell.strip(), 8 if small else 10, bold)}</td>"
            for cell in cells
        )
        return _table(f"<tr>{definer}</tr><tr>{row}</tr>")

    def rule(self) -> str:
        """A line across."""
        return _table(
            '<tr><td style="width:1.0%"/><td style="width:98.900%"/><td style="width:0.1%"/></tr>'
            '<tr style="height:3pt"><td colspan="3" style="border-bottom:1pt solid #000000;padding:0 1pt"/></tr>'
        )

    def contents(self, rows: Sequence[tuple[str, str, str, str]]) -> str:
        """(label, title, anchor, page) of each Item; a part has a label only."""
        lines = []
        for label, title, anchor, page in rows:
            cells = [(1, "left", label), (1, "left", title), (1, "right", page)]
            linked = (
                f'<a href="#{anchor}" style="{FACE};font-size:10pt;text-decoration:underline">{text}</a>'
                if anchor and text
                else text
                for _, _, text in cells
            )
            lines.append(
                "".join(
                    f'<td colspan="3" style="padding:2px 1pt;text-align:{align}">{_span(text)}</td>'
                    for (_, align, _), text in zip(cells, linked, strict=True)
                )
            )
        definer = "".join(
            f'<td style="width:1.0%"/><td style="width:{w}%"/><td style="width:0.1%"/>' for w in (10.9, 76.9, 8.9)
        )
        return _table(f"<tr>{definer}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines))

    def page_foot(self, number: str) -> str:
        """The number of the page at its foot."""
        return (
            '<div style="height:45pt;position:relative;width:100%"><div style="bottom:0;position:absolute;width:100%">'
            f'<div style="text-align:center">{_span(number)}</div></div></div>'
        )

    def page_head(self) -> str:
        """The break and the head of the page after it."""
        return (
            '<hr style="page-break-after:always"/><div style="min-height:42.75pt;width:100%"><div>'
            f'<span style="{FACE};font-size:8pt;font-weight:700;text-decoration:underline">'
            f'<a href="#contents">Table of Contents</a></span></div></div>'
        )

    def anchor(self, name: str) -> str:
        """A place to link to."""
        return f'<div id="{name}"></div>'

    def table(self, view: View) -> str:
        """A table of figures."""
        count = len(view.heads)
        width = (100 - 12 * count) if count < 5 else 40
        each = (100 - width) / count
        definer = [f'<td style="width:1.0%"/><td style="width:{width - 1.1:.3f}%"/><td style="width:0.1%"/>']
        for column in range(count):
            gap = '<td style="width:0.1%"/><td style="width:0.430%"/><td style="width:0.1%"/>' if column else ""
            definer.append(
                f'{gap}<td style="width:1.0%"/><td style="width:{each - 1.7:.3f}%"/><td style="width:0.1%"/>'
            )
        rows = ["".join(definer), *_heads(view)]
        shaded = True
        for line in view.lines:
            rows.append(_row(line, count, "#cceeff" if shaded else "#ffffff"))
            shaded = not shaded
        notes = "".join(
            f'<div style="margin-top:2pt">{_span(escape(note, quote=False), 8)}</div>' for note in view.footnotes
        )
        return _table("".join(f"<tr>{row}</tr>" for row in rows)) + notes


def _heads(view: View) -> list[str]:
    rows = []
    if view.spans:
        cells, reached = [_head("", 3)], 0
        for text, first, last in view.spans:
            for column in range(reached, first):
                cells.append(_head("", 3) if column == 0 else _head("", 3) * 2)
            gap = _head("", 3) if first else ""
            cells.append(gap + _head(escape(text), 6 * (last - first) + 3, rule=True))
            reached = last + 1
        rows.append("".join(cells))
    texts = ["<br/>".join(escape(part) for part in head) for head in view.heads]
    row = _head(escape(view.head_left), 3, align="left")
    row += "".join((_head("", 3) if column else "") + _head(text, 3, rule=True) for column, text in enumerate(texts))
    return [*rows, row]


def _head(markup: str, span: int, rule: bool = False, align: str = "center") -> str:
    if not markup:
        return f'<td colspan="{span}" style="padding:0 1pt"/>'
    border = "border-bottom:1pt solid #000000;" if rule else ""
    style = f"{border}padding:2px 1pt;text-align:{align};vertical-align:bottom"
    return f'<td colspan="{span}" style="{style}">{_span(markup, 8, True)}</td>'


def _row(line: ViewLine, count: int, ground: str) -> str:
    indent = f"{1 + 9 * line.indent}pt" if line.indent else "1pt"
    back = f"background-color:{ground};"
    mark = (
        f'<span style="{FACE};font-size:6.5pt;position:relative;top:-3.5pt;vertical-align:baseline">{line.mark}</span>'
    )
    label = _span(line.label, 10, line.bold) + (mark if line.mark else "")
    cells = [
        f'<td colspan="3" style="{back}padding:2px 1pt 2px {indent};text-align:left;vertical-align:bottom">{label}</td>'
    ]
    border = "border-top:1pt solid #000000;" if line.rule_above else ""
    border += "border-bottom:3pt double #000000;" if line.double_below else ""
    gap = f'<td colspan="3" style="{back}padding:0 1pt"/>'
    if not line.cells:
        cells += [f'<td colspan="3" style="{back}padding:0 1pt"/>'] * (2 * count - 1)
    for column, cell in enumerate(line.cells):
        cells.append((gap if column else "") + _cell(cell, line.bold, f"{back}{border}"))
    return "".join(cells)


def _cell(cell: Cell, bold: bool, style: str) -> str:
    """Three columns of the grid: the dollar sign, the number, and what hangs to the right of it."""
    if not cell.number:
        return f'<td colspan="3" style="{style}padding:0 1pt"/>'
    outside = "%" if cell.closing.endswith("%") else ""
    inside = cell.closing.removesuffix("%") or ("" if outside else "&#160;")
    small = f'<span style="{FACE};font-size:6.5pt;position:relative;top:-3.5pt">{cell.mark}</span>' if cell.mark else ""
    number = _span(f"{cell.opening}{cell.number}{inside}", 10, bold) + small
    right = f'<td style="{style}padding:2px 1pt 2px 0;text-align:right"'
    right += f">{_span(outside, 10, bold)}</td>" if outside else "/>"
    aligned = "text-align:right;vertical-align:bottom"
    if cell.dollar:
        dollar = f'<td style="{style}padding:2px 0 2px 1pt;text-align:left">{_span("$", 10, bold)}</td>'
        return f'{dollar}<td style="{style}padding:2px 0;{aligned}">{number}</td>{right}'
    return f'<td colspan="2" style="{style}padding:2px 0 2px 1pt;{aligned}">{number}</td>{right}'


def _table(rows: str) -> str:
    style = "border-collapse:collapse;display:inline-table;margin-bottom:5pt;vertical-align:text-bottom;width:100.000%"
    return f'<div style="margin-top:5pt"><table style="{style}">{rows}</table></div>'


def _span(markup: str, size: float = 10, bold: bool = False) -> str:
    weight = 700 if bold else 400
    return f'<span style="{FACE};font-size:{size:g}pt;font-weight:{weight}">{markup}</span>'
