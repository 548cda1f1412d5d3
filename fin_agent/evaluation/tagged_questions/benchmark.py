"""Questions of every kind made from tagged filings, their answers scored, and what they came to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.evaluation import QuestionKind
from fin_agent.evaluation.benchmark import Answered, Column, Report, mean_of, report_on, seconds_at
from fin_agent.evaluation.generated import between_companies, one_company
from fin_agent.evaluation.generated.drawing import Maker, made
from fin_agent.evaluation.generated.figures import shares
from fin_agent.evaluation.generated.question import GeneratedQuestion, Outcome, judge
from fin_agent.evaluation.tagged_questions import families
from fin_agent.evaluation.tagged_questions import questions as makers_of
from fin_agent.evaluation.tagged_questions.filings import TaggedFiling, read_tagged, tagged_files
from fin_agent.evaluation.tagged_questions.material import TaggedMaterial
from fin_agent.filings.reader import doc_id_of
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TaggedQuestion:
    """A question with the answer that follows from tags."""

    kind: QuestionKind
    asked: GeneratedQuestion
    exact: bool = False
    """Whether the answer is one tagged figure: it has to agree to the last digit printed."""


COUNTS: Mapping[QuestionKind, int] = {
    QuestionKind.LOOKUP: 150,
    QuestionKind.DERIVED: 110,
    QuestionKind.COMPARISON: 90,
    QuestionKind.PART: 120,
    QuestionKind.TOTAL: 60,
    QuestionKind.FAMILY: 300,
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
            found = made(material, name, maker, share, seed) if _has_material(material, kind) else ()
            questions += (TaggedQuestion(kind, question, exact) for question in found)
    return tuple(questions)


def judge_tagged(question: TaggedQuestion, answered: Answered, workspace: Workspace) -> Outcome:
    """What is right about the answer; a single tagged figure has to agree to the last digit printed."""
    outcome = judge(question.asked, answered.answer, workspace.directory.by_key)
    right = bool(outcome.right) and (not question.exact or _agrees(question, answered.answer))
    return replace(outcome, family=question.kind.value, right=right)


_MAKERS: Mapping[QuestionKind, Sequence[tuple[str, Maker, int]]] = {
    QuestionKind.LOOKUP: (
        ("lookup, own year", makers_of.own_year, 6),
        ("lookup, earlier column", makers_of.earlier_year, 6),
        ("lookup, quarter", one_company.of_a_quarter, 3),
    ),
    QuestionKind.DERIVED: (
        ("computed", makers_of.computed, 5),
        ("growth", makers_of.growth, 4),
        ("change", makers_of.change, 2),
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
        ("part", makers_of.part_in_a_year, 8),
        ("part, quarter", makers_of.part_in_a_quarter, 2),
        ("growth of a part", makers_of.growth_of_part, 2),
        ("share of a part", makers_of.share_of_part, 1),
    ),
    QuestionKind.TOTAL: (
        ("total", makers_of.total, 5),
        ("average", makers_of.average, 4),
        ("annual growth", makers_of.annual_growth, 2),
    ),
    QuestionKind.FAMILY: (
        ("highest", families.highest, 5),
        ("n-th", families.nth, 3),
        ("fastest", families.fastest, 3),
        ("members apart", families.difference, 3),
        ("members together", families.together, 2),
        ("highest margin", families.highest_margin, 1),
    ),
}
"""Kinds, and the weight of each."""
_EXACT = frozenset({"lookup, own year", "lookup, earlier column", "lookup, quarter", "part", "part, quarter"})


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


def _agrees(question: TaggedQuestion, answer: Answer) -> bool:
    expected, value = question.asked.expected, answer.answer.value
    if expected is None or value is None:
        return False
    given = value * _SCALES.get(answer.answer.unit or "", 1)
    return abs(given - expected.value) <= max(expected.rounding, _SMALLEST * abs(expected.value))


_SCALES = {"USD thousands": 1_000, "USD millions": 1_000_000, "USD billions": 1_000_000_000}
_SMALLEST = 1e-6


def report_on_tagged(outcomes: Sequence[Outcome]) -> Report:
    """Accuracy by kind, then by sort. Raises ValueError without outcomes."""
    caption = "right: within 0.5 %; one tagged figure: to its last digit"
    sections: Mapping[str, Callable[[Outcome], str]] = {
        "kind": lambda outcome: outcome.family,
        "sort": lambda outcome: outcome.kind,
    }
    return report_on(outcomes, "Questions made from tags", caption, _COLUMNS, sections)


_COLUMNS: tuple[Column[Outcome], ...] = (
    Column("questions", len, "n", str),
    Column("right", mean_of(lambda outcome: bool(outcome.right)), "right"),
    Column("refused", mean_of(lambda outcome: outcome.refused), "refused"),
    Column("wrong", mean_of(lambda outcome: not outcome.right and not outcome.refused), "wrong"),
    Column("median_seconds", seconds_at(50), "median s", "{:.2f}".format),
)


def miss_lines(outcome: Outcome) -> Iterator[str]:
    """A miss in words: the question, what tags say, what was answered."""
    yield f"{outcome.kind}: {outcome.question}"
    yield f"  tagged {outcome.expected} ({', '.join(outcome.filings)})"
    yield f"  {'refused' if outcome.refused else 'answered'} {outcome.got}"
