"""`search`: what it warns of."""

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
