"""Ranking of the passages of the right filing, stage by stage (FinCards, Section 5)."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean, pvariance
from typing import Any

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.card_ranking import RulesJudge
from fin_agent.errors import QuestionError
from fin_agent.evaluation.benchmark import PartialResults, Report, Row, Way, estimate_of, failure_of, report_of
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.evaluation.statistics import PairedTest, paired_test
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.tournament.tournament import (
    Brief,
    CardKey,
    Judge,
    Stage,
    TournamentResult,
    TournamentSettings,
    Verdict,
    run_tournament,
)
from fin_agent.index.protocol import FilingIndex, PageKey, StoredPassage
from fin_agent.lexicon.words import load_yaml
from fin_agent.vocabulary.runs import grouped
from fin_agent.workspace import Workspace

BASELINE = "BM25"
FULL = "stages 1+2+3"
_STAGES: Mapping[str, Stage] = {"stage 1": Stage.WORDS, "stages 1+2": Stage.GROUPS, FULL: Stage.ROUNDS}
ABLATIONS: Mapping[str, Mapping[str, object]] = load_yaml("ablations", __package__)
"""Name of an ablation -> the settings that differ (FinCards, Tables 1 to 3)."""


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """What is measured."""

    k: int = 10
    ablations: bool = False
    seeds: int = 5
    """Tournaments per figure, with seeds from `settings.seed` on; figures of rankings are means over them."""
    settings: TournamentSettings = field(default_factory=TournamentSettings)
    judge: Judge | None = None
    """Ranks the cards; None for the rules, which also replace it if it fails."""
    waver: float = 0.0
    """Standard deviation of noise on the scores of the rules, as a share of their range."""
    debug: bool = False
    """Whether an unexpected error is raised."""
    first_page: int = 0
    """Index of the first page that is ranked: 1 leaves out a cover that a benchmark's texts were given."""

    def variants(self) -> dict[str, TournamentSettings]:
        """Return name -> settings of each tournament, the full one first."""
        chosen = {FULL: {}, **(ABLATIONS if self.ablations else {})}
        given = self.settings.model_dump()
        return {name: TournamentSettings.model_validate({**given, **change}) for name, change in chosen.items()}


def measure_rankings(
    questions: Sequence[FinanceBenchQuestion],
    workspace: Workspace,
    analyst: RulesAnalyst,
    measuring: RankingSettings,
    on_question: Callable[[Row], None] = lambda row: None,
    partial_results: PartialResults[list[Row]] | None = None,
) -> tuple[list[Row], list[str]]:
    """Return the scores of all rankings of all questions, and the ids of questions that were left out.

    A question is left out if a filing of its gold pages is not in the index, or no passage is on them. A question that
    fails counts as nothing found. `on_question` is called with the first row of each question; `partial_results` has
    the scores of an unfinished run. Raises QuestionError if no question is left.
    """
    kept = partial_results or PartialResults(None, "", list[Row])
    known = workspace.directory.owners.keys()
    scores: list[Row] = []
    left_out: list[str] = []

    def rankings() -> Iterator[tuple[str, Callable[[], list[Row]]]]:
        for question in questions:
            in_index = known >= set(question.documents)
            outline = workspace.index.outline(question.documents) if in_index else []
            passages = workspace.index.passages([page.key for page in outline if page.key.page >= measuring.first_page])
            if relevant := _grades(question, passages):
                yield question.id, partial(_ranked, question, passages, relevant, workspace, analyst, measuring)
            else:
                left_out.append(question.id)

    for found in kept.results(rankings(), keeps=lambda rows: not rows[0].figures["failure"]):
        scores += found
        on_question(found[0])
    if not scores:
        raise QuestionError(
            "no question can be measured: none of their filings is in the index",
            subject=f"{len(questions)} questions",
            remedy="Ingest the filings that the questions are about",
        )
    return scores, left_out


