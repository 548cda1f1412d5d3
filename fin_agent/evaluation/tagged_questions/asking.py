"""Questions of every kind made from tagged filings, and their answers scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.evaluation.generated import between_companies
from fin_agent.evaluation.generated.multi_filing import shares
from fin_agent.evaluation.generated.scoring import Outcome, judge
from fin_agent.evaluation.tagged_questions import of_parts, one_company
from fin_agent.evaluation.tagged_questions.filings import TaggedFiling, read_tagged, tagged_files
from fin_agent.evaluation.tagged_questions.kinds import QuestionKind, TaggedQuestion
from fin_agent.evaluation.tagged_questions.material import TaggedMaker, TaggedMaterial, drawn_questions
from fin_agent.filings.reader import doc_id_of
from fin_agent.workspace import Workspace

COUNTS: Mapping[QuestionKind, int] = {
    QuestionKind.LOOKUP: 150,
    QuestionKind.DERIVED: 110,
    QuestionKind.COMPARISON: 90,
    QuestionKind.PART: 120,
    QuestionKind.TOTAL: 60,
}
"""How many questions of each kind are made where nothing else is said."""


@dataclass(frozen=True, slots=True)
class TaggedFolder:
    """The tagged files of a folder, and those that nothing can be asked about."""

    filings: tuple[TaggedFiling, ...]
    not_indexed: tuple[str, ...]
    """Names of files that the index does not hold."""


def read_folder(folder: Path, workspace: Workspace) -> TaggedFolder:
    """The tagged filings of `folder` that the index holds, by name. Raises ReadError."""
    owners = workspace.directory.owners
    paths = tagged_files(folder)
    held = [path for path in paths if doc_id_of(path) in owners]
    read = (read_tagged(path) for path in held)
    return TaggedFolder(
        tuple(filing for filing in read if filing is not None),
        tuple(path.name for path in paths if path not in held),
    )


def tagged_questions(
    material: TaggedMaterial, kinds: Sequence[QuestionKind], seed: int, *, counts: Mapping[QuestionKind, int] = COUNTS
) -> tuple[TaggedQuestion, ...]:
    """Questions kind by kind; the same filings and seed give the same ones, fewer where the filings hold no more."""
    questions: list[TaggedQuestion] = []
    for kind in kinds:
        makers = _MAKERS[kind]
        for (name, maker, _), share in zip(makers, shares([each for _, _, each in makers], counts[kind]), strict=True):
            exact = name in _EXACT
            found = drawn_questions(material, name, maker, share, seed) if _has_material(material, kind) else ()
            questions += (TaggedQuestion(kind, question, exact) for question in found)
    return tuple(questions)


def ask_tagged(question: TaggedQuestion, workspace: Workspace, ask: Callable[[str], Answer]) -> tuple[Outcome, Answer]:
    """The answer, and what is right about it; a single tagged figure has to agree to the last digit printed."""
    answer = ask(question.asked.text)
    outcome = judge(question.asked, answer, workspace.directory.by_key)
    right = bool(outcome.right) and (not question.exact or _agrees(question, answer))
    return replace(outcome, family=question.kind.value, right=right), answer


_MAKERS: Mapping[QuestionKind, Sequence[tuple[str, TaggedMaker, int]]] = {
    QuestionKind.LOOKUP: (
        ("lookup, own year", one_company.own_year, 6),
        ("lookup, earlier column", one_company.earlier_year, 6),
        ("lookup, quarter", one_company.of_a_quarter, 3),
    ),
    QuestionKind.DERIVED: (
        ("computed", one_company.computed, 5),
        ("growth", one_company.growth, 4),
        ("change", one_company.change, 2),
    ),
    QuestionKind.COMPARISON: (
        ("difference", between_companies.difference, 3),
        ("ratio", between_companies.ratio, 2),
        ("highest", between_companies.highest, 3),
        ("of highest", between_companies.of_highest, 2),
        ("faster", between_companies.faster, 1),
        ("combined", between_companies.combined, 1),
        ("highest over years", between_companies.highest_over_years, 1),
    ),
    QuestionKind.PART: (
        ("part", of_parts.part_in_a_year, 8),
        ("part, quarter", of_parts.part_in_a_quarter, 2),
        ("growth of a part", of_parts.growth_of_part, 2),
        ("share of a part", of_parts.share_of_part, 1),
    ),
    QuestionKind.TOTAL: (
        ("total", one_company.total, 5),
        ("average", one_company.average, 4),
        ("annual growth", one_company.annual_growth, 2),
    ),
}
"""Kinds, and the weight of each."""
_EXACT = frozenset({"lookup, own year", "lookup, earlier column", "lookup, quarter", "part", "part, quarter"})


def _has_material(material: TaggedMaterial, kind: QuestionKind) -> bool:
    match kind:
        case QuestionKind.PART:
            return bool(material.parts)
        case QuestionKind.COMPARISON:
            return len(material.companies) > 1
        case _:
            return bool(material.companies or material.quarterly)


def _agrees(question: TaggedQuestion, answer: Answer) -> bool:
    expected, value = question.asked.expected, answer.answer.value
    if expected is None or value is None:
        return False
    given = value * _SCALES.get(answer.answer.unit or "", 1)
    return abs(given - expected.value) <= max(expected.rounding, _SMALLEST * abs(expected.value))


_SCALES = {"USD thousands": 1_000, "USD millions": 1_000_000, "USD billions": 1_000_000_000}
_SMALLEST = 1e-6
