"""A comparison on a terminal: names of strategies stay whole, columns go into as many tables as the width asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from fin_agent.evaluation import published
from fin_agent.evaluation.comparing import Measure
from fin_agent.evaluation.comparison_report import COMPARED, ComparisonReport, Figure, GroupFigures, Kind, TestedPair
from fin_agent.evaluation.oracle import Oracle

USUAL_WIDTH = 100
_SHORT_P = 0.001
_NONE = "-"
_BETWEEN = 2
"""Columns of characters between two columns of a table."""


def overall_tables(report: ComparisonReport, width: int = USUAL_WIDTH) -> list[Table]:
    """A line per strategy over all questions, the published figures below where they are of the same questions."""
    oracle = {Oracle.NONE: "", Oracle.DOCUMENT: ", right filing given", Oracle.PAGE: ", right pages given"}
    beside = _published_cells(report)
    return _in_parts(
        _Figures(
            title=f"{report.questions} questions, the first {report.k}{oracle[report.oracle]}",
            caption="shares in percent; in brackets the 95% interval (bootstrap over questions); "
            "BLEU and ROUGE-L: best passage for each gold text; read: passages an answer is written from; "
            "seconds: of understanding and search",
            named=("strategy",),
            headings=_HEADINGS,
            rows=tuple(((group.strategy,), _overall_cells(group)) for group in report.overall),
            last=((_PUBLISHED,), beside) if beside else None,
        ),
        width,
    )


def groups_tables(report: ComparisonReport, width: int = USUAL_WIDTH) -> list[Table]:
    """Page recall of the first k passages by question type and filing type, a line per strategy."""
    groups = [each for kind in (Kind.QUESTION_TYPE, Kind.FILING_TYPE) for each in report.by(kind)]
    return _in_parts(
        _Figures(
            title="Page recall of passages by type",
            caption="in brackets: questions",
            named=("strategy",),
            headings=tuple(f"{_broken(name)}\n({members[0].questions})" for name, members in groups),
            rows=tuple(
                ((group.strategy,), tuple(_percent(members[place].of(COMPARED).mean) for _, members in groups))
                for place, group in enumerate(report.overall)
            ),
        ),
        width,
    )


def pairs_tables(report: ComparisonReport, width: int = USUAL_WIDTH) -> list[Table]:
    """A line per tested pair; its names stand one below the other where both do not fit beside the figures."""
    several = len(report.pairs) > 1
    rows = tuple(((pair.first, pair.second), _pair_cells(pair, several)) for pair in report.pairs)
    figures = _Figures(
        title="Differences in page recall of passages, in points",
        caption="paired permutation test over questions, two-sided, "
        + ("exact" if all(pair.test.exact for pair in report.pairs) else f"exact or {report.resamples:,} exchanges")
        + (f"; corrected for {len(report.pairs)} pairs after Holm" if several else ""),
        named=("first", "second"),
        headings=("difference", "95% interval", "questions\ndiffering", "p", *(["p,\ncorrected"] if several else [])),
        rows=rows,
    )
    return _in_parts(figures if figures.width <= width else figures.with_names_stacked(), width)


@dataclass(frozen=True, slots=True)
class _Figures:
    """A table before it is cut to a width: names on the left, which every part repeats, and columns of figures."""

    title: str
    caption: str
    named: tuple[str, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """(names, figures) of each line."""
    last: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """A line set apart below the others."""

    @property
    def lines(self) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
        """All lines with the last."""
        return (*self.rows, *([self.last] if self.last else []))

    @property
    def names_width(self) -> int:
        """What the names take."""
        columns = [_widest((name, *(names[at] for names, _ in self.lines))) for at, name in enumerate(self.named)]
        return sum(columns) + _BETWEEN * (len(columns) - 1)

    @property
    def figure_widths(self) -> list[int]:
        """What each column of figures takes, with the space before it."""
        return [
            _BETWEEN + _widest((heading, *(figures[at] for _, figures in self.lines)))
            for at, heading in enumerate(self.headings)
        ]

    @property
    def width(self) -> int:
        """What it takes in one piece."""
        return self.names_width + sum(self.figure_widths)

    def with_names_stacked(self) -> _Figures:
        """The same with the names of a line one below the other."""
        rows = tuple((("\n  ".join(names),), figures) for names, figures in self.rows)
        return _Figures(self.title, self.caption, ("\n  ".join(self.named),), self.headings, rows, self.last)


def _in_parts(figures: _Figures, width: int) -> list[Table]:
    """As many tables as there have to be for all to be at most `width` wide, if one column beside the names is."""
    parts: list[list[int]] = [[]]
    left = width - figures.names_width
    for at, taken in enumerate(figures.figure_widths):
        if parts[-1] and taken > left:
            parts.append([])
            left = width - figures.names_width
        parts[-1].append(at)
        left -= taken
    return [
        _part(figures, columns, first=place == 0, last=place == len(parts) - 1) for place, columns in enumerate(parts)
    ]


def _part(figures: _Figures, columns: Sequence[int], *, first: bool, last: bool) -> Table:
    table = Table(title=figures.title if first else None, caption=figures.caption if last else None)
    for name in figures.named:
        # A name that is wider than all there is room for goes over the edge, but does not lose its end.
        width = _widest((name, *(names[figures.named.index(name)] for names, _ in figures.lines)))
        table.add_column(name, no_wrap=True, min_width=width)
    for at in columns:
        table.add_column(figures.headings[at], justify="right", no_wrap=True)
    for names, cells in figures.rows:
        table.add_row(*names, *(cells[at] for at in columns))
    if figures.last is not None and any(figures.last[1][at] != _NONE for at in columns):
        table.add_section()
        table.add_row(*figures.last[0], *(figures.last[1][at] for at in columns), style="dim")
    return table


def _widest(cells: Sequence[str]) -> int:
    return max(len(line) for cell in cells for line in cell.split("\n"))


_PUBLISHED = f"published best\n({published.SOURCE})"


_HEADINGS = (
    "document\nrecall",
    "page recall\nof passages",
    "of\npages",
    "page\nprecision",
    "BLEU",
    "ROUGE-L",
    "read",
    "median\nseconds",
    "p95",
)
"""Broken by hand: the narrower they are, the fewer tables."""
_LONG = 10


def _overall_cells(group: GroupFigures) -> tuple[str, ...]:
    return (
        _percent(group.of(Measure.DOCUMENT_RECALL).mean),
        _with_interval(group.of(Measure.PAGE_RECALL_OF_PASSAGES)),
        _percent(group.of(Measure.PAGE_RECALL_OF_PAGES).mean),
        _percent(group.of(Measure.PAGE_PRECISION).mean),
        _percent(group.of(Measure.BLEU).mean),
        _percent(group.of(Measure.ROUGE_L).mean),
        _NONE if group.passages_per_answer is None else f"{group.passages_per_answer:.1f}",
        _seconds(group.median_seconds),
        _seconds(group.p95_seconds),
    )


def _published_cells(report: ComparisonReport) -> tuple[str, ...] | None:
    if not report.beside_published:
        return None
    given = report.oracle is Oracle.DOCUMENT
    figures = (
        (None, published.PAGE_RECALL_IN_RIGHT_DOCUMENT, None, None, None, None)
        if given
        else (published.DOCUMENT_RECALL, published.PAGE_RECALL, None, None, published.BLEU, published.ROUGE_L)
    )
    rest = len(_HEADINGS) - len(figures)
    return (*(_percent(figure) for figure in figures), *([_NONE] * rest))


def _pair_cells(pair: TestedPair, several: bool) -> tuple[str, ...]:
    interval = pair.test.interval
    return (
        f"{100 * pair.test.difference:+.1f}",
        f"{100 * interval.low:+.1f} to {100 * interval.high:+.1f}" if interval else _NONE,
        str(pair.test.differing),
        _p_value(pair.test.p_value),
        *([_p_value(pair.corrected)] if several else []),
    )


def _broken(name: str) -> str:
    """A long name over two lines: `metrics-` and `generated`."""
    return name.replace("-", "-\n", 1) if len(name) > _LONG else name


def _p_value(value: float) -> str:
    return f"< {_SHORT_P}" if value < _SHORT_P else f"{value:.3f}"


def _with_interval(figure: Figure) -> str:
    if figure.interval is None:
        return _percent(figure.mean)
    return f"{_percent(figure.mean)} ({100 * figure.interval.low:.0f}-{100 * figure.interval.high:.0f})"


def _percent(share: float | None) -> str:
    return _NONE if share is None else f"{100 * share:.1f}"


def _seconds(seconds: float | None) -> str:
    return _NONE if seconds is None else f"{seconds:.2f}"