def _ranked(
    question: FinanceBenchQuestion,
    passages: Sequence[StoredPassage],
    relevant: Mapping[CardKey, int],
    workspace: Workspace,
    analyst: RulesAnalyst,
    measuring: RankingSettings,
) -> list[Row]:
    """Return the row of each ranking of one question's filing; all are empty if ranking fails."""
    variants, failure = measuring.variants(), ""
    baseline: Sequence[CardKey] = ()
    held: dict[str, list[TournamentResult]] = {}
    seconds: dict[str, float] = {}
    try:
        intent = analyst.intent(question.question)
        plan = analyst.plan(intent)
        brief = Brief(intent, plan, analyst.query(intent, plan, None), workspace.directory.owners)
        baseline = _rank_by_bm25(brief.query.terms, passages, workspace.index)
        for name, settings in variants.items():
            started = time.perf_counter()
            held[name] = _tournaments(brief, passages, workspace, measuring, settings)
            seconds[name] = (time.perf_counter() - started) / measuring.seeds
    except Exception as error:  # one question that cannot be ranked does not end the measurement
        failure = failure_of(error, debug=measuring.debug)
        baseline, held, seconds = (), {}, {}
    rows = []
    for name in dict.fromkeys((BASELINE, *_STAGES, *variants)):
        results = held.get(FULL if name in _STAGES else name, [])
        orders: list[Sequence[CardKey]] = [each.orders[_STAGES.get(name, Stage.ROUNDS)] for each in results]
        orders = [baseline] if name == BASELINE else orders or [()]
        figures = _figures(relevant, orders, held.get(name, []), measuring.k)
        figures |= {"seconds": seconds.get(name), "failure": failure}
        labels = {"ranking": name, "doc_id": question.doc_id, "question_type": question.question_type}
        rows.append(Row(question.id, labels, question.question, figures=figures))
    return rows


def _tournaments(
    brief: Brief,
    passages: Sequence[StoredPassage],
    workspace: Workspace,
    measuring: RankingSettings,
    settings: TournamentSettings,
) -> list[TournamentResult]:
    """Run the tournament with each seed."""
    rules = RulesJudge(workspace)
    return [
        run_tournament(
            brief,
            passages,
            workspace.index,
            workspace.lexicon,
            measuring.judge or (NoisyJudge(rules, measuring.waver, seed) if measuring.waver else rules),
            fallback=rules if measuring.judge else None,
            settings=settings.model_copy(update={"seed": seed}),
        )
        for seed in range(settings.seed, settings.seed + measuring.seeds)
    ]


@dataclass(frozen=True, slots=True)
class NoisyJudge:
    """A judge with noise on its scores, drawn by the list and its order.

    Without noise, rules give the same verdicts in every round, so that rounds and their aggregation have no effect;
    with it they do (FinCards, Table 3).
    """

    judge: Judge
    noise: float
    """Standard deviation, as a share of the range of a list's scores."""
    seed: int = 0

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        """See Judge.rank. Raises ValueError if the judge gives no scores."""
        verdicts = self.judge.rank(brief, cards)
        scores = [verdict.score for verdict in verdicts if verdict.score is not None]
        if len(scores) != len(cards):
            raise ValueError("noise needs a judge that scores each card")
        drawn = random.Random(f"{self.seed} {[(card.identity.doc_id, card.identity.ordinal) for card in cards]}")
        deviation = self.noise * (max(scores, default=0.0) - min(scores, default=0.0))
        noisy = [score + drawn.gauss(0, deviation) for score in scores]
        order = sorted(range(len(noisy)), key=lambda place: -noisy[place])
        return [replace(verdicts[place], score=noisy[place]) for place in order]


def _rank_by_bm25(terms: Sequence[str], passages: Sequence[StoredPassage], index: FilingIndex) -> list[CardKey]:
    """Rank passages by BM25 of `terms` alone: the baseline of a tournament."""
    keys = dict.fromkeys((stored.doc_id, stored.passage.ordinal) for stored in passages)
    doc_ids = {doc_id for doc_id, _ in keys}
    limit = sum(index.filing(doc_id).passage_count for doc_id in doc_ids)
    hits = index.search_passages(terms, doc_ids=doc_ids, limit=limit) if terms else ()
    found = [key for hit in hits if (key := (hit.doc_id, hit.ordinal)) in keys]
    return list(dict.fromkeys([*found, *keys]))


def _grades(question: FinanceBenchQuestion, passages: Iterable[StoredPassage]) -> dict[CardKey, int]:
    """Return the grades of passages on gold pages: 2 if one has most words of a gold text, else 1."""
    gold = {PageKey(*page) for page in (*question.pages, *question.also)}
    texts = [words for _, text in question.texts if (words := set(text.lower().split()))]
    found = {}
    for stored in (each for each in passages if each.key in gold):
        held = set(stored.passage.text.lower().split())
        holds = any(len(words & held) >= _MOST_OF_A_TEXT * len(words) for words in texts)
        found[stored.doc_id, stored.passage.ordinal] = 2 if holds else 1
    return found


