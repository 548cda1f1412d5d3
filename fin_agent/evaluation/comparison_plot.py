"""A comparison as a picture. Needs the extra `evaluation`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fin_agent.evaluation import published
from fin_agent.evaluation.comparing import Measure
from fin_agent.evaluation.comparison_report import ComparisonReport, GroupFigures
from fin_agent.evaluation.oracle import Oracle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OURS = "#1f5a94"
_THEIRS = "#b0482e"
_WIDTH, _ROW_HEIGHT, _FRAME_HEIGHT = 9.0, 0.36, 2.0


def draw_comparison(report: ComparisonReport, path: Path) -> None:
    """Document recall and page recall of every strategy with their 95% intervals, best at the top, as a PNG file.

    Lines mark the published figures where the report is on the same questions and as many results. Document recall is
    left out where the right filing is given. Replaces the file.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    groups = sorted(report.overall, key=lambda group: group.of(Measure.PAGE_RECALL_OF_PASSAGES).mean or 0.0)
    panels = _panels(report)
    figure = Figure(
        figsize=(_WIDTH, _FRAME_HEIGHT + _ROW_HEIGHT * len(groups)), layout=ConstrainedLayoutEngine(wspace=0.06)
    )
    FigureCanvasAgg(figure)
    figure.suptitle(_title(report), x=0.01, ha="left", fontsize=12, fontweight="bold")
    for axes, (measure, name, lines) in zip(
        figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels, strict=True
    ):
        _draw_panel(axes, groups, measure)
        _draw_lines(axes, lines, len(groups))
        axes.set_xlabel(name)
    if any(lines for _, _, lines in panels):
        source = f"published: the best of {published.SOURCE}"
        figure.supxlabel(source, x=0.99, ha="right", fontsize=8, color=_THEIRS)
    figure.savefig(path, dpi=150, format="png", metadata={"Software": None})


def _title(report: ComparisonReport) -> str:
    given = {Oracle.NONE: "", Oracle.DOCUMENT: ", right filing given", Oracle.PAGE: ", right pages given"}
    return f"Recall over {report.questions} questions{given[report.oracle]}, with 95% intervals"


def _panels(report: ComparisonReport) -> list[tuple[Measure, str, list[tuple[float, str]]]]:
    """Per panel what is drawn, the name of its axis, and its published lines."""
    comparable = report.beside_published
    in_document = (published.PAGE_RECALL_IN_RIGHT_DOCUMENT, "published, right\nfiling given")
    anywhere = [(published.PAGE_RECALL, "published")] if report.oracle is Oracle.NONE else []
    pages = [*anywhere, in_document] if comparable else []
    page_panel = (Measure.PAGE_RECALL_OF_PASSAGES, f"share of gold pages in the first {report.k} passages", pages)
    if report.oracle is not Oracle.NONE:
        return [page_panel]
    documents = [(published.DOCUMENT_RECALL, "published")] if comparable else []
    return [
        (Measure.DOCUMENT_RECALL, f"share of gold filings in the first {report.k} filings", documents),
        page_panel,
    ]


def _draw_panel(axes: Axes, groups: list[GroupFigures], measure: Measure) -> None:
    for height, group in enumerate(groups):
        figure = group.of(measure)
        if figure.mean is None:
            continue
        if figure.interval is not None:
            axes.plot([figure.interval.low, figure.interval.high], [height, height], color=_OURS, lw=1.6, alpha=0.6)
        axes.plot([figure.mean], [height], "o", color=_OURS, ms=6)
        axes.annotate(
            f"{figure.mean:.2f}",
            (figure.mean, height),
            (0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    axes.set_yticks(range(len(groups)), [group.strategy for group in groups])
    axes.set_ylim(-0.6, len(groups) - 0.2)
    axes.set_xlim(0, 1.02)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _draw_lines(axes: Axes, lines: list[tuple[float, str]], rows: int) -> None:
    for place, (share, name) in enumerate(lines):
        axes.axvline(share, color=_THEIRS, lw=1.2, ls="--" if place else "-", zorder=1)
        last = place == len(lines) - 1 and len(lines) > 1
        axes.annotate(
            f"{name} {share:.2f}",
            (share, rows - 0.2),
            (3 if last else -3, 2),
            textcoords="offset points",
            ha="left" if last else "right",
            va="bottom",
            color=_THEIRS,
            fontsize=8,
        )
