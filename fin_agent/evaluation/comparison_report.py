"""A comparison's figures: each strategy overall and by type, pairs of strategies; as tables and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from fin_agent.evaluation import Oracle
from fin_agent.evaluation.benchmark import Column, Group, Report, mean_of, percent, percentile, report_on
from fin_agent.evaluation.comparison import Comparison, Measure, NotBuilt, QuestionScore
from fin_agent.evaluation.statistics import RESAMPLES, Estimate, PairedTest, estimate, holm, paired_test

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COMPARED = Measure.PAGE_RECALL_OF_PASSAGES
"""What pairs of strategies are tested on."""
PUBLISHED_IDS = "financebench_id_"
"""How FinanceBench's ids of questions begin."""
_OVERALL = "overall"
_GIVEN = {Oracle.NONE: "", Oracle.DOCUMENT: ", right filing given", Oracle.PAGE: ", right pages given"}

# Kobeissi & Langlais, "Decomposing Retrieval Failures in RAG for Long-Document Financial Question Answering" (2026):
# one shared store, 150 questions, the first five chunks, the best of their systems in each figure.
_SOURCE = "Kobeissi & Langlais"
_PUBLISHED_K = 5
_PUBLISHED = {
    Measure.DOCUMENT_RECALL_OF_PASSAGES: 0.95,
    Measure.PAGE_RECALL_OF_PASSAGES: 0.55,
    Measure.BLEU_OF_ALL: 0.33,
    Measure.ROUGE_L_OF_ALL: 0.46,
}
_PUBLISHED_IN_RIGHT_DOCUMENT = {Measure.PAGE_RECALL_OF_PASSAGES: 0.60}


@dataclass(frozen=True, slots=True)
class TestedPair:
    """Whether one strategy finds more of the gold pages than another, in its first k passages."""

    first: str
    second: str
    test: PairedTest
    corrected: float
    """The p-value corrected for the number of pairs tested (Holm)."""


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """All figures of a comparison."""

    k: int
    oracle: Oracle
    questions: int
    published_questions: bool
    """Whether all questions are FinanceBench's, by their ids: on others its published figures say nothing."""
    groups: tuple[Group, ...]
    """Strategy by strategy: over all questions, by question type, by filing type."""
    columns: tuple[Column[QuestionScore], ...]
    pairs: tuple[TestedPair, ...]
    not_built: tuple[NotBuilt, ...]
    resamples: int
    seed: int

    @property
    def published(self) -> dict[Measure, float]:
        """Published figures of the same questions, as many results and no more given away; empty where none are."""
        if not self.published_questions or self.k != _PUBLISHED_K or self.oracle is Oracle.PAGE:
            return {}
        return _PUBLISHED_IN_RIGHT_DOCUMENT if self.oracle is Oracle.DOCUMENT else _PUBLISHED

    @property
    def overall(self) -> tuple[Group, ...]:
        """All questions, one entry per strategy."""
        return tuple(group for group in self.groups if group.section == _OVERALL)

    def as_json(self) -> dict[str, object]:
        """Plain values for `json.dumps`."""
        return {
            "k": self.k,
            "oracle": self.oracle.value,
            "questions": self.questions,
            "groups": [group.as_json() for group in self.groups],
            "pairs": [
                {"first": pair.first, "second": pair.second, **asdict(pair.test), "p_value_holm": pair.corrected}
                for pair in self.pairs
            ],
            "not_built": [asdict(each) for each in self.not_built],
            "resamples": self.resamples,
            "seed": self.seed,
        }

    def as_tables(self) -> list[Table]:
        """Figures over all questions, page recall by type, the pairs tested; columns few enough for long names."""
        title = f"{self.questions} questions, the first {self.k}{_GIVEN[self.oracle]}"
        groups = tuple(replace(group, name=group.strategy or "") for group in self.overall)
        if self.published:
            nothing: dict[str, Any] = dict.fromkeys(column.name for column in self.columns)
            found = {measure.value: Estimate(figure, None, None) for measure, figure in self.published.items()}
            groups = (*groups, Group("published", "published best", {**nothing, **found}))
        tables = [
            Report(of, caption, self.columns[begin:end], groups).as_table()
            for of, caption, begin, end in (
                (title, _DOCUMENTS_CAPTION, 0, 6),
                ("", _READ_CAPTION, 6, 10),
                ("", _FOUND_CAPTION, 10, 14),
                ("", _TIMES_CAPTION, 14, 19),
            )
        ]
        tables += [self._by_type("question type"), self._by_type("filing type")]
        return [*tables, self._tested()] if self.pairs else tables

    def _by_type(self, section: str) -> Table:
        groups = [group for group in self.groups if group.section == section]
        names = dict.fromkeys(group.name for group in groups)
        table = Table(title=f"Page recall of passages by {section}", caption="in brackets: questions")
        table.add_column("", no_wrap=True)
        for name in names:
            count = next(group.figures["questions"] for group in groups if group.name == name)
            broken = name.replace("-", "-\n", 1) if len(name) > 10 else name
            table.add_column(f"{broken}\n({count})", justify="right")
        for strategy in dict.fromkeys(group.strategy for group in groups):
            recall = {group.name: group.figures[COMPARED.value] for group in groups if group.strategy == strategy}
            table.add_row(strategy, *(percent(each and each.mean) for each in map(recall.__getitem__, names)))
        return table

    def _tested(self) -> Table:
        several = len(self.pairs) > 1
        exact = all(pair.test.exact for pair in self.pairs)
        table = Table(
            title="Differences in page recall of passages, in points",
            caption="paired permutation test over questions, two-sided, "
            + ("exact" if exact else f"exact or {self.resamples:,} exchanges")
            + (f"; corrected for {len(self.pairs)} pairs after Holm" if several else ""),
        )
        table.add_column("first\n  second", no_wrap=True)
        for heading in ("difference", "95% interval", "questions\ndiffering", "p", *(["p,\ncorrected"] * several)):
            table.add_column(heading, justify="right")
        for pair in self.pairs:
            interval, p_values = pair.test.interval, (pair.test.p_value, *([pair.corrected] * several))
            table.add_row(
                f"{pair.first}\n  {pair.second}",
                f"{100 * pair.test.difference:+.1f}",
                f"{100 * interval.low:+.1f} to {100 * interval.high:+.1f}" if interval else "-",
                str(pair.test.differing),
                *("< 0.001" if value < 0.001 else f"{value:.3f}" for value in p_values),
            )
        return table


