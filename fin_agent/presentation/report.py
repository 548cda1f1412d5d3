"""Answers as one self-contained HTML file: the sentence, the figures, the program, and the pages with frames."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.errors import FinAgentError
from fin_agent.filings.page_rendering import Bounds, Frame, FrameColor, FramedPage, draw_pages
from fin_agent.presentation.terminal_text import plain
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace

Picture = Callable[[str, int, list[Box]], bytes | None]
"""Returns a page (0-based) of a filing as PNG with boxes framed, or None if it cannot be drawn."""
_MAX_PAGES = 12
_DPI = 110
_BOUNDS = Bounds(longest_side=1_600, most_bytes=2_000_000)
_CSP = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#4d5866;--paper:#fff;--line:#c9d0d8;--fill:#f1f4f7}
@media (prefers-color-scheme:dark){:root{--ink:#e7ebf0;--soft:#aeb8c4;--paper:#12161c;--line:#3a4450;--fill:#1c222b}}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;
color:var(--ink);background:var(--paper)}
h1{font-size:1.25rem;margin:2.5rem 0 .25rem}.said{font-size:1.15rem;font-weight:600}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.9rem}
td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;white-space:nowrap}
pre{overflow-x:auto;background:var(--fill);padding:.75rem;border-radius:6px;font-size:.8rem}
figure{margin:1.5rem 0;break-inside:avoid}img{max-width:100%;border:1px solid var(--line);background:#fff}
figcaption,.quiet{color:var(--soft);font-size:.85rem}
@media print{:root{--ink:#000;--soft:#333;--paper:#fff;--line:#999;--fill:#eee}}
"""


def html_report(answers: Sequence[Answer], picture: Picture) -> str:
    """Return the report of these answers. Texts of filings are escaped."""
    parts = "".join(part for answer in answers for part in _answer(answer, picture))
    title = _said(answers[0].question) if answers else "Answers"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title>"
        f'<meta http-equiv="Content-Security-Policy" content="{_CSP}">'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>'
        f"<body><main>{parts}</main></body></html>\n"
    )


def answer_html(answer: Answer, workspace: Workspace | None = None) -> str:
    """Return an answer as an HTML fragment for a notebook, with its first page if the workspace can draw it."""
    picture: Picture = (lambda doc_id, page, boxes: None) if workspace is None else partial(drawn_page, workspace)
    return f"<div>{''.join(_answer(answer, picture, most_pages=1))}</div>"


def drawn_page(
    workspace: Workspace, doc_id: str, page: int, boxes: Sequence[Box], *, notify: Callable[[str], object] = str
) -> bytes | None:
    """Return a page (0-based) as PNG with boxes framed.

    If it cannot be drawn, None is returned, and `notify` is called with the reason.
    """
    wanted = FramedPage(page, tuple(Frame(box, FrameColor.FACT) for box in boxes))
    try:
        record = workspace.index.filing(doc_id)
        return draw_pages(Path(record.source), record.content_hash, [wanted], _DPI, _BOUNDS)[0]
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
    of_page: dict[tuple[str, int], list[Box]] = {}
    for citation in answer.citations:
        boxes = of_page.setdefault((citation.doc_id, citation.page), [])
        if citation.box is not None:
            boxes.append(Box(*citation.box))
    for (doc_id, page), boxes in list(of_page.items())[:most]:
        drawn = picture(doc_id, page, boxes)
        if drawn is not None:
            where = f"{_said(doc_id)}, page {page + 1}"
            image = f'<img alt="{where}" src="data:image/png;base64,{b64encode(drawn).decode()}">'
            yield f"<figure>{image}<figcaption>{where}</figcaption></figure>"


def _said(text: str) -> str:
    return escape(plain(text))
