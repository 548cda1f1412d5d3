"""One wrong number is caught, whatever way it comes in, and no correct program is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.wrong_numbers import (
    MUTATORS,
    Mutant,
    Specimen,
    correct_programs,
    judge_mutants,
    mutants_of,
    refused_by_facts,
    wrongly_refused,
)
from fin_agent.evaluation import Family
from fin_agent.evaluation.generated.question_generators import generated_questions
from fin_agent.evaluation.generated.question_material import QuestionMaterial
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.workspace import Workspace

COUNTS = {Family.MULTI_FILING: 24, Family.LOOKUP: 8}


@pytest.fixture(scope="module")
def specimens(workspace: Workspace) -> tuple[Specimen, ...]:
    context = AnswerContext.by_rules(workspace)
    questions = generated_questions(QuestionMaterial(workspace), tuple(COUNTS), 0, counts=COUNTS)
    texts = [question.text for question in questions]
    return tuple(correct_programs(texts, lambda text: answer_question(text, context), context.analyst, workspace))


def test_correct_programs_pass(specimens: tuple[Specimen, ...]) -> None:
    assert len(specimens) >= 25
    assert wrongly_refused(specimens) == ()
    assert refused_by_facts(specimens) == 0


def test_every_mutant_is_caught(specimens: tuple[Specimen, ...]) -> None:
    mutants = mutants_of(specimens, 300, seed=0)
    assert len(mutants) >= 290
    assert {mutant.kind for mutant in mutants} == set(MUTATORS)
    slipped = [each.mutant for each in judge_mutants(mutants) if not each.caught]
    assert [(mutant.kind, mutant.code) for mutant in slipped] == []


def test_facts_alone_catch_what_they_can(specimens: tuple[Specimen, ...]) -> None:
    judged = judge_mutants(mutants_of(specimens, 300, seed=1))
    assert sum(each.caught_by_facts for each in judged) > 0.7 * len(judged)
    kinds = (
        "unit changed",
        "literal invented",
        "result invented",
        "number from constants",
        "number from lengths and codes",
    )
    assert [each.mutant.code for each in judged if each.mutant.kind in kinds and not each.caught_by_facts] == []


def test_same_seed_same_mutants(specimens: tuple[Specimen, ...]) -> None:
    assert mutants_of(specimens, 60, seed=3) == mutants_of(specimens, 60, seed=3)
    assert mutants_of(specimens, 60, seed=3) != mutants_of(specimens, 60, seed=4)


def test_a_mutant_that_changes_nothing_is_reported_as_not_caught(specimens: tuple[Specimen, ...]) -> None:
    specimen = specimens[0]
    unchanged = Mutant("digit changed", specimen, specimen.program.code)
    judged = judge_mutants([unchanged, replace(unchanged, code="def solution():\n    return 7")])
    assert [each.caught for each in judged] == [False, True]
