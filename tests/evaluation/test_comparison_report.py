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

from fin_agent.evaluation import Oracle
from fin_agent.evaluation.benchmark import write_csv
from fin_agent.evaluation.comparison import Comparison, Conditions
from fin_agent.evaluation.comparison_report import ComparisonReport, draw_comparison, report_on_comparison
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.presentation.plain import in_our_look
from tests.evaluation.comparisons import FORMS, GOOD, POOR, PUBLISHED, QUESTIONS, Scripted, compared


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compared(GOOD, POOR)


@pytest.fixture(scope="module")
def report(comparison: Comparison) -> ComparisonReport:
    return report_on_comparison(comparison, [("good", "poor")], resamples=200)


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
        good, poor = (group.figures for group in report.overall)
        assert good["page_recall_of_passages"].mean == pytest.approx(2 / 3)
        assert poor["page_recall_of_passages"].mean == pytest.approx(0.5 / 3)
        assert (good["failed"], poor["failed"]) == (0, 1)
        (novel,) = [group for group in report.groups if (group.name, group.strategy) == ("novel-generated", "good")]
        assert (novel.figures["questions"], novel.figures["page_recall_of_pages"].mean) == (1, 1.0)
        assert novel.figures["page_recall_of_pages"].low is None
        types = [group.name for group in report.groups if group.section == "filing type"]
        assert types == ["10-K", "10-Q", "10-K", "10-Q"]

    def test_a_pair_is_tested_on_page_recall(self, report: ComparisonReport) -> None:
        (pair,) = report.pairs
        assert pair.test.difference == pytest.approx(0.5)
        assert (pair.test.differing, pair.test.exact, pair.test.p_value, pair.corrected) == (2, True, 0.5, 0.5)

    def test_several_pairs_are_corrected_together(self, comparison: Comparison) -> None:
        pairs = report_on_comparison(comparison, [("good", "poor"), ("poor", "good")], resamples=200).pairs
        assert [pair.corrected for pair in pairs] == [1.0, 1.0]

    def test_same_seed_same_report_and_plain_json(self, comparison: Comparison, report: ComparisonReport) -> None:
        again = report_on_comparison(comparison, [("good", "poor")], resamples=200)
        assert again.as_json() == report.as_json()
        plain = json.loads(json.dumps(report.as_json()))
        assert plain["groups"][0]["page_recall_of_passages"]["mean"] == pytest.approx(2 / 3)
        assert plain["not_built"][0]["strategy"] == "unknown"

    def test_nothing_but_failures_has_no_seconds(self) -> None:
        strategy = Scripted("broken", [("A_2023", 3)], fails="question 1?")
        conditions = Conditions(forms=FORMS)
        (failed, *_) = compared(strategy, conditions=conditions).scores
        report = report_on_comparison(Comparison(conditions, ("broken",), (failed,), ()), [], resamples=200)
        figures = report.overall[0].figures
        assert (figures["median_seconds"], figures["passages_per_answer"]) == (None, None)
        assert "broken" in printed(report.as_tables())

    def test_a_question_asked_twice_counts_twice(self) -> None:
        twice = compared(GOOD, questions=(*QUESTIONS, QUESTIONS[0]))
        assert report_on_comparison(twice, [], resamples=200).questions == 4