_MOST_OF_A_TEXT = 0.6


def _figures(
    relevant: Mapping[CardKey, int], orders: Sequence[Sequence[CardKey]], held: Sequence[TournamentResult], k: int
) -> dict[str, Any]:
    """Return the figures of one ranking: one order per seed, and the tournaments `held` unless it is part of one.

    In `graded` a passage with a gold text has grade 2, any other on a gold page grade 1. The variances are of
    finalists' places, as shares of their list: over the rounds of one tournament, and over different seeds, which
    a single round has as well (FinCards, Table 3). `lost` is the stage after which nothing relevant was left (FinCards,
    Appendix C).
    """
    gold = relevant.keys()
    return {
        "relevant": len(relevant),
        "ndcg": fmean(ndcg(order, gold, k) for order in orders),
        "graded": fmean(ndcg(order, relevant, k) for order in orders),
        "map": fmean(average_precision(order, gold, k) for order in orders),
        "mrr": fmean(reciprocal_rank(order, gold, k) for order in orders),
        "round_variance": fmean(map(round_variance, held)) if held else None,
        "seed_variance": seed_variance(held) if len(held) > 1 else None,
        "lost": _lost(held[0], relevant, k) if held else "",
    }


def ndcg(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Return the normalised discounted cumulative gain of the first `k` (Järvelin & Kekäläinen 2002, log base 2).

    Gains are 0 or 1, or 2^grade - 1 if `relevant` maps keys to grades. The ideal order has all of `relevant` first, by
    falling grade. Something is relevant.
    """
    gains = {key: 2 ** relevant[key] - 1 if isinstance(relevant, Mapping) else 1 for key in relevant}
    discounts = [1 / math.log2(place + 2) for place in range(k)]
    best = sorted(gains.values(), reverse=True)
    ideal = sum(gain * discount for gain, discount in zip(best, discounts, strict=False))
    return sum(gains.get(key, 0) * discount for key, discount in zip(ranked, discounts, strict=False)) / ideal


def average_precision(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Return the mean precision at the places of relevant items, 0 behind `k`; its mean over questions is MAP.

    Of more than `k` relevant items only `k` are counted.
    """
    places = [place for place, key in enumerate(ranked[:k], start=1) if key in relevant]
    return sum(found / place for found, place in enumerate(places, start=1)) / min(k, len(relevant))


def reciprocal_rank(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Return 1 / place of the first relevant item, 0 if none is among the first `k`; the mean over questions is MRR."""
    return next((1.0 / place for place, key in enumerate(ranked[:k], start=1) if key in relevant), 0.0)


def round_variance(result: TournamentResult) -> float:
    """Return the variance of a finalist's place over rounds, as a share of its list, averaged; 0 for one round."""
    orders = [group.ranked for group in result.groups if group.stage == "round"]
    places = grouped((key, at / max(1, len(order) - 1)) for order in orders for at, key in enumerate(order))
    return fmean(pvariance(held) for held in places.values()) if places else 0.0


def seed_variance(results: Sequence[TournamentResult]) -> float:
    """Return the variance of a finalist's place in the final order over tournaments, as a share of it, averaged.

    Only finalists of all tournaments count. It measures how far a ranking depends on the draw.
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


def report_on_rankings(scores: Sequence[Row], *, k: int, seeds: int, resamples: int, seed: int) -> Report:
    """Return means over the questions, by ranking."""
    baseline = [score.figures["ndcg"] for score in scores if score.labels["ranking"] == BASELINE]

    def gain(held: Sequence[Row], name: str) -> PairedTest | None:
        if held[0].labels["ranking"] == BASELINE or len(held) != len(baseline):
            return None
        return paired_test([score.figures["ndcg"] for score in held], baseline, resamples=resamples, seed=seed)

    ways: dict[str, Way] = {"estimate": partial(estimate_of, resamples=resamples, seed=seed), "gain": gain}
    questions = len({score.id for score in scores})
    return report_of("rankings", scores, ways, k=k, seeds=seeds, questions=questions)