_DOCUMENTS_CAPTION = "filings: among the first filings listed; of passages: among those of the first passages"
_READ_CAPTION = (
    "shares in percent; in brackets the 95% interval (bootstrap over questions); read: of all passages that an answer"
    " is written from; nDCG: of the first ten pages"
)
_FOUND_CAPTION = (
    "BLEU, ROUGE-L: of the best passage, for each gold text and then the mean, and against all gold texts as one (as"
    " Kobeissi & Langlais do)"
)
_TIMES_CAPTION = "read: passages an answer is written from; seconds: of understanding and search; calls of chat models"


def report_on_comparison(
    comparison: Comparison, pairs: Sequence[tuple[str, str]], *, resamples: int = RESAMPLES, seed: int = 0
) -> ComparisonReport:
    """The figures of `comparison`, and tests of these `pairs` of its strategies."""
    of_strategy = {strategy: comparison.of(strategy) for strategy in comparison.strategies}
    columns = _columns(resamples, seed)
    sections: dict[str, Callable[[QuestionScore], str]] = {
        _OVERALL: lambda score: _OVERALL,
        "question type": lambda score: score.question_type,
        "filing type": lambda score: score.filing_type,
    }
    groups = [
        replace(group, strategy=strategy)
        for strategy, scores in of_strategy.items()
        for group in report_on(scores, "", "", columns, sections).groups
    ]
    compared = {name: [score.of(COMPARED) or 0.0 for score in scores] for name, scores in of_strategy.items()}
    tests = [paired_test(compared[first], compared[second], resamples=resamples, seed=seed) for first, second in pairs]
    corrected = holm([test.p_value for test in tests])
    return ComparisonReport(
        k=comparison.conditions.k,
        oracle=comparison.conditions.oracle,
        questions=max((len(scores) for scores in of_strategy.values()), default=0),
        published_questions=bool(comparison.scores)
        and all(score.id.startswith(PUBLISHED_IDS) for score in comparison.scores),
        groups=tuple(groups),
        columns=columns,
        pairs=tuple(TestedPair(*pair, test, p) for pair, test, p in zip(pairs, tests, corrected, strict=True)),
        not_built=comparison.not_built,
        resamples=resamples,
        seed=seed,
    )


