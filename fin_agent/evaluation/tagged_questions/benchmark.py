"""Questions of every kind made from tagged filings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fin_agent.evaluation import QuestionKind
from fin_agent.evaluation.generated import question_generators
from fin_agent.evaluation.generated.question import GeneratedQuestion
from fin_agent.evaluation.generated.sampling import Maker, questions_of
from fin_agent.evaluation.tagged_questions import company_questions, part_questions
from fin_agent.evaluation.tagged_questions.filings import TaggedFiling, read_tagged, tagged_files
from fin_agent.evaluation.tagged_questions.material import TaggedMaterial
from fin_agent.filings.reader import doc_id_of
from fin_agent.workspace import Workspace

COUNTS: Mapping[QuestionKind, int] = {
    QuestionKind.LOOKUP: 150,
    QuestionKind.DERIVED: 110,
    QuestionKind.COMPARISON: 90,
    QuestionKind.PART: 120,
    QuestionKind.TOTAL: 60,
    QuestionKind.FAMILY: 300,
}
"""How many questions of each kind are made where nothing else is said."""

_MAKERS: Mapping[QuestionKind, Sequence[tuple[str, Maker, int]]] = {
    QuestionKind.LOOKUP: (
        ("lookup, own year", company_questions.own_year, 6),
        ("lookup, earlier column", company_questions.earlier_year, 6),
        ("lookup, quarter", question_generators.of_a_quarter, 3),
    ),
    QuestionKind.DERIVED: (
        ("computed", company_questions.computed, 5),
        ("growth", company_questions.growth, 4),
        ("change", company_questions.change, 2),
    ),
    QuestionKind.COMPARISON: (
        ("difference", question_generators.difference, 3),
        ("ratio", question_generators.ratio, 2),
        ("highest", question_generators.highest, 3),
        ("of highest", question_generators.of_highest, 2),
        ("faster", question_generators.faster, 1),
        ("combined", question_generators.combined, 1),
        ("highest over years", question_generators.highest_over_years, 1),
    ),
    QuestionKind.PART: (
        ("part", part_questions.part_in_a_year, 8),
        ("part, quarter", part_questions.part_in_a_quarter, 2),
        ("growth of a part", part_questions.growth_of_part, 2),
        ("share of a part", part_questions.share_of_part, 1),
    ),
    QuestionKind.TOTAL: (
        ("total", company_questions.total, 5),
        ("average", company_questions.average, 4),
        ("annual growth", company_questions.annual_growth, 2),
    ),
    QuestionKind.FAMILY: (
        ("highest", part_questions.highest, 5),
        ("n-th", part_questions.nth, 3),
        ("fastest", part_questions.fastest, 3),
        ("members apart", part_questions.difference, 3),
        ("members together", part_questions.together, 2),
        ("highest margin", part_questions.highest_margin, 1),
    ),
}
"""Names of makers, and the weight of each among its kind."""


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
) -> tuple[GeneratedQuestion, ...]:
    """Questions kind by kind; the same filings and seed give the same ones, fewer where the filings hold no more."""
    return tuple(question for kind in kinds for question in _of_kind(material, kind, counts[kind], seed))


def _of_kind(material: TaggedMaterial, kind: QuestionKind, count: int, seed: int) -> Iterator[GeneratedQuestion]:
    if _has_material(material, kind):
        for question in questions_of(material, _MAKERS[kind], count, seed):
            yield replace(question, family=kind, exact=question.exact or kind is QuestionKind.LOOKUP)


def _has_material(material: TaggedMaterial, kind: QuestionKind) -> bool:
    match kind:
        case QuestionKind.PART:
            return bool(material.parts)
        case QuestionKind.FAMILY:
            return bool(material.families)
        case QuestionKind.COMPARISON:
            return len(material.companies) > 1
        case _:
            return bool(material.companies or material.quarterly)
