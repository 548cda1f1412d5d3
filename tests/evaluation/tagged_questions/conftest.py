"""The tagged sample filings as material for questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent.evaluation import QuestionKind
from fin_agent.evaluation.generated.question import GeneratedQuestion
from fin_agent.evaluation.tagged_questions.benchmark import read_folder, tagged_questions
from fin_agent.evaluation.tagged_questions.filings import TaggedFiling
from fin_agent.evaluation.tagged_questions.material import TaggedMaterial
from fin_agent.workspace import Workspace


@pytest.fixture(scope="session")
def html_workspace(sample_html_index: Path) -> Workspace:
    """The index of the sample filings in HTML."""
    return Workspace.open(sample_html_index)


@pytest.fixture(scope="session")
def tagged(html_workspace: Workspace, sample_html: Path) -> dict[str, TaggedFiling]:
    """The tagged sample filings, by doc_id."""
    return {filing.doc_id: filing for filing in read_folder(sample_html, html_workspace).filings}


@pytest.fixture(scope="session")
def tagged_material(html_workspace: Workspace, tagged: dict[str, TaggedFiling]) -> TaggedMaterial:
    """What questions are drawn from."""
    return TaggedMaterial(html_workspace, tuple(tagged.values()))


@pytest.fixture(scope="session")
def asked(tagged_material: TaggedMaterial) -> tuple[GeneratedQuestion, ...]:
    """Questions of every kind."""
    return tagged_questions(tagged_material, tuple(QuestionKind), 3, counts=dict.fromkeys(QuestionKind, 40))
