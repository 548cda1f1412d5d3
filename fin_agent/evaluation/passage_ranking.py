"""Ranking inside the right filing: how high its passages on gold pages come, stage by stage (FinCards, Section 5)."""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, pvariance

from fin_agent.analyst.protocol import Analyst
from fin_agent.analyst.rules.card_ranking import RulesJudge
from fin_agent.errors import FinAgentError, QuestionError
from fin_agent.evaluation.benchmark import Column, Report, Row, report_on
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.evaluation.statistics import Estimate, PairedTest, estimate, paired_test
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.tournament.judge import (
    Aggregation,
    Brief,
    CardDetail,
    CardKey,
    HiddenField,
    Judge,
    TournamentSettings,
    Verdict,
)
from fin_agent.evidence.tournament.tournament import Stage, TournamentResult, run_tournament
from fin_agent.index.protocol import FilingIndex, PageKey, StoredPassage
from fin_agent.workspace import Workspace

BASELINE = "BM25"
FULL = "stages 1+2+3"
_STAGES: Mapping[str, Stage] = {"stage 1": Stage.WORDS, "stages 1+2": Stage.GROUPS, FULL: Stage.ROUNDS}
SEEDS = 5
_ONE_LIST = {"list_fewest": 150, "list_most": 150}
ABLATIONS: Mapping[str, Mapping[str, object]] = {
    "zero-shot, raw text": {"screened": False, "rounds": 1, "shown": CardDetail.TEXT, "cards_only": True, **_ONE_LIST},
    "stages 1+3": {"screened": False},
    "cards only": {"cards_only": True},
    "only summary": {"shown": CardDetail.SKETCH, "cards_only": True},
    "raw text": {"shown": CardDetail.TEXT, "cards_only": True},
    "without time": {"hidden": frozenset({HiddenField.TIME})},
    "without metrics": {"hidden": frozenset({HiddenField.METRICS})},
    "without tables": {"hidden": frozenset({HiddenField.TABLES})},
    "without scope": {"hidden": frozenset({HiddenField.SCOPE})},
    "single round": {"rounds": 1},
    "fixed groups": {"shuffled": False},
    "one list": _ONE_LIST,
    "mean rank": {"aggregation": Aggregation.MEAN_RANK},
    "votes": {"aggregation": Aggregation.VOTES},
    "no early stop": {"early_stop": False},
}
"""Name of an ablation -> the settings that differ (FinCards, Tables 1 to 3)."""


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """What is measured."""

    k: int = 10
    ablations: bool = False
    seeds: int = SEEDS
    """Tournaments held for each figure, with seeds from `settings.seed` on; figures of rankings are means over them."""
    settings: TournamentSettings = field(default_factory=TournamentSettings)
    judge: Judge | None = None
    """Ranks the cards; the rules where none is given, and in its place where it fails."""
    waver: float = 0.0
    """How far the judge wavers: the share of its scores' range that noise deviates by. Needs a judge that scores."""
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


Told = Callable[[str, float, str], None]
"""(id of the question, seconds, failure or nothing)."""


def measure_rankings(
    questions: Sequence[FinanceBenchQuestion],
    workspace: Workspace,
    analyst: Analyst,
    measuring: RankingSettings,
    told: Told = lambda question_id, seconds, failure: None,
) -> tuple[list[Row], list[str]]:
    """The scores of all rankings of all questions, and the ids of questions left out.

    A question is left out where a filing of its gold pages is not in the index or no passage stands on them; one that
    fails has found nothing. Raises QuestionError where none is left.
    """
    known = workspace.directory.owners
    scores: list[Row] = []
    left_out: list[str] = []
    for question in questions:
        started = time.perf_counter()
        passages = _passages(question, workspace) if all(doc_id in known for doc_id in question.documents) else []
        relevant = _grades(question, passages)
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
            measured = {name: _Measured([()]) for name in measuring.names()}
        for name in measuring.names():
            scores.append(_score(name, question, relevant, measured[name], measuring.k, failure))
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
    seconds: float | None = None
    held: Sequence[TournamentResult] = ()


def _rankings(
    question: FinanceBenchQuestion,
    passages: Sequence[StoredPassage],
    workspace: Workspace,
    analyst: Analyst,
    measuring: RankingSettings,
) -> dict[str, _Measured]:
    intent = analyst.intent(question.question)
    plan = analyst.plan(intent)
    brief = Brief(intent, plan, analyst.query(intent, plan, None), workspace.directory.owners)
    rules = RulesJudge(workspace)
    found = {BASELINE: _Measured([_rank_by_bm25(brief.query.terms, passages, workspace.index)])}
    for name, settings in measuring.variants().items():
        held: list[TournamentResult] = []
        started = time.perf_counter()
        for seed in range(settings.seed, settings.seed + measuring.seeds):
            seeded = settings.model_copy(update={"seed": seed})
            judge = measuring.judge or rules
            judge = NoisyJudge(judge, measuring.waver, seed) if measuring.waver else judge
            held.append(
                run_tournament(
                    brief,
                    passages,
                    workspace.index,
                    workspace.lexicon,
                    judge,
                    stand_in=rules if measuring.judge else None,
                    settings=seeded,
                )
            )
        seconds = (time.perf_counter() - started) / measuring.seeds
        if name == FULL:
            found |= {of: _Measured([each.orders[stage] for each in held]) for of, stage in _STAGES.items()}
        found[name] = _Measured([each.orders[Stage.ROUNDS] for each in held], seconds, held)
    return found


