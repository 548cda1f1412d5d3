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
from fin_agent.evaluation.benchmark import Report, write_csv
from fin_agent.evaluation.comparison import Comparison, Conditions, report_on_comparison
from fin_agent.presentation.terminal_text import style_table
from tests.evaluation.comparisons import FORMS, GOOD, POOR, QUESTIONS, Scripted, compared


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compared(GOOD, POOR)


@pytest.fixture(scope="module")
def report(comparison: Comparison) -> Report:
    return report_on_comparison(comparison, [("good", "poor")], resamples=200)


def printed(tables: Sequence[Table], width: int = 100) -> str:
    console = Console(width=width)
    with console.capture() as captured:
        for table in tables:
            console.print(style_table(table))
    return captured.get()


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class TestReport:
    def test_means_over_all_and_over_groups(self, report: Report) -> None:
        good, poor = (group for group in report.groups if group["section"] == "overall")
        assert good["page_recall_of_passages"].mean == pytest.approx(2 / 3)
        assert poor["page_recall_of_passages"].mean == pytest.approx(0.5 / 3)
        assert (good["failed"], poor["failed"]) == (0, 1)
        (novel,) = [
            group for group in report.groups if (group["group"], group["strategy"]) == ("novel-generated", "good")
        ]
        assert (novel["questions"], novel["page_recall_of_pages"].mean) == (1, 1.0)
        assert novel["page_recall_of_pages"].low is None
        types = [group["group"] for group in report.groups if group["section"] == "filing type"]
        assert types == ["10-K", "10-Q", "10-K", "10-Q"]

    def test_a_pair_is_tested_on_page_recall(self, report: Report) -> None:
        (pair,) = report.told["pairs"]
        assert pair["difference"]["mean"] == pytest.approx(0.5)
        assert [pair[name] for name in ("differing", "exact", "p_value", "p_value_holm")] == [2, True, 0.5, 0.5]

    def test_several_pairs_are_corrected_together(self, comparison: Comparison) -> None:
        pairs = report_on_comparison(comparison, [("good", "poor"), ("poor", "good")], resamples=200).told["pairs"]
        assert [pair["p_value_holm"] for pair in pairs] == [1.0, 1.0]

    def test_same_seed_same_report_and_plain_json(self, comparison: Comparison, report: Report) -> None:
        again = report_on_comparison(comparison, [("good", "poor")], resamples=200)
        assert again.as_json() == report.as_json()
        plain = json.loads(json.dumps(report.as_json()))
        assert plain["groups"][0]["page_recall_of_passages"]["mean"] == pytest.approx(2 / 3)
        assert plain["not_built"][0]["strategy"] == "unknown"

    def test_nothing_but_failures_has_no_seconds(self) -> None:
        strategy = Scripted("broken", [("A_2023", 3)], fails="question 1?")
        conditions = Conditions(forms=FORMS)
        (failed, *_) = compared(strategy, conditions=conditions).scores
        report = report_on_comparison(Comparison(conditions, ("broken",), (failed,), {}), [], resamples=200)
        figures = report.groups[0]
        assert (figures["median_seconds"], figures["passages_per_answer"]) == (None, None)
        assert "broken" in printed(report.as_tables())

    def test_a_question_asked_twice_counts_twice(self) -> None:
        twice = compared(GOOD, questions=(*QUESTIONS, QUESTIONS[0]))
        assert report_on_comparison(twice, [], resamples=200).told["questions"] == 4


class TestTables:
    def test_what_is_given_is_said(self) -> None:
        for oracle, said in ((Oracle.NONE, ""), (Oracle.DOCUMENT, ", right document given")):
            given = compared(GOOD, conditions=Conditions(oracle=oracle, forms=FORMS))
            shown = printed(report_on_comparison(given, [], resamples=200).as_tables()).splitlines()
            assert shown[0].strip() == f"3 questions, the first 5{said}"
            assert any(line.startswith("good") and "66.7" in line for line in shown)

    @pytest.mark.parametrize("width", [80, 100, 120])
    def test_names_are_whole_and_no_column_is_lost_at_any_width(self, width: int) -> None:
        names = ["query-expansion:page-then-chunk:bm25", "hhr:bm25"]
        long = [Scripted(name, [("A_2023", 3)]) for name in names]
        report = report_on_comparison(compared(*long), [(names[0], names[1])], resamples=200)
        for table in report.as_tables():
            lines = printed([table], width).splitlines()
            assert max(map(len, lines)) <= width
            assert all(sum(name in line.split() for line in lines) == 1 for name in names)
            assert not any("…" in line for line in lines)
        shown = " ".join(printed(report.as_tables(), width).split())
        for heading in ("pages", "precision", "BLEU", "ROUGE-L", "read", "seconds", "p95"):
            assert heading in shown

    def test_pairs(self, report: Report) -> None:
        assert any("+50.0" in line for line in printed(report.as_tables()).splitlines())


class TestFiles:
    def test_a_line_per_strategy_and_group(self, report: Report, tmp_path: Path) -> None:
        write_csv(report.as_json()["groups"], tmp_path / "summary.csv")
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
