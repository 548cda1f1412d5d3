"""`search`: what it warns of, and what `--explain` says was searched for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Ran

OTHER_LANGUAGE = "a question in English: other languages are not supported"
DEVELOPED = "How did Tellurond revenue develop in FY2023?"


def warned(question: str, index: Path, *options: object) -> list[str]:
    """The warnings, without what they begin with."""
    ran = Ran("search", question, "--index", index, "-k", 2, *options)
    assert ran.code == 0
    return [line.removeprefix("warning: ") for line in ran.err.splitlines()]


class TestWarnings:
    @pytest.mark.parametrize("question", ["東京の売上高は？", "Какова выручка?"])
    def test_a_question_in_another_script_is_told_so_once(self, sample_index: Path, question: str) -> None:
        assert warned(question, sample_index).count(OTHER_LANGUAGE) == 1

    @pytest.mark.parametrize("options", [(), ("--doc", "harborlight_2023_10k")])
    def test_who_names_no_company_searches_all_without_a_warning(
        self, sample_index: Path, options: tuple[str, ...]
    ) -> None:
        assert warned("net income in 2023", sample_index, *options) == []
        assert warned("restructuring liability", sample_index, *options) == []

    @pytest.mark.parametrize("question", ["zorblat frumious", "東京の売上高は？", "What is the outlook for 2026?"])
    def test_what_stands_nowhere_is_searched_all_the_same(self, sample_index: Path, question: str) -> None:
        assert len(Ran("search", question, "--index", sample_index, "-k", 2, "--json").document["results"]) <= 2


class TestExplained:
    @pytest.mark.parametrize("strategy", ["bm25", "hhr:bm25", "query-expansion"])
    def test_of_a_strategy_of_words_only_its_words(self, sample_index: Path, strategy: str) -> None:
        arguments = ("search", DEVELOPED, "--strategy", strategy, "--explain", "--index", sample_index)
        query = Ran(*arguments, "--json").document["query"]
        assert query == {"text": DEVELOPED, "terms": ["Tellurond", "revenue", "develop", "FY2023"]}
        shown = [line.split() for line in Ran(*arguments).out.splitlines()]
        assert ["terms", "Tellurond,", "revenue,", "develop,", "FY2023"] in shown
        assert not any(line[0] in ("companies", "periods") for line in shown if line)

    def test_ours_uses_all_it_understands(self, sample_index: Path) -> None:
        ran = Ran("search", DEVELOPED, "--explain", "--index", sample_index, "-k", 1)
        assert any(line.split()[:2] == ["companies", "Tellurond"] for line in ran.out.splitlines())

    @pytest.mark.parametrize(
        ("level", "said"),
        [("page", "value times its weight"), ("passage", "value times its weight"), ("document", "its value;")],
    )
    def test_the_figures_are_said_to_be_weighted_or_not(self, sample_index: Path, level: str, said: str) -> None:
        arguments = ("search", DEVELOPED, "--explain", "--level", level, "--index", sample_index)
        assert said in Ran(*arguments).out.replace("\n", " ")
        assert said in Ran(*arguments, "--json").document["features_are"]

    def test_a_very_long_question_is_cut_for_people_only(self, sample_index: Path) -> None:
        question = "What drove the growth of net sales and of gross profit? " * 170
        arguments = ("search", question, "--explain", "--index", sample_index, "-k", 1)
        assert len(Ran(*arguments).out.splitlines()) < 45
        assert len(Ran(*arguments, "--json").document["query"]["text"]) > 5000