class TestTables:
    def test_figures_beside_the_published_ones(self) -> None:
        report = report_on_comparison(compared(GOOD, POOR, questions=PUBLISHED), [], resamples=200)
        shown = printed(report.as_tables()).splitlines()
        good, *_ = (line.split() for line in shown if line.startswith("good"))
        assert "66.7" in good
        published, *_ = (line.split() for line in shown if "published" in line)
        assert {"95.0", "55.0"} <= set(published)

    def test_other_questions_have_no_published_figures(self, report: ComparisonReport) -> None:
        assert "published" not in printed(report.as_tables())
        mixed = compared(GOOD, questions=(*PUBLISHED, QUESTIONS[0]))
        assert "published" not in printed(report_on_comparison(mixed, [], resamples=200).as_tables())

    @pytest.mark.parametrize("width", [80, 100, 120])
    def test_names_are_whole_and_no_column_is_lost_at_any_width(self, width: int) -> None:
        names = ["query-expansion:page-then-chunk:bm25", "hhr:bm25"]
        long = [Scripted(name, [("A_2023", 3)]) for name in names]
        report = report_on_comparison(compared(*long, questions=PUBLISHED), [(names[0], names[1])], resamples=200)
        for table in report.as_tables():
            lines = printed([table], width).splitlines()
            assert max(map(len, lines)) <= width
            assert all(sum(name in line.split() for line in lines) == 1 for name in names)
            assert not any("…" in line for line in lines)
        shown = " ".join(printed(report.as_tables(), width).split())
        for heading in ("pages", "precision", "BLEU", "ROUGE-L", "read", "seconds", "p95"):
            assert heading in shown

    @pytest.mark.parametrize(
        ("conditions", "beside"),
        [(Conditions(), True), (Conditions(k=3), False), (Conditions(oracle=Oracle.PAGE), False)],
    )
    def test_published_figures_only_where_they_compare(self, conditions: Conditions, beside: bool) -> None:
        report = report_on_comparison(compared(GOOD, conditions=conditions, questions=PUBLISHED), [], resamples=200)
        assert ("published" in printed(report.as_tables())) is beside

    def test_the_right_filing_given_is_compared_with_the_same(self) -> None:
        conditions = Conditions(oracle=Oracle.DOCUMENT, forms=FORMS)
        given = compared(GOOD, conditions=conditions, questions=PUBLISHED)
        shown = printed(report_on_comparison(given, [], resamples=200).as_tables())
        assert "60.0" in shown
        assert "55.0" not in shown

    def test_types_and_pairs(self, report: ComparisonReport) -> None:
        shown = printed(report.as_tables()).splitlines()
        cells = [line.split()[1:] for line in shown if line.startswith("good")]
        assert cells[4:6] == [["50.0", "100.0"], ["100.0", "0.0"]]
        assert any("+50.0" in line for line in shown)


class TestFiles:
    def test_a_line_per_strategy_and_group(self, report: ComparisonReport, tmp_path: Path) -> None:
        write_csv([group.as_json() for group in report.groups], tmp_path / "summary.csv")
        lines = lines_of(tmp_path / "summary.csv")
        assert len(lines) == 2 * (1 + 2 + 2)
        assert (lines[0]["strategy"], lines[0]["group"]) == ("good", "overall")
        low, mean, high = (float(lines[0][f"page_recall_of_passages_{end}"]) for end in ("low", "mean", "high"))
        assert low <= mean <= high and mean == pytest.approx(2 / 3)

    def test_a_line_per_strategy_and_question(self, comparison: Comparison, tmp_path: Path) -> None:
        write_csv(comparison.scores, tmp_path / "rows.csv")
        lines = lines_of(tmp_path / "rows.csv")
        assert [(line["strategy"], line["id"]) for line in lines] == [
            (strategy, question) for strategy in ("good", "poor") for question in ("q1", "q2", "q3")
        ]
        assert lines[0]["gold_pages"] == "A_2023:3; A_2023:4"
        assert (lines[4]["failure"], lines[4]["seconds"]) == ("unexpected LookupError: no such vector", "")

    def test_rows_say_how_far_down_the_gold_pages_are(self, comparison: Comparison, tmp_path: Path) -> None:
        write_csv(comparison.scores, tmp_path / "rows.csv")
        lines = lines_of(tmp_path / "rows.csv")
        assert [line["gold_ranks"] for line in lines] == ["1; 3", "2", "6", "2; -", "-", "-"]
        assert lines[2]["pages"] == "A_2023:3; A_2023:9; A_2023:4; A_2023:5; B_2023:7; B_2023:1"

    @pytest.mark.parametrize("oracle", list(Oracle))
    @pytest.mark.parametrize("questions", [QUESTIONS, PUBLISHED], ids=["others", "published"])
    def test_the_picture_is_a_png(
        self, oracle: Oracle, questions: tuple[FinanceBenchQuestion, ...], tmp_path: Path
    ) -> None:
        pytest.importorskip("matplotlib", reason='needs `pip install ".[evaluation]"`')
        conditions = Conditions(oracle=oracle, forms=FORMS)
        report = report_on_comparison(
            compared(GOOD, POOR, conditions=conditions, questions=questions), [], resamples=200
        )
        draw_comparison(report, tmp_path / "a.png")
        content = (tmp_path / "a.png").read_bytes()
        assert content.startswith(b"\x89PNG")
        width, height = (int.from_bytes(content[start : start + 4], "big") for start in (16, 20))
        assert width > height > 100
