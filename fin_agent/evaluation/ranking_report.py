"""The figures of rankings brought together: a table for people, a file for machines."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.table import Table

from fin_agent.evaluation.ranking import BASELINE, RankingScore
from fin_agent.evaluation.statistics import Interval, PairedTest, mean_interval, paired_test


@dataclass(frozen=True, slots=True)
class RankingFigures:
    """Means of one ranking over all questions."""

    ranking: str
    questions: int
    failed: int
    ndcg: float
    ndcg_interval: Interval | None
    map: float
    mrr: float
    variance: float
    seconds: float | None
    gain: PairedTest | None
    """Of nDCG over the baseline; None for the baseline itself."""


@dataclass(frozen=True, slots=True)
class RankingReport:
    """All figures of one run."""

    k: int
    seeds: int
    figures: tuple[RankingFigures, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        return asdict(self)

    def as_table(self) -> Table:
        """A line per ranking; shares in percent."""
        table = Table(
            title=f"Ranking in the right filing: {self.figures[0].questions} questions, the first {self.k}",
            caption="shares in percent; in brackets the 95% interval (bootstrap over questions); BM25: of the "
            f"question's own words; variance: of the places of the first {self.k} over {self.seeds} seeds; "
            "relevant: all passages on gold pages",
        )
        table.add_column("ranking")
        for heading in (f"nDCG@{self.k}", f"MAP@{self.k}", f"MRR@{self.k}", "over BM25", "variance", "seconds"):
            table.add_column(heading, justify="right", no_wrap=True)
        for each in self.figures:
            table.add_row(*_cells(each))
        if self.k == _PUBLISHED_K:
            table.add_section()
            for name, row in _PUBLISHED.items():
                table.add_row(name, *(_percent(figure) for figure in row), *(["-"] * 3), style="dim")
        return table


_PUBLISHED_K = 10
_PUBLISHED = {"FinCards, other questions": (0.7158, 0.7869, 0.8917)}
"""FinCards on FinAgentBench: its questions and passages are not these, so that only the size compares."""


def report_on_rankings(
    scores: Sequence[RankingScore], *, k: int, seeds: int, resamples: int, seed: int
) -> RankingReport:
    """The report over scored questions, rankings in the order they come. Raises ValueError without scores."""
    if not scores:
        raise ValueError("a report needs at least one question")
    by_ranking: dict[str, list[RankingScore]] = {}
    for score in scores:
        by_ranking.setdefault(score.ranking, []).append(score)
    baseline = [score.ndcg for score in by_ranking.get(BASELINE, ())]

    def figures(name: str, held: Sequence[RankingScore]) -> RankingFigures:
        reached = [score.ndcg for score in held]
        seconds = [score.seconds for score in held if score.seconds is not None]
        tested = name != BASELINE and len(baseline) == len(reached)
        return RankingFigures(
            ranking=name,
            questions=len(held),
            failed=sum(bool(score.failure) for score in held),
            ndcg=fmean(reached),
            ndcg_interval=mean_interval(reached, resamples=resamples, seed=seed),
            map=_mean(held, lambda score: score.average_precision),
            mrr=_mean(held, lambda score: score.reciprocal_rank),
            variance=_mean(held, lambda score: score.variance),
            seconds=fmean(seconds) if seconds else None,
            gain=paired_test(reached, baseline, resamples=resamples, seed=seed) if tested else None,
        )

    return RankingReport(k, seeds, tuple(figures(name, held) for name, held in by_ranking.items()))


def write_ranking_scores(scores: Sequence[RankingScore], path: Path) -> None:
    """A line per ranking and question. Replaces the file."""
    columns = [field.name for field in fields(RankingScore)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=columns)
        writer.writeheader()
        writer.writerows({name: _shown(getattr(score, name)) for name in columns} for score in scores)


def _mean(scores: Sequence[RankingScore], of: Callable[[RankingScore], float]) -> float:
    return fmean(of(score) for score in scores)


def _cells(each: RankingFigures) -> tuple[str, ...]:
    return (
        each.ranking,
        _percent(each.ndcg)
        + (f" ({100 * each.ndcg_interval.low:.0f}-{100 * each.ndcg_interval.high:.0f})" if each.ndcg_interval else ""),
        _percent(each.map),
        _percent(each.mrr),
        f"{100 * each.gain.difference:+.1f}" if each.gain else "-",
        f"{each.variance:.2f}",
        "-" if each.seconds is None else f"{each.seconds:.2f}",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _shown(value: object) -> object:
    return round(value, 6) if isinstance(value, float) else value
