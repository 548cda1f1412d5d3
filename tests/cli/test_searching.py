"""`search`: what it warns of, and what its scores are made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Ran

OTHER_LANGUAGE = "a question in English: other languages are not supported"


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


@pytest.mark.parametrize(
    ("options", "part", "meaning"),
    [
        (("--level", "page"), "words", "BM25 of the question's own words"),
        (("--level", "document"), "period", "fit of its fiscal periods"),
        ((), "words", "BM25 of the question's own words"),
        (("--level", "page", "--strategy", "bm25"), "passage", "score of its best passage"),
    ],
)
def test_what_a_score_is_made_of_is_explained(
    sample_index: Path, options: tuple[str, ...], part: str, meaning: str
) -> None:
    asked = ("search", "How did Tellurond revenue develop in FY2023?", "--explain", *options, "--index", sample_index)
    ran = Ran(*asked, "--json").document
    assert ran["meanings"][part].startswith(meaning)
    assert {name for hit in ran["results"] for name in hit["features"]} == set(ran["meanings"])
    shown = " ".join(Ran(*asked).out.split())
    assert f"{part} {ran['results'][0]['features'][part]:.3f}" in shown and meaning in shown
