"""Rankings measured inside the right filing, over the sample filings."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.errors import QuestionError
from fin_agent.evaluation.benchmark import Row, write_csv
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.evaluation.passage_ranking import (
    ABLATIONS,
    BASELINE,
    FULL,
    RankingSettings,
    measure_rankings,
    report_on_rankings,
)
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.tournament.tournament import Brief, TournamentSettings, Verdict
from fin_agent.workspace import Workspace

FILINGS = ("harborlight_2023_10k", "tellurond_2023_10k", "quillmark_2023_10k")
"""In the order of `expected.json`."""
SETTINGS = TournamentSettings(fewest=10, most=40, group_size=8)


@pytest.fixture(scope="module")
def questions(sample_filings: Path) -> list[FinanceBenchQuestion]:
    """One lookup for each filing, and for one filing that is not there."""
    filings = json.loads((sample_filings / "expected.json").read_text(encoding="utf-8"))
    asked = [
        question(filing["doc_id"], filing["company"], figure["label"], figure["page"])
        for filing in filings
        if filing["doc_id"] in FILINGS
        for figure in filing["figures"]
        if figure["metric"] == "revenue" and figure["statement"] == "income"
    ]
    return [*asked, question("nowhere_2023_10k", "Nowhere", "Net sales", 3)]


def question(doc_id: str, company: str, label: str, page: int) -> FinanceBenchQuestion:
    return FinanceBenchQuestion(
        id=f"lookup-{doc_id}",
        company=company,
        doc_id=doc_id,
        question_type="lookup",
        reasoning="",
        question=f"What was the {label} of {company} for FY2023?",
        answer="",
        pages=((doc_id, page),),
    )


@pytest.fixture(scope="module")
def measured(questions: list[FinanceBenchQuestion], workspace: Workspace) -> tuple[list[Row], list[str]]:
    measuring = RankingSettings(seeds=2, ablations=True, settings=SETTINGS)
    return measure_rankings(questions, workspace, RulesAnalyst(workspace), measuring)


def test_every_ranking_of_every_question_is_scored_and_absent_filings_are_left_out(
    measured: tuple[list[Row], list[str]],
) -> None:
    scores, left_out = measured
    assert left_out == ["lookup-nowhere_2023_10k"]
    names = (BASELINE, "stage 1", "stages 1+2", FULL, *ABLATIONS)
    assert [(score.labels["ranking"], score.labels["doc_id"]) for score in scores] == [
        (name, doc_id) for doc_id in FILINGS for name in names
    ]
    assert not any(score.figures["failure"] for score in scores)
    assert all(score.figures["relevant"] > 0 for score in scores)


def test_the_tournament_finds_the_statement_and_beats_words(measured: tuple[list[Row], list[str]]) -> None:
    by_ranking: dict[str, list[Row]] = {}
    for score in measured[0]:
        by_ranking.setdefault(score.labels["ranking"], []).append(score)
    assert all(score.figures["mrr"] == 1.0 for score in by_ranking[FULL])
    assert sum(score.figures["ndcg"] for score in by_ranking[FULL]) > sum(
        score.figures["ndcg"] for score in by_ranking[BASELINE]
    )


def test_what_is_lost_is_told_by_its_stage_and_rules_agree_over_the_rounds(
    measured: tuple[list[Row], list[str]],
) -> None:
    full = [score for score in measured[0] if score.labels["ranking"] == FULL]
    assert all(score.figures["lost"] == "" and score.figures["round_variance"] is not None for score in full)
    assert all(score.figures["ndcg"] <= 1 and score.figures["graded"] <= 1 for score in measured[0])
    assert all(score.figures["round_variance"] is None for score in measured[0] if score.labels["ranking"] == BASELINE)


def test_a_judge_that_wavers_ranks_otherwise_at_each_seed_and_the_same_at_the_same(
    questions: list[FinanceBenchQuestion], workspace: Workspace
) -> None:
    def scores(waver: float) -> list[Row]:
        measuring = RankingSettings(seeds=3, settings=SETTINGS, waver=waver)
        found = measure_rankings(questions, workspace, RulesAnalyst(workspace), measuring)[0]
        return [
            replace(score, figures={**score.figures, "seconds": None})
            for score in found
            if score.labels["ranking"] == FULL
        ]

    assert scores(0.5) == scores(0.5)
    steady, wavering = (sum(score.figures["round_variance"] for score in scores(waver)) for waver in (0.0, 0.5))
    assert wavering > steady


def test_a_single_round_has_a_variance_too_and_rounds_make_it_smaller(
    questions: list[FinanceBenchQuestion], workspace: Workspace
) -> None:
    def variances(rounds: int) -> tuple[float, float]:
        held = SETTINGS.model_copy(update={"rounds": rounds, "early_stop": False})
        measuring = RankingSettings(seeds=6, settings=held, waver=0.5)
        found = measure_rankings(questions, workspace, RulesAnalyst(workspace), measuring)[0]
        full = [score.figures for score in found if score.labels["ranking"] == FULL]
        return fmean(of["round_variance"] for of in full), fmean(of["seed_variance"] for of in full)

    of_one_round, of_eight_rounds = variances(1), variances(8)
    assert of_one_round[0] == 0 < of_eight_rounds[0], "of one round there is no variance over rounds"
    assert of_one_round[1] > of_eight_rounds[1] > 0


def test_of_one_seed_nothing_varies_over_seeds(questions: list[FinanceBenchQuestion], workspace: Workspace) -> None:
    found = measure_rankings(questions, workspace, RulesAnalyst(workspace), RankingSettings(seeds=1, settings=SETTINGS))
    assert {score.figures["seed_variance"] for score in found[0]} == {None}


def test_a_judge_of_ones_own_is_asked_and_the_rules_stand_in(
    questions: list[FinanceBenchQuestion], workspace: Workspace
) -> None:
    class Down:
        asked = 0

        def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
            self.asked += 1
            raise TimeoutError("no answer")

    judge, plain = Down(), RankingSettings(seeds=1, settings=SETTINGS)
    asked = measure_rankings(questions, workspace, RulesAnalyst(workspace), replace(plain, judge=judge))[0]
    by_rules = measure_rankings(questions, workspace, RulesAnalyst(workspace), plain)[0]
    assert judge.asked > 6
    assert [score.figures["mrr"] for score in asked if score.labels["ranking"] == FULL] == [
        score.figures["mrr"] for score in by_rules if score.labels["ranking"] == FULL
    ]


def test_a_report_has_a_line_per_ranking_with_its_gain(measured: tuple[list[Row], list[str]]) -> None:
    pytest.importorskip("scipy", reason='needs `pip install ".[evaluation]"`')
    report = report_on_rankings(measured[0], k=10, seeds=2, resamples=100, seed=0)
    full, baseline = report.of(FULL), report.of(BASELINE)
    assert baseline["gain"] is None
    assert full["gain"].difference.mean == pytest.approx(full["ndcg"].mean - baseline["ndcg"].mean)
    assert full["questions"] == 3
    groups = json.loads(json.dumps(report.as_json()))["groups"]
    assert (groups[0]["group"], groups[0]["section"]) == (BASELINE, "ranking")
    assert report.as_tables()[0].row_count == len(groups)


def test_the_file_has_a_line_per_ranking_and_question(measured: tuple[list[Row], list[str]], tmp_path: Path) -> None:
    write_csv(measured[0], tmp_path / "rankings.csv")
    with (tmp_path / "rankings.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(measured[0])
    assert lines[0]["ranking"] == BASELINE
    assert float(lines[3]["ndcg"]) == pytest.approx(measured[0][3].figures["ndcg"], abs=1e-6)


def test_a_question_that_fails_has_found_nothing_and_the_rest_goes_on(
    questions: list[FinanceBenchQuestion], workspace: Workspace
) -> None:
    class Stumbling(RulesAnalyst):
        def intent(self, question: str):  # type: ignore[no-untyped-def]
            if "Quillmark" in question:
                raise LookupError("no such word")
            return super().intent(question)

    told: list[tuple[str, str]] = []
    scores, _ = measure_rankings(
        questions,
        workspace,
        Stumbling(workspace),
        RankingSettings(seeds=1, settings=SETTINGS),
        lambda row: told.append((row.id, row.figures["failure"])),
    )
    failed = [score for score in scores if score.figures["failure"]]
    assert {score.labels["doc_id"] for score in failed} == {"quillmark_2023_10k"}
    assert {score.figures["ndcg"] for score in failed} == {0.0}
    assert len(scores) == 12
    assert [failure for _, failure in told] == ["", "", "unexpected LookupError: no such word"]


def test_no_question_about_an_indexed_filing_is_an_error(workspace: Workspace) -> None:
    absent = question("nowhere_2023_10k", "Nowhere", "Net sales", 3)
    with pytest.raises(QuestionError, match="no question can be measured"):
        measure_rankings([absent], workspace, RulesAnalyst(workspace), RankingSettings())