class NoisyJudge:
    """Another judge whose scores are off by noise: a list shuffled anew is another occasion, and gets another verdict.

    The same list in the same order always gets the same. Rules do not waver, so that rounds and their aggregation have
    nothing to settle; with this one they have (FinCards, Table 3).
    """

    def __init__(self, judge: Judge, noise: float, seed: int = 0) -> None:
        """`noise` is the standard deviation, as a share of the range of a list's scores."""
        self._judge = judge
        self._noise = noise
        self._seed = seed

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        """See Judge.rank. Raises ValueError where the judge gives no scores."""
        said = self._judge.rank(brief, cards)
        scores = [verdict.score for verdict in said if verdict.score is not None]
        if len(scores) != len(cards):
            raise ValueError("only a judge that scores each card can be made to waver")
        listed = ((card.identity.doc_id, card.identity.ordinal) for card in cards)
        drawn = random.Random(f"{self._seed} {list(listed)}")
        deviation = self._noise * (max(scores) - min(scores)) if scores else 0.0
        off = [replace(verdict, score=score + drawn.gauss(0, deviation))
               for verdict, score in zip(said, scores, strict=True)]  # fmt: skip
        return sorted(off, key=lambda verdict: -(verdict.score or 0.0))


def _rank_by_bm25(terms: Sequence[str], passages: Sequence[StoredPassage], index: FilingIndex) -> list[CardKey]:
    """Rank passages by BM25 of `terms` alone: the baseline of a tournament."""
    keys = dict.fromkeys((stored.doc_id, stored.passage.ordinal) for stored in passages)
    doc_ids = {doc_id for doc_id, _ in keys}
    limit = sum(index.filing(doc_id).passage_count for doc_id in doc_ids)
    hits = index.search_passages(terms, doc_ids=doc_ids, limit=limit) if terms else ()
    found = [key for hit in hits if (key := (hit.doc_id, hit.ordinal)) in keys]
    return list(dict.fromkeys([*found, *keys]))


def _passages(question: FinanceBenchQuestion, workspace: Workspace) -> list[StoredPassage]:
    outline = workspace.index.outline(question.documents)
    return workspace.index.passages([page.key for page in outline])


def _grades(question: FinanceBenchQuestion, passages: Iterable[StoredPassage]) -> dict[CardKey, int]:
    """The passages on gold pages: 2 where one holds most of the words of a gold text, else 1."""
    gold = frozenset(PageKey(*page) for page in (*question.pages, *question.also))
    texts = [words for _, text in question.texts if (words := set(text.lower().split()))]
    found = {}
    for stored in passages:
        if stored.key in gold:
            held = set(stored.passage.text.lower().split())
            holds = any(len(words & held) >= _MOST_OF_A_TEXT * len(words) for words in texts)
            found[stored.doc_id, stored.passage.ordinal] = 2 if holds else 1
    return found


_MOST_OF_A_TEXT = 0.6


def _score(
    name: str,
    question: FinanceBenchQuestion,
    relevant: Mapping[CardKey, int],
    measured: _Measured,
    k: int,
    failure: str,
) -> Row:
    """One ranking of one question's filing.

    In `graded` a passage that holds a gold text has grade 2, any other on a gold page grade 1. `round_variance` is of
    the places of finalists over the rounds of one tournament, as shares of their list, `seed_variance` of their places
    in the final order over tournaments with other seeds, which a single round has as well (FinCards, Table 3); `lost`
    says by which stage nothing relevant was left among those who went on (FinCards, Appendix C). Seconds are of one
    tournament, None for what is a part of another.
    """
    orders, held, gold = measured.orders, measured.held, relevant.keys()
    figures = {
        "relevant": len(relevant),
        "ndcg": fmean(ndcg(order, gold, k) for order in orders),
        "graded": fmean(ndcg(order, relevant, k) for order in orders),
        "map": fmean(average_precision(order, gold, k) for order in orders),
        "mrr": fmean(reciprocal_rank(order, gold, k) for order in orders),
        "round_variance": fmean(map(round_variance, held)) if held else None,
        "seed_variance": seed_variance(held) if len(held) > 1 else None,
        "lost": _lost(held[0], relevant, k) if held else "",
        "seconds": measured.seconds,
        "failure": failure,
    }
    labels = {"ranking": name, "doc_id": question.doc_id, "question_type": question.question_type}
    return Row(question.id, labels, question.question, figures=figures)


