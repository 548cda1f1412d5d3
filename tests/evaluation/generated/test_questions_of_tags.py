"""Questions made from tags: answers follow from the tags, words vary, the same seed gives the same ones."""

from __future__ import annotations

import re
from decimal import Decimal
from random import Random

import pytest

from fin_agent.evaluation import QuestionKind
from fin_agent.evaluation.generated.question_generators import (
    Turn,
    generated_questions,
    reads_well,
    rounding_difference,
)
from fin_agent.evaluation.generated.question_material import QuestionMaterial
from fin_agent.evaluation.generated.truth import Computed, GeneratedQuestion, SlotKey, StatedFigure
from fin_agent.lexicon.fiscal_periods import FiscalYears

Questions = tuple[GeneratedQuestion, ...]


def _values(material: QuestionMaterial, question: GeneratedQuestion) -> list[float]:
    found = [material.figures.figure(*slot[:4]) for slot in question.slots]
    return [float(figure.value) for figure in found if figure is not None]


def _expected(question: GeneratedQuestion) -> float:
    assert question.expected is not None
    return question.expected.value


def test_every_kind_that_the_filings_hold_is_asked(asked: Questions) -> None:
    kinds = {question.family for question in asked}
    assert kinds == set(QuestionKind) - {QuestionKind.COMPARISON}, "one annual report: nothing to compare it with"
    sorts = {question.kind for question in asked}
    assert {"lookup, own year", "lookup, earlier column", "lookup, quarter", "computed", "growth", "change"} <= sorts
    assert {"segment, own year", "region, earlier column", "share of a part", "total", "average"} <= sorts


def test_the_same_seed_gives_the_same_questions(tagged_material: QuestionMaterial, asked: Questions) -> None:
    counts = dict.fromkeys(QuestionKind, 40)
    assert generated_questions(tagged_material, tuple(QuestionKind), 3, counts=counts) == asked
    assert generated_questions(tagged_material, tuple(QuestionKind), 4, counts=counts) != asked
    assert len({question.text for question in asked}) == len(asked)


def test_lookups_expect_the_tag(tagged_material: QuestionMaterial, asked: Questions) -> None:
    lookups = [question for question in asked if question.family is QuestionKind.LOOKUP]
    assert len(lookups) == 40 and all(question.exact for question in lookups)
    assert all(_values(tagged_material, question) == [_expected(question)] for question in lookups)


def test_totals_averages_and_growth_follow_from_the_tags(tagged_material: QuestionMaterial, asked: Questions) -> None:
    checked = 0
    for question in asked:
        if question.family in (QuestionKind.PART, QuestionKind.FAMILY):
            continue
        values = _values(tagged_material, question)
        first, last = values[0], values[-1]
        if question.kind == "total":
            assert _expected(question) == pytest.approx(sum(values))
        elif question.kind == "average":
            assert _expected(question) == pytest.approx(sum(values) / len(values))
        elif question.kind == "growth":
            assert _expected(question) == pytest.approx(100 * (last / first - 1))
            assert question.expected is not None and question.expected.rounding == 0
        elif question.kind == "change":
            assert _expected(question) == pytest.approx(last - first)
        elif question.kind == "annual growth":
            assert 1 + _expected(question) / 100 == pytest.approx((last / first) ** 0.5)
        else:
            continue
        checked += 1
    assert checked > 50


def test_families_are_asked_for_figures_of_their_members(tagged_material: QuestionMaterial, asked: Questions) -> None:
    families = {(one.kind, one.metric, one.year): one for one in tagged_material.families}
    highest = [question for question in asked if question.kind.startswith("highest, ")]
    tops = {one.values[0] for one in families.values()}
    assert highest and all(one.expected is not None and one.expected.value in tops for one in highest)


def test_questions_of_parts_say_the_printed_name(tagged_material: QuestionMaterial, asked: Questions) -> None:
    parts = {figure.slot.part for figure in tagged_material.parts}
    of_parts = [question for question in asked if question.family is QuestionKind.PART]
    assert len(of_parts) == 40
    assert all(any(part in question.text for part in parts) for question in of_parts)
    stated = [question for question in of_parts if question.exact]
    values = {float(figure.value) for figure in tagged_material.parts}
    assert stated and all(_expected(question) in values for question in stated)


def test_years_are_named_in_many_ways(asked: Questions) -> None:
    texts = " ".join(question.text for question in asked)
    for wording in (r"FY2025", r"FY 2025", r"FY25", r"fiscal 2025", r"fiscal year 2025", r"ended December 31, 2025"):
        assert re.search(wording, texts), wording
    for name in ("Harborlight Instruments' ", "HLGT's", "Harborlight Instruments, Inc."):
        assert name in texts, name


def test_a_year_named_by_its_last_day_stands_where_a_sentence_has_it(asked: Questions) -> None:
    day = "the year ended May 31, 2025"
    assert reads_well(f"What was its revenue in {day}?", day) and reads_well(f"Acme: revenue, {day}?", day)
    assert not reads_well(f"Please state Acme's {day} revenue.", day)
    assert reads_well("Acme's FY2025 revenue?", "FY2025")
    assert not any(re.match(r"the ", question.text) for question in asked)


def test_without_a_known_last_day_years_are_named_by_number(tagged_material: QuestionMaterial) -> None:
    drawn = Turn(tagged_material, Random(1), QuestionKind.LOOKUP, "lookup", 0)
    filed = FiscalYears("Acme", (2025,), (), ((2025, 2025),))
    assert all("2025" in name or "25" in name for name in (drawn.year(2025, filed) for _ in range(40)))
    assert drawn.last_day(2025, filed) is None


def test_growth_may_differ_by_what_a_coarser_print_rounds_off() -> None:
    def of(year: int, value: int) -> Computed:
        slot = SlotKey("a", "weighted_average_shares_diluted", year, None)
        return Computed(value, (StatedFigure(slot, Decimal(value), Decimal(1_000_000), ("a24",)),))

    assert rounding_difference(of(2024, 449_700_000)) == 300_000
    assert rounding_difference(of(2023, 459_000_000)) == 0
