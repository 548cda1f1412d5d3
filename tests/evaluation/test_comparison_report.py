"""A comparison's figures, tables and files agree with its scores."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

pytest.importorskip("scipy", reason='needs `pip install ".[evaluation]"`')

from fin_agent.evaluation.comparing import Comparison, Conditions, Measure
from fin_agent.evaluation.comparison_files import write_groups, write_misses, write_scores
from fin_agent.evaluation.comparison_plot import draw_comparison
from fin_agent.evaluation.comparison_report import ComparisonReport, Kind, report_on
from fin_agent.evaluation.comparison_tables import groups_tables, overall_tables, pairs_tables
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.evaluation.oracle import Oracle
from fin_agent.presentation.plain import in_our_look
from tests.evaluation.comparisons import FORMS, GOOD, POOR, PUBLISHED, QUESTIONS, Scripted, compared


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compared(GOOD, POOR)


@pytest.fixture(scope="module")
def report(comparison: Comparison) -> ComparisonReport:
    return report_on(comparison, [("good", "poor")], resamples=200)


def printed(tables: Sequence[Table], width: int = 100) -> str:
    console = Console(width=width)
    with console.capture() as captured:
        for table in tables:
            console.print(in_our_look(table))
    return captured.get()


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class TestReport:
    def test_means_over_all_and_over_groups(self, report: ComparisonReport) -> None:
        good, poor = report.overall
        assert good.of(Measure.PAGE_RECALL_OF_PASSAGES).mean == pytest.approx(2 / 3)
        assert poor.of(Measure.PAGE_RECALL_OF_PASSAGES).mean == pytest.approx(0.5 / 3)
        assert (good.failed, poor.failed) == (0, 1)
        (novel,) = [group for group in report.groups if (group.group, group.strategy) == ("novel-generated", "good")]
        assert (novel.questions, novel.of(Measure.PAGE_RECALL_OF_PAGES).mean) == (1, 1.0)
        assert novel.of(Measure.PAGE_RECALL_OF_PAGES).interval is None
        assert [name for name, _ in report.by(Kind.FILING_TYPE)] == ["10-K", "10-Q"]

    def test_a_pair_is_tested_on_page_recall(self, report: ComparisonReport) -> None:
        (pair,) = report.pairs
        assert pair.test.difference == pytest.approx(0.5)
        assert (pair.test.differing, pair.test.exact, pair.test.p_value, pair.corrected) == (2, True, 0.5, 0.5)

    def test_several_pairs_are_corrected_together(self, comparison: Comparison) -> None:
        pairs = report_on(comparison, [("good", "poor"), ("poor", "good")], resamples=200).pairs
        assert [pair.corrected for pair in pairs] == [1.0, 1.0]

    def test_same_seed_same_report_and_plain_json(self, comparison: Comparison, report: ComparisonReport) -> None:
        assert report_on(comparison, [("good", "poor")], resamples=200) == report
        plain = json.loads(json.dumps(report.as_json()))
        assert plain["groups"][0]["page_recall_of_passages"]["mean"] == pytest.approx(2 / 3)
        assert plain["not_built"][0]["strategy"] == "unknown"

    def test_nothing_but_failures_has_no_seconds(self) -> None:
        strategy = Scripted("broken", [("A_2023", 3)], fails="question 1?")
        conditions = Conditions(forms=FORMS)
        (failed, *_) = compared(strategy, conditions=conditions).scores
        report = report_on(Comparison(conditions, ("broken",), (failed,), ()), [], resamples=200)
        assert (report.overall[0].median_seconds, report.overall[0].passages_per_answer) == (None, None)
        assert "broken" in printed(overall_tables(report))

    def test_a_question_asked_twice_counts_twice(self) -> None:
        twice = compared(GOOD, questions=(*QUESTIONS, QUESTIONS[0]))
        assert report_on(twice, [], resamples=200).questions == 4


class TestTables:
    def test_figures_beside_the_published_ones(self) -> None:
        report = report_on(compared(GOOD, POOR, questions=PUBLISHED), [], resamples=200)
        shown = printed(overall_tables(report)).splitlines()
        (good,) = [line.split() for line in shown if "good" in line]
        assert "66.7" in good
        (published,) = [line.split() for line in shown if "published" in line]
        assert {"95.0", "55.0"} <= set(published)
        assert any(line.startswith("(Kobeissi & Langlais)") for line in shown)

    def test_other_questions_have_no_published_figures(self, report: ComparisonReport) -> None:
        assert "published" not in printed(overall_tables(report))
        mixed = compared(GOOD, questions=(*PUBLISHED, QUESTIONS[0]))
        assert "published" not in printed(overall_tables(report_on(mixed, [], resamples=200)))

    @pytest.mark.parametrize("width", [80, 100, 120])
    def test_names_are_whole_and_no_column_is_lost_at_any_width(self, width: int) -> None:
        long = [Scripted(name, [("A_2023", 3)]) for name in ("query-expansion:page-then-chunk:bm25", "hhr:bm25")]
        names = [strategy.name for strategy in long]
        report = report_on(compared(*long, questions=PUBLISHED), [(names[0], names[1])], resamples=200)
        for made in (overall_tables, groups_tables, pairs_tables):
            parts = [printed([table], width).splitlines() for table in made(report, width)]
            for lines in parts:
                assert max(map(len, lines)) <= width
                said = [word for line in lines for word in line.split()]
                assert all(said.count(name) == 1 for name in names)
                assert not any("…" in line for line in lines)
        shown = " ".join(printed(overall_tables(report, width), width).split())
        for heading in ("of pages", "precision", "BLEU", "ROUGE-L", "read", "seconds", "p95"):
            assert heading.split()[-1] in shown

    @pytest.mark.parametrize(
        ("conditions", "beside"),
        [(Conditions(), True), (Conditions(k=3), False), (Conditions(oracle=Oracle.PAGE), False)],
    )
    def test_published_figures_only_where_they_compare(self, conditions: Conditions, beside: bool) -> None:
        report = report_on(compared(GOOD, conditions=conditions, questions=PUBLISHED), [], resamples=200)
        assert ("published" in printed(overall_tables(report))) is beside

    def test_the_right_filing_given_is_compared_with_the_same(self) -> None:
        conditions = Conditions(oracle=Oracle.DOCUMENT, forms=FORMS)
        given = compared(GOOD, conditions=conditions, questions=PUBLISHED)
        shown = printed(overall_tables(report_on(given, [], resamples=200)))
        assert "60.0" in shown
        assert "55.0" not in shown

    def test_types_and_pairs(self, report: ComparisonReport) -> None:
        (good,) = [line.split() for line in printed(groups_tables(report)).splitlines() if "good" in line]
        assert [cell for cell in good if cell[0].isdigit()] == ["50.0", "100.0", "100.0", "0.0"]
        assert "+50.0" in printed(pairs_tables(report))


class TestFiles:
    def test_a_line_per_strategy_and_group(self, report: ComparisonReport, tmp_path: Path) -> None:
        write_groups(report, tmp_path / "summary.csv")
        lines = lines_of(tmp_path / "summary.csv")
        assert len(lines) == 2 * (1 + 2 + 2)
        assert (lines[0]["strategy"], lines[0]["group"], lines[0]["page_recall_of_passages"]) == (
            "good",
            "overall",
            "0.666667",
        )
        assert (
            float(lines[0]["page_recall_of_passages_low"]) <= 2 / 3 <= float(lines[0]["page_recall_of_passages_high"])
        )

    def test_a_line_per_strategy_and_question(self, comparison: Comparison, tmp_path: Path) -> None:
        write_scores(comparison, tmp_path / "rows.csv")
        lines = lines_of(tmp_path / "rows.csv")
        assert [(line["strategy"], line["id"]) for line in lines] == [
            (strategy, question) for strategy in ("good", "poor") for question in ("q1", "q2", "q3")
        ]
        assert lines[0]["gold_pages"] == "A_2023:3; A_2023:4"
        assert (lines[4]["failure"], lines[4]["seconds"]) == ("unexpected LookupError: no such vector", "")

    def test_misses_say_how_far_down_the_page_is(self, comparison: Comparison, tmp_path: Path) -> None:
        write_misses(comparison.of("good"), tmp_path / "misses.csv")
        (miss,) = lines_of(tmp_path / "misses.csv")
        assert (miss["id"], miss["gold_pages"], miss["gold_in_first_20"], miss["gold_ranks"]) == (
            "q3",
            "B_2023:1",
            "all",
            "6",
        )
        assert miss["first_pages"] == "A_2023:3; A_2023:9; A_2023:4; A_2023:5; B_2023:7"
        write_misses(comparison.of("poor"), tmp_path / "misses.csv")
        found = [
            (miss["id"], miss["gold_in_first_20"], miss["gold_ranks"]) for miss in lines_of(tmp_path / "misses.csv")
        ]
        assert found == [("q1", "some", "2; -"), ("q2", "none", "-"), ("q3", "none", "-")]

    @pytest.mark.parametrize("oracle", list(Oracle))
    @pytest.mark.parametrize("questions", [QUESTIONS, PUBLISHED], ids=["others", "published"])
    def test_the_picture_is_a_png(
        self, oracle: Oracle, questions: tuple[FinanceBenchQuestion, ...], tmp_path: Path
    ) -> None:
        pytest.importorskip("matplotlib", reason='needs `pip install ".[evaluation]"`')
        conditions = Conditions(oracle=oracle, forms=FORMS)
        report = report_on(compared(GOOD, POOR, conditions=conditions, questions=questions), [], resamples=200)
        draw_comparison(report, tmp_path / "a.png")
        content = (tmp_path / "a.png").read_bytes()
        assert content.startswith(b"\x89PNG")
        width, height = (int.from_bytes(content[start : start + 4], "big") for start in (16, 20))
        assert width > height > 100
