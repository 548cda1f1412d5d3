"""A comparison on a terminal."""

from __future__ import annotations

from rich.table import Table

from fin_agent.evaluation import published
from fin_agent.evaluation.comparing import Measure
from fin_agent.evaluation.comparison_report import COMPARED, ComparisonReport, Figure, GroupFigures, Kind, TestedPair
from fin_agent.evaluation.oracle import Oracle

_SHORT_P = 0.001
_NONE = "-"


def overall_table(report: ComparisonReport) -> Table:
    """A line per strategy over all questions, the published figures below."""
    oracle = {Oracle.NONE: "", Oracle.DOCUMENT: ", right filing given", Oracle.PAGE: ", right pages given"}
    table = Table(
        title=f"{report.questions} questions, the first {report.k}{oracle[report.oracle]}",
        caption="shares in percent; in brackets the 95% interval (bootstrap over questions); "
        "BLEU and ROUGE-L: best passage for each gold text; read: passages an answer is written from; "
        "seconds: of understanding and search",
    )
    table.add_column("strategy", overflow="fold")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for group in report.overall:
        table.add_row(*_overall_cells(group))
    beside = _published_cells(report)
    if beside:
        table.add_section()
        table.add_row(*beside, style="dim")
    return table


def groups_table(report: ComparisonReport) -> Table:
    """Page recall of the first k passages by question type and filing type, a line per strategy."""
    table = Table(title="Page recall of passages by type", caption="in brackets: questions")
    groups = [each for kind in (Kind.QUESTION_TYPE, Kind.FILING_TYPE) for each in report.by(kind)]
    table.add_column("strategy", overflow="fold")
    for name, members in groups:
        table.add_column(f"{_broken(name)}\n({members[0].questions})", justify="right", no_wrap=True)
    for place, group in enumerate(report.overall):
        table.add_row(group.strategy, *(_percent(members[place].of(COMPARED).mean) for _, members in groups))
    return table


def pairs_table(report: ComparisonReport) -> Table:
    """A line per tested pair."""
    several = len(report.pairs) > 1
    table = Table(
        title="Differences in page recall of passages, in points",
        caption="paired permutation test over questions, two-sided, "
        + ("exact" if all(pair.test.exact for pair in report.pairs) else f"exact or {report.resamples:,} exchanges")
        + (f"; corrected for {len(report.pairs)} pairs after Holm" if several else ""),
    )
    table.add_column("first", overflow="fold")
    table.add_column("second", overflow="fold")
    for heading in ("difference", "95% interval", "questions\ndiffering", "p", *(["p,\ncorrected"] if several else [])):
        table.add_column(heading, justify="right")
    for pair in report.pairs:
        table.add_row(*_pair_cells(pair, several))
    return table


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
"""Broken by hand: together they leave 24 of 100 columns to the names."""
_LONG = 10


def _overall_cells(group: GroupFigures) -> tuple[str, ...]:
    return (
        group.strategy,
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
    if report.k != published.K or report.oracle is Oracle.PAGE:
        return None
    given = report.oracle is Oracle.DOCUMENT
    figures = (
        (None, published.PAGE_RECALL_IN_RIGHT_DOCUMENT, None, None, None, None)
        if given
        else (published.DOCUMENT_RECALL, published.PAGE_RECALL, None, None, published.BLEU, published.ROUGE_L)
    )
    rest = len(_HEADINGS) - len(figures)
    return ("published best", *(_percent(figure) for figure in figures), *([_NONE] * rest))


def _pair_cells(pair: TestedPair, several: bool) -> tuple[str, ...]:
    interval = pair.test.interval
    return (
        pair.first,
        pair.second,
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
