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
    @pytest.mark.parametrize(
        "question", ["zorblat frumious", "zorblat in 2023?", "東京の売上高は？", "Какова выручка?", "¿Cuánto creció?"]
    )
    def test_words_that_stand_nowhere_are_told_once(self, sample_index: Path, question: str) -> None:
        said = [one for one in warned(question, sample_index) if one != OTHER_LANGUAGE]
        assert len(said) == 1
        assert said[0].startswith("no word of the question is in any indexed filing (")

    @pytest.mark.parametrize("question", ["東京の売上高は？", "Какова выручка?"])
    def test_a_question_in_another_script_is_told_so_once(self, sample_index: Path, question: str) -> None:
        assert warned(question, sample_index).count(OTHER_LANGUAGE) == 1

    @pytest.mark.parametrize(
        "question", ["zorblat inventories", "zorblat of Tellurond", "Which patent suits were settled?", "What is it?"]
    )
    def test_a_word_or_a_company_to_go_by_is_enough(self, sample_index: Path, question: str) -> None:
        assert not any("no word" in said for said in warned(question, sample_index))

    def test_a_strategy_of_words_alone_finds_nothing_instead(self, sample_index: Path) -> None:
        assert warned("zorblat frumious", sample_index, "--strategy", "bm25") == []

    @pytest.mark.parametrize("options", [(), ("--doc", "harborlight_2023_10k")])
    def test_who_names_no_company_searches_all_without_a_warning(
        self, sample_index: Path, options: tuple[str, ...]
    ) -> None:
        assert warned("net income in 2023", sample_index, *options) == []
        assert warned("restructuring liability", sample_index, *options) == []

    def test_a_very_long_question_is_cut_in_the_warning(self, sample_index: Path) -> None:
        (said,) = warned(" ".join(f"zorblat{letter * 3}" for letter in "bcdfghjklmnpqrstvwxz"), sample_index)
        assert len(said) < 200

    @pytest.mark.parametrize(
        ("question", "said"),
        [
            ("What is the outlook for 2026?", "no indexed filing covers FY2026: the index holds FY2022 to FY2024"),
            ("Tellurond 10-Q Q1 2024 revenue", "Q1 FY2024 of Tellurond Semiconductor Corporation is not in the index"),
            ("Tellurond revenue in Q1 FY2024", "Q1 FY2024 of Tellurond Semiconductor Corporation is not in the index"),
            ("Which patent suit did Harborlight settle in 2031?", "FY2031 of Harborlight Instruments, Inc. is not in"),
        ],
    )
    def test_a_period_that_no_filing_covers_is_told_once(self, sample_index: Path, question: str, said: str) -> None:
        (warning,) = warned(question, sample_index)
        assert warning.startswith(said)

    @pytest.mark.parametrize(
        "question",
        [
            "What is the outlook for 2024?",
            "What changed in 2021?",
            "Tellurond 10-Q Q2 2024 revenue",
            "Which patent suit did Harborlight settle in 2024?",
            "Who was appointed chief executive officer of Tellurond in 2024?",
        ],
    )
    def test_a_period_that_is_there_is_not_warned_of(self, sample_index: Path, question: str) -> None:
        assert warned(question, sample_index) == []


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
