"""Ranking inside the right filing: how high its passages on gold pages come, stage by stage (FinCards, Section 5)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, pvariance

from fin_agent.analyst.protocol import Analyst
from fin_agent.analyst.rules.judging import RulesJudge
from fin_agent.errors import FinAgentError, QuestionError
from fin_agent.evaluation.benchmark import Column, Group, Report, mean_of, report_on
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.evaluation.statistics import Estimate, PairedTest, estimate, paired_test
from fin_agent.evidence.tournament.judge import ABLATIONS, Brief, CardKey, TournamentSettings
from fin_agent.evidence.tournament.stages import by_own_words
from fin_agent.evidence.tournament.tournament import Stage, TournamentResult, hold_tournament
from fin_agent.index.protocol import PageKey, StoredPassage
from fin_agent.workspace import Workspace

BASELINE = "BM25"
FULL = "stages 1+2+3"
_STAGES: Mapping[str, Stage] = {"stage 1": Stage.WORDS, "stages 1+2": Stage.GROUPS, FULL: Stage.ROUNDS}
SEEDS = 5


@dataclass(frozen=True, slots=True)
class Measuring:
    """What is measured."""

    k: int = 10
    ablations: bool = False
    seeds: int = SEEDS
    """Tournaments held for each figure, with seeds from `settings.seed` on; figures of rankings are means over them."""
    settings: TournamentSettings = field(default_factory=TournamentSettings)
    debug: bool = False
    """Whether an unexpected error ends the run, for its traceback."""

    def variants(self) -> dict[str, TournamentSettings]:
        """Name -> settings of the tournaments held; the full one first."""
        chosen = ABLATIONS if self.ablations else {}
        given = self.settings.model_dump()
        return {FULL: self.settings} | {
            name: TournamentSettings.model_validate({**given, **change}) for name, change in chosen.items()
        }

    def names(self) -> tuple[str, ...]:
        """All rankings measured, in the order they are shown."""
        return (BASELINE, *_STAGES, *(name for name in self.variants() if name != FULL))


@dataclass(frozen=True, slots=True)
class RankingScore:
    """One ranking of one question's filing."""

    ranking: str
    id: str
    company: str
    doc_id: str
    question_type: str
    passages: int
    relevant: int
    ndcg: float
    average_precision: float
    reciprocal_rank: float
    variance: float
    """Of the places of the first k over the seeds."""
    seconds: float | None
    """Of one tournament; None for what is a part of another."""
    failure: str = ""


Told = Callable[[str, float, str], None]
"""(id of the question, seconds, failure or nothing)."""


def measure_rankings(
    questions: Sequence[FinanceBenchQuestion],
    workspace: Workspace,
    analyst: Analyst,
    measuring: Measuring,
    told: Told = lambda question_id, seconds, failure: None,
) -> tuple[list[RankingScore], list[str]]:
    """The scores of all rankings of all questions, and the ids of questions left out.

    A question is left out where a filing of its gold pages is not in the index or no passage stands on them; one that
    fails has found nothing. Raises QuestionError where none is left.
    """
    known = workspace.directory.owners
    scores: list[RankingScore] = []
    left_out: list[str] = []
    for question in questions:
        started = time.perf_counter()
        passages = _passages(question, workspace) if all(doc_id in known for doc_id in question.documents) else []
        relevant = frozenset(_keys(stored for stored in passages if stored.key in _gold(question)))
        if not relevant:
            left_out.append(question.id)
            continue
        failure = ""
        try:
            measured = _rankings(question, passages, workspace, analyst, measuring)
        except Exception as error:  # one question that cannot be ranked does not end the measurement
            if measuring.debug and not isinstance(error, FinAgentError):
                raise
            failure = str(error) if isinstance(error, FinAgentError) else f"unexpected {type(error).__name__}: {error}"
            measured = {name: _Measured([()], None) for name in measuring.names()}
        for name in measuring.names():
            scores.append(_score(name, question, len(passages), relevant, measured[name], measuring.k, failure))
        told(question.id, time.perf_counter() - started, failure)
    if not scores:
        raise QuestionError(
            "no question can be measured: none of their filings is in the index",
            subject=f"{len(questions)} questions",
            remedy="Ingest the filings that the questions are about",
        )
    return scores, left_out


@dataclass(frozen=True, slots=True)
class _Measured:
    orders: Sequence[Sequence[CardKey]]
    """One for each seed."""
    seconds: float | None


def _rankings(
    question: FinanceBenchQuestion,
    passages: Sequence[StoredPassage],
    workspace: Workspace,
    analyst: Analyst,
    measuring: Measuring,
) -> dict[str, _Measured]:
    intent = analyst.intent(question.question)
    plan = analyst.plan(intent)
    brief = Brief(intent, plan, analyst.query(intent, plan, None), workspace.directory.owners)
    judge = RulesJudge(workspace)
    found = {BASELINE: _Measured([by_own_words(brief.query.terms, passages, workspace.index)], None)}
    for name, settings in measuring.variants().items():
        held: list[TournamentResult] = []
        started = time.perf_counter()
        for seed in range(settings.seed, settings.seed + measuring.seeds):
            seeded = settings.model_copy(update={"seed": seed})
            held.append(hold_tournament(brief, passages, workspace.index, workspace.lexicon, judge, settings=seeded))
        seconds = (time.perf_counter() - started) / measuring.seeds
        if name == FULL:
            found |= {of: _Measured([each.orders[stage] for each in held], None) for of, stage in _STAGES.items()}
        found[name] = _Measured([each.orders[Stage.ROUNDS] for each in held], seconds)
    return found