def _columns(resamples: int, seed: int) -> tuple[Column[QuestionScore], ...]:
    def measured(measure: Measure, heading: str, shown: Callable[[Any], str]) -> Column[QuestionScore]:
        def figure(scores: Sequence[QuestionScore]) -> Estimate | None:
            sample = [found for score in scores if (found := score.of(measure)) is not None]
            return estimate(sample, resamples=resamples, seed=seed)

        return Column(measure.value, figure, heading, shown)

    def seconds(share: float) -> Callable[[Sequence[QuestionScore]], float | None]:
        def figure(scores: Sequence[QuestionScore]) -> float | None:
            known = [score.seconds for score in scores if score.seconds is not None]
            return percentile(known, share) if known else None

        return figure

    def bare(found: Estimate) -> str:
        return percent(found.mean)

    return (
        Column("questions", len),
        Column("failed", lambda scores: sum(bool(score.failure) for score in scores)),
        measured(Measure.DOCUMENT_RECALL, "recall of filings", bare),
        measured(Measure.DOCUMENT_RECALL_OF_PASSAGES, "of passages", bare),
        measured(COMPARED, "page recall of passages", str),
        measured(Measure.PAGE_RECALL_OF_PAGES, "of pages", bare),
        measured(Measure.PAGE_PRECISION, "page precision", bare),
        measured(Measure.PAGE_RECALL_READ, "page recall, read", bare),
        measured(Measure.PAGE_PRECISION_READ, "precision, read", bare),
        measured(Measure.NDCG, "nDCG", bare),
        measured(Measure.BLEU, "BLEU", bare),
        measured(Measure.ROUGE_L, "ROUGE-L", bare),
        measured(Measure.BLEU_OF_ALL, "BLEU, all", bare),
        measured(Measure.ROUGE_L_OF_ALL, "ROUGE-L, all", bare),
        Column("passages_per_answer", mean_of(lambda score: score.passages_per_answer), "read", "{:.1f}".format),
        Column("median_seconds", seconds(50), "median seconds", "{:.2f}".format),
        Column("p95_seconds", seconds(95), "p95", "{:.2f}".format),
        Column("model_calls", mean_of(lambda score: score.model_calls), "calls", "{:.1f}".format),
        Column("tokens", mean_of(lambda score: score.tokens), "tokens", "{:.0f}".format),
    )


_OURS = "#1f5a94"
_THEIRS = "#b0482e"
_WIDTH, _ROW_HEIGHT, _FRAME_HEIGHT = 9.0, 0.36, 2.0


def draw_comparison(report: ComparisonReport, path: Path) -> None:
    """Document recall and page recall of every strategy with their 95% intervals, best at the top, as a PNG file.

    Lines mark the published figures where the report is on the same questions and as many results. Document recall is
    left out where the right filing is given. Needs the extra `evaluation`. Replaces the file.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    groups = sorted(report.overall, key=lambda group: group.figures[COMPARED.value].mean)
    panels = {COMPARED: f"share of gold pages in the first {report.k} passages"}
    if report.oracle is Oracle.NONE:
        by = Measure.DOCUMENT_RECALL_OF_PASSAGES
        panels = {by: f"share of gold filings in the first {report.k} passages", **panels}
    figure = Figure(
        figsize=(_WIDTH, _FRAME_HEIGHT + _ROW_HEIGHT * len(groups)), layout=ConstrainedLayoutEngine(wspace=0.06)
    )
    FigureCanvasAgg(figure)
    title = f"Recall over {report.questions} questions{_GIVEN[report.oracle]}, with 95% intervals"
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (measure, name) in zip(all_axes, panels.items(), strict=True):
        _draw_panel(axes, groups, measure)
        if measure in report.published:
            _draw_line(axes, report.published[measure], len(groups))
        axes.set_xlabel(name)
    if report.published:
        figure.supxlabel(f"published: the best of {_SOURCE}", x=0.99, ha="right", fontsize=8, color=_THEIRS)
    figure.savefig(path, dpi=150, format="png", metadata={"Software": None})


def _draw_panel(axes: Axes, groups: Sequence[Group], measure: Measure) -> None:
    for height, group in enumerate(groups):
        found: Estimate = group.figures[measure.value]
        if found.low is not None:
            axes.plot([found.low, found.high], [height, height], color=_OURS, lw=1.6, alpha=0.6)
        axes.plot([found.mean], [height], "o", color=_OURS, ms=6)
        axes.annotate(
            f"{found.mean:.2f}",
            (found.mean, height),
            (0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    axes.set_yticks(range(len(groups)), [group.strategy or "" for group in groups])
    axes.set_ylim(-0.6, len(groups) - 0.2)
    axes.set_xlim(0, 1.02)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#dddddd", lw=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _draw_line(axes: Axes, share: float, rows: int) -> None:
    axes.axvline(share, color=_THEIRS, lw=1.2, zorder=1)
    axes.annotate(
        f"published {share:.2f}",
        (share, rows - 0.2),
        (-3, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
        color=_THEIRS,
        fontsize=8,
    )
