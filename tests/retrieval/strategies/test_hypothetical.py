"""`hyde` and `multi-hyde`: what a model makes up is searched with."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fin_agent.config import Settings
from fin_agent.prompts import PromptError
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.strategies.iterative import hypothetical_wording
from fin_agent.retrieval.strategies.protocol import Models
from fin_agent.retrieval.strategies.registry import build_strategy
from fin_agent.workspace import Workspace
from tests.retrieval.strategies.conftest import SUIT, Script

PASSAGE = "On June 18, 2024 the board appointed a new chief executive officer of the Company."
ASKED = Query("Who leads the firm now?", terms=())


def test_the_passage_made_up_is_searched_with(workspace: Workspace, script: type[Script], notes: list[str]) -> None:
    model = script(PASSAGE)
    hyde = build_strategy("hyde:bm25", workspace, models=Models(writer=model.write, notify=notes.append))
    assert hyde.name == "hyde:bm25"
    found = hyde.search(ASKED)
    assert (found.passages[0].stored.doc_id, found.passages[0].stored.passage.page) == ("tellurond_2024_8k", 1)
    assert re.search(r"<question-(\w{16})>Who leads the firm now\?</question-\1>", model.prompts[0])
    assert notes == []


def test_rubbish_gives_way_to_the_question_with_a_note(
    workspace: Workspace, asked: Callable[[str], Query], script: type[Script], notes: list[str]
) -> None:
    plain = build_strategy("bm25", workspace).search(asked(SUIT))
    for replies in ([""], ["…"], []):
        models = Models(writer=script(*replies).write, notify=notes.append)
        assert build_strategy("hyde:bm25", workspace, models=models).search(asked(SUIT)) == plain
    assert len(notes) == 3
    models = Models(writer=script("", "...", "", "").write, notify=notes.append)
    assert build_strategy("multi-hyde:bm25", workspace, models=models).search(asked(SUIT)) == plain
    assert len(notes) == 7


def test_four_passages_of_different_kinds(script: type[Script], notes: list[str]) -> None:
    model = script(*(f"A passage of kind {kind} here" for kind in "abcd"))
    wording = hypothetical_wording(model.write, notes.append, "multi_hyde")(ASKED)
    assert wording.texts == tuple(f"A passage of kind {kind} here" for kind in "abcd")
    assert len(set(model.prompts)) == 4 and "primary financial statement" in model.prompts[0]


def test_a_passage_that_fails_is_left_out(script: type[Script], notes: list[str]) -> None:
    model = script("The first good passage", "", "Another very good passage")
    assert hypothetical_wording(model.write, notes.append, "multi_hyde")(ASKED).texts == (
        "The first good passage", "Another very good passage",
    )  # fmt: skip
    assert len(notes) == 2


def test_a_prompt_of_ones_own_is_used_and_checked_when_built(
    workspace: Workspace, script: type[Script], notes: list[str], tmp_path: Path
) -> None:
    model = script(PASSAGE)
    head = "---\nrole: hypothetical-passage\nversion: 1\nplaceholders: [question]\noutput: text\n---\n"
    (tmp_path / "hyde.md").write_text(f"{head}Invent. {{fence}}\n## user\nOn {{question}}", encoding="utf-8")
    hypothetical_wording(model.write, notes.append, folder=tmp_path)(ASKED)
    (prompt,) = model.prompts
    assert prompt.startswith("Invent. What stands between marks")
    assert re.search(r"\n\nOn <question-\w{16}>Who leads the firm now\?</question-\w{16}>$", prompt)
    (tmp_path / "hyde.md").write_text(f"{head}Invent. {{fence}}\n## user\nNow.", encoding="utf-8")
    with pytest.raises(PromptError, match=r"\{question\} is missing"):
        build_strategy("hyde:bm25", workspace, Settings(prompts=tmp_path), Models(writer=model.write))
