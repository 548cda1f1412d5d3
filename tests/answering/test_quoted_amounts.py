"""Amounts that sentences state of a company's figures are held against its statements, and nothing else is."""

from __future__ import annotations

import pytest

from fin_agent.answering.sentence_binding import contradictions
from fin_agent.workspace import Workspace

FILING = {"harborlight_2023_10k"}


@pytest.mark.parametrize(
    "sentence",
    [
        "Net sales were $9,999 million in fiscal 2023.",
        "Harborlight's net sales for fiscal 2023 were $9.9 billion.",
        "Our net sales decreased 42% to $2,049 million in fiscal 2023.",
        "Total assets amounted to $33,333 million at the end of 2023.",
    ],
)
def test_what_the_statements_print_otherwise(workspace: Workspace, sentence: str) -> None:
    (told,) = contradictions(sentence, FILING, workspace)
    assert "of harborlight_2023_10k prints $" in told and "confirmed by its sums" in told


@pytest.mark.parametrize(
    "sentence",
    [
        "Net sales were $3,533 million in fiscal 2023.",
        "Net sales came to approximately $3.5 billion in fiscal 2023.",
        "Online net sales were $900 million in fiscal 2023.",
        "Net sales increased by $199 million in fiscal 2023.",
        "Net sales were $900 million in the fourth quarter of 2023.",
        "Net sales were $3,533 million, compared with $3,334 million in fiscal 2022.",
        "Net sales in Europe were $1,025 million in fiscal 2023.",
        "Net sales were 9,999 in fiscal 2023.",
        "Net sales were $9,999 million in fiscal 1999.",
    ],
)
def test_what_they_bear_out_or_say_nothing_of(workspace: Workspace, sentence: str) -> None:
    assert contradictions(sentence, FILING, workspace) == []


def test_the_year_of_the_question_counts_where_none_is_named(workspace: Workspace) -> None:
    assert contradictions("Net sales were $9,999 million.", FILING, workspace) == []
    assert contradictions("Net sales were $9,999 million.", FILING, workspace, {2023})
