"""A ledger for reading: each slot with a tick, what fills it, where that stands, and what disagrees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text

from fin_agent.answering.answer import Citation
from fin_agent.evidence.ledger import Entry, Figure
from fin_agent.presentation.answers import money
from fin_agent.presentation.plain import one_line

FILLED, EMPTY, OPTIONAL = "✓", "✗", "·"
_STYLES = {FILLED: "green", EMPTY: "bold red", OPTIONAL: "dim"}
_GAP = "  "
_LABEL_AT_LEAST = 12
_FILING_AT_LEAST = 8
_UNDER = 4


class LedgerView:
    """Slots company by company: figure, period, value, filing, page; the reason and conflicts beneath.

    Optional slots that nothing fills are counted on a line, and of companies that were not chosen no optional slot is
    shown, unless all is to be shown in `full`.
    """

    def __init__(self, entries: Sequence[Entry], citations: Sequence[Citation] = (), *, full: bool = False) -> None:
        """`citations` are those of the answer: they tell which company was chosen, where one was."""
        self._entries = entries if full else _without_optional_of_others(entries, citations)
        self._full = full

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        told = [entry for entry in self._entries if self._full or tick(entry) != OPTIONAL]
        columns = _Columns.fitting(told, options.max_width)
        if told:
            yield Text(_GAP + columns.line("Figure", "Period", "Value", "Filing", "Page"), style="dim")
        for company, entries in _by_company(self._entries).items():
            yield Text(one_line(company), style="bold", no_wrap=True, overflow="ellipsis")
            for entry in entries:
                if entry in told:
                    yield from _slot(entry, columns)
            empty = [entry for entry in entries if entry not in told]
            if empty:
                line = f"{OPTIONAL} {len(empty)} optional and empty: {_together(empty)}"
                yield Text(line, style="dim", no_wrap=True, overflow="ellipsis")
        yield Text(_counted(self._entries), style="dim")


def tick(entry: Entry) -> str:
    """`✓` filled, `✗` required and empty, `·` optional and empty."""
    if entry.figure is not None:
        return FILLED
    return EMPTY if entry.required else OPTIONAL


def _by_company(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The slots of each company, in the order in which companies come first."""
    grouped: dict[str, list[Entry]] = {}
    for entry in entries:
        grouped.setdefault(entry.slot.company_name, []).append(entry)
    return grouped


def _without_optional_of_others(entries: Sequence[Entry], citations: Sequence[Citation]) -> Sequence[Entry]:
    """Where one company is chosen by a figure: what is asked of it is wanted of no other.

    The chosen one is known by what is required of it beyond the choice, or what the answer cites; while nothing is, all
    stays.
    """
    cited = {(citation.doc_id, citation.page, citation.box) for citation in citations}
    chosen = {
        entry.slot.company_name
        for entry in _asked_of_the_chosen(entries)
        if entry.required
        or (entry.figure is not None and (entry.figure.doc_id, entry.figure.page, entry.figure.box) in cited)
    }
    return [entry for entry in entries if entry.required or entry.slot.company_name in chosen] if chosen else entries


def _asked_of_the_chosen(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Such a ledger goes over the companies twice: by what one is chosen, then what is asked. The second time."""
    seen: set[str] = set()
    last = ""
    for at, entry in enumerate(entries):
        name = entry.slot.company_name
        if name != last and name in seen:
            return entries[at:]
        seen.add(name)
        last = name
    return ()


def _slot(entry: Entry, columns: _Columns) -> Iterator[Text | Padding]:
    mark = tick(entry)
    yield Text.assemble((mark, _STYLES[mark]), " ", columns.line(entry.slot.label, entry.slot.period, *_cells(entry)))
    if entry.reason:
        yield Padding(Text(one_line(entry.reason), style="dim"), (0, 0, 0, _UNDER))
    for other in entry.conflicts:
        # A restatement, or a line read wrongly: a person should look.
        said = f"! elsewhere {money(other)}: {one_line(other.label)}, {_place(other)}"
        yield Padding(Text(one_line(said), style="yellow"), (0, 0, 0, _UNDER))


def _together(entries: Iterable[Entry]) -> str:
    """`cost of products (FY2022, FY2023), raw materials (FY2022)`."""
    periods: dict[str, list[str]] = {}
    for entry in entries:
        periods.setdefault(one_line(entry.slot.label), []).append(entry.slot.period)
    return ", ".join(f"{label} ({', '.join(each)})" for label, each in periods.items())


def _cells(entry: Entry) -> tuple[str, str, str]:
    """Value, filing and page."""
    if entry.figure is None:
        return ("missing" if entry.required else "none"), "", ""
    return money(entry.figure), entry.figure.doc_id, str(entry.figure.page + 1)


def _place(figure: Figure) -> str:
    return f"{figure.doc_id} page {figure.page + 1}"


def _counted(entries: Sequence[Entry]) -> str:
    marks = [tick(entry) for entry in entries]
    words = {FILLED: "filled", EMPTY: "required and empty", OPTIONAL: "optional and empty"}
    return "   ".join(f"{mark} {marks.count(mark)} {word}" for mark, word in words.items() if mark in marks)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Widths in cells; names give way before figures do."""

    label: int
    period: int
    value: int
    filing: int
    page: int

    @classmethod
    def fitting(cls, entries: Sequence[Entry], width: int) -> _Columns:
        cells = [_cells(entry) for entry in entries]
        label = _widest("Figure", (entry.slot.label for entry in entries))
        period = _widest("Period", (entry.slot.period for entry in entries))
        value = _widest("Value", (each[0] for each in cells))
        filing = _widest("Filing", (each[1] for each in cells))
        page = _widest("Page", (each[2] for each in cells))
        over = len(_GAP) * 5 + label + period + value + filing + page - width
        if over > 0:
            less = min(over, max(0, label - _LABEL_AT_LEAST))
            label, over = label - less, over - less
            filing -= min(over, max(0, filing - _FILING_AT_LEAST))
        return cls(label, period, value, filing, page)

    def line(self, label: str, period: str, value: str, filing: str, page: str) -> str:
        cells = (
            _fitted(label, self.label),
            _fitted(period, self.period),
            _fitted(value, self.value, right=True),
            _fitted(filing, self.filing),
            _fitted(page, self.page, right=True),
        )
        return _GAP.join(cells).rstrip()


def _widest(head: str, cells: Iterable[str]) -> int:
    return max(cell_len(one_line(text)) for text in (head, *cells))


def _fitted(text: str, width: int, *, right: bool = False) -> str:
    text = one_line(text)
    spare = width - cell_len(text)
    if spare < 0:
        return f"{set_cell_size(text, width - 1)}…"
    return " " * spare + text if right else text + " " * spare