def _passages(question: FinanceBenchQuestion, workspace: Workspace) -> list[StoredPassage]:
    outline = workspace.index.outline(question.documents)
    return workspace.index.passages([page.key for page in outline])


def _gold(question: FinanceBenchQuestion) -> frozenset[PageKey]:
    return frozenset(PageKey(*page) for page in (*question.pages, *question.also))


def _keys(passages: Iterable[StoredPassage]) -> Iterator[CardKey]:
    return ((stored.doc_id, stored.passage.ordinal) for stored in passages)


def _score(
    name: str,
    question: FinanceBenchQuestion,
    passages: int,
    relevant: frozenset[CardKey],
    measured: _Measured,
    k: int,
    failure: str,
) -> RankingScore:
    return RankingScore(
        ranking=name,
        id=question.id,
        company=question.company,
        doc_id=question.doc_id,
        question_type=question.question_type,
        passages=passages,
        relevant=len(relevant),
        ndcg=fmean(ndcg(order, relevant, k) for order in measured.orders),
        average_precision=fmean(average_precision(order, relevant, k) for order in measured.orders),
        reciprocal_rank=fmean(reciprocal_rank(order, relevant, k) for order in measured.orders),
        variance=rank_variance(measured.orders, k),
        seconds=measured.seconds,
        failure=failure,
    )


def ndcg(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Normalised discounted cumulative gain of the first `k`, gains 0 or 1 (Järvelin & Kekäläinen 2002, log base 2).

    The ideal puts all of `relevant` first. Raises ValueError where nothing is relevant.
    """
    ideal = sum(_discount(place) for place in range(min(k, _wanted(relevant))))
    return sum(_discount(place) for place, key in enumerate(ranked[:k]) if key in relevant) / ideal


def average_precision(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Mean over the relevant of the precision at their places, 0 for those behind `k`; the mean over questions is MAP.

    Of more than `k` relevant ones no more than `k` can be found, and no more are counted.
    """
    found, precisions = 0, 0.0
    for place, key in enumerate(ranked[:k], start=1):
        if key in relevant:
            found += 1
            precisions += found / place
    return precisions / min(k, _wanted(relevant))


def reciprocal_rank(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """1 / place of the first relevant one, 0 where none is among the first `k`; the mean over questions is MRR."""
    _wanted(relevant)
    return next((1.0 / place for place, key in enumerate(ranked[:k], start=1) if key in relevant), 0.0)


def rank_variance(rankings: Sequence[Sequence[Hashable]], k: int) -> float:
    """Variance of a member's place over several rankings of the same members, mean over the first's first `k`.

    0 for a single ranking, and where all agree.
    """
    if not rankings or not rankings[0]:
        return 0.0
    places = [{key: place for place, key in enumerate(ranked)} for ranked in rankings]
    return fmean(pvariance([of[key] for of in places]) for key in rankings[0][:k])


def _discount(place: int) -> float:
    """Of a place counted from 0."""
    return 1.0 / math.log2(place + 2)


def _wanted(relevant: Collection[Hashable]) -> int:
    count = len(set(relevant))
    if not count:
        raise ValueError("a ranking can only be measured where something is relevant")
    return count


def report_on_rankings(scores: Sequence[RankingScore], *, k: int, seeds: int, resamples: int, seed: int) -> Report:
    """Means over the questions, rankings in the order they come. Raises ValueError without scores."""
    baseline = [score.ndcg for score in scores if score.ranking == BASELINE]

    def ndcg_of(held: Sequence[RankingScore]) -> Estimate | None:
        return estimate([score.ndcg for score in held], resamples=resamples, seed=seed)

    def gain_of(held: Sequence[RankingScore]) -> PairedTest | None:
        if held[0].ranking == BASELINE or len(held) != len(baseline):
            return None
        return paired_test([score.ndcg for score in held], baseline, resamples=resamples, seed=seed)

    columns: tuple[Column[RankingScore], ...] = (
        Column("questions", len),
        Column("failed", lambda held: sum(bool(score.failure) for score in held)),
        Column("ndcg", ndcg_of, f"nDCG@{k}", str),
        Column("map", mean_of(lambda score: score.average_precision), f"MAP@{k}"),
        Column("mrr", mean_of(lambda score: score.reciprocal_rank), f"MRR@{k}"),
        Column("gain", gain_of, "over BM25", lambda test: f"{100 * test.difference:+.1f}"),
        Column("variance", mean_of(lambda score: score.variance), "variance", "{:.2f}".format),
        Column("seconds", mean_of(lambda score: score.seconds), "seconds", "{:.2f}".format),
    )
    caption = (
        "shares in percent; in brackets the 95% interval (bootstrap over questions); BM25: of the question's own words;"
        f" variance: of the places of the first {k} over {seeds} seeds; relevant: all passages on gold pages"
    )
    questions = len({score.id for score in scores})
    title = f"Ranking in the right filing: {questions} questions, the first {k}"
    report = report_on(scores, title, caption, columns, {"ranking": lambda score: score.ranking})
    if k != _PUBLISHED_K:
        return report
    nothing = dict.fromkeys((column.name for column in columns), None)
    return replace(report, groups=(*report.groups, Group(*_PUBLISHED[:2], {**nothing, **_PUBLISHED[2]})))


_PUBLISHED_K = 10
_PUBLISHED = (
    "published",
    "FinCards, other questions",
    {"ndcg": Estimate(0.7158, None, None), "map": 0.7869, "mrr": 0.8917},
)
"""FinCards on FinAgentBench: its questions and passages are not these, so that only the size compares."""