def ndcg(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Normalised discounted cumulative gain of the first `k` (Järvelin & Kekäläinen 2002, log base 2).

    Gains are 0 or 1, or 2^grade - 1 where `relevant` is a mapping of grades. The ideal puts all of `relevant` first,
    the highest grades before the others. Raises ValueError where nothing is relevant.
    """
    _wanted(relevant)
    gains = {key: 2 ** relevant[key] - 1 if isinstance(relevant, Mapping) else 1 for key in relevant}
    ideal = sum(gain * _discount(place) for place, gain in enumerate(sorted(gains.values(), reverse=True)[:k]))
    return sum(gains.get(key, 0) * _discount(place) for place, key in enumerate(ranked[:k])) / ideal


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


def round_variance(result: TournamentResult) -> float:
    """Variance over rounds of a finalist's place, as a share of its list, mean over finalists; 0 for one round."""
    places: dict[CardKey, list[float]] = {}
    for group in result.groups:
        if group.stage == "round":
            for place, key in enumerate(group.ranked):
                places.setdefault(key, []).append(place / max(1, len(group.ranked) - 1))
    return fmean(pvariance(held) for held in places.values()) if places else 0.0


def seed_variance(results: Sequence[TournamentResult]) -> float:
    """Variance over tournaments of a finalist's place in the final order, as a share of it, mean over finalists.

    Of those who are finalists of all: how far a ranking depends on the draw, however many rounds it has.
    """
    finalists = [{card.key for card in result.ranked if card.stage is Stage.ROUNDS} for result in results]
    always = set.intersection(*finalists)
    orders = [[key for key in result.orders[Stage.ROUNDS] if key in always] for result in results]
    places = [{key: place / max(1, len(always) - 1) for place, key in enumerate(order)} for order in orders]
    return fmean(pvariance([of[key] for of in places]) for key in sorted(always)) if always else 0.0


def _lost(result: TournamentResult, relevant: Collection[CardKey], k: int) -> str:
    if not set(result.orders[Stage.ROUNDS][:k]).isdisjoint(relevant):
        return ""
    stages = {card.stage for card in result.ranked if card.key in relevant}
    if Stage.ROUNDS in stages:
        return "ranked behind the first"
    return "not among the finalists" if Stage.GROUPS in stages else "not let in by its words"


def _discount(place: int) -> float:
    """Of a place counted from 0."""
    return 1.0 / math.log2(place + 2)


def _wanted(relevant: Collection[Hashable]) -> int:
    count = len(set(relevant))
    if not count:
        raise ValueError("a ranking can only be measured where something is relevant")
    return count


def report_on_rankings(scores: Sequence[Row], *, k: int, seeds: int, resamples: int, seed: int) -> Report:
    """Means over the questions, rankings in the order they come. Raises ValueError without scores."""
    baseline = [score.figures["ndcg"] for score in scores if score.labels["ranking"] == BASELINE]

    def ndcg_of(held: Sequence[Row]) -> Estimate | None:
        return estimate([score.figures["ndcg"] for score in held], resamples=resamples, seed=seed)

    def gain_of(held: Sequence[Row]) -> PairedTest | None:
        if held[0].labels["ranking"] == BASELINE or len(held) != len(baseline):
            return None
        return paired_test([score.figures["ndcg"] for score in held], baseline, resamples=resamples, seed=seed)

    columns = (
        Column("questions", of=len),
        Column("failed", of=lambda held: sum(bool(score.figures["failure"]) for score in held)),
        Column("ndcg", f"nDCG@{k}", ndcg_of, str),
        Column("graded", "graded"),
        Column("map", f"MAP@{k}"),
        Column("mrr", f"MRR@{k}"),
        Column("gain", "over BM25", gain_of, lambda test: f"{100 * test.difference.mean:+.1f}"),
        Column("round_variance", "rounds", shown="{:.4f}".format),
        Column("seed_variance", "seeds", shown="{:.4f}".format),
        Column("lost", of=lambda held: dict(Counter(lost for score in held if (lost := score.figures["lost"])))),
        Column("seconds", "seconds", shown="{:.2f}".format),
    )
    caption = (
        "shares in percent; in brackets the 95% interval (bootstrap over questions); BM25: of the question's own words;"
        f" means over {seeds} seeds; rounds, seeds: variance of finalists' places over the rounds and over"
        " the seeds, as shares of their lists; relevant: all passages on gold pages, graded: 2 where one holds"
        " the gold text"
    )
    questions = len({score.id for score in scores})
    title = f"Ranking in the right filing: {questions} questions, the first {k}"
    return report_on(scores, title, caption, columns, ["ranking"], overall=False)
