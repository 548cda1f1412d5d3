"""Generated questions: right by the figures that the sample filings were made with, and the same each time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from fin_agent.evaluation import Family
from fin_agent.evaluation.generated.question_generators import generated_questions
from fin_agent.evaluation.generated.question_material import QuestionMaterial
from fin_agent.evaluation.generated.truth import GeneratedQuestion, SlotKey, fewest_filings
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.workspace import Workspace
from tests.evaluation.generated.conftest import WRITTEN_AS

Questions = tuple[GeneratedQuestion, ...]
Written = Callable[[SlotKey], set[float]]


def of_family(questions: Questions, family: Family) -> Questions:
    return tuple(question for question in questions if question.family is family)


def all_known(question: GeneratedQuestion) -> bool:
    return all(slot.metric in WRITTEN_AS and slot.quarter is None for slot in question.slots)


def test_the_kinds_asked_for_are_all_there(questions: Questions) -> None:
    assert Counter(question.family for question in questions) == {
        Family.MULTI_FILING: 100,
        Family.UNANSWERABLE: 40,
        Family.LOOKUP: 60,
    }
    kinds = {question.kind.removesuffix(", computed") for question in of_family(questions, Family.MULTI_FILING)}
    assert kinds == {
        "total", "average", "change", "growth", "annual growth", "difference", "ratio", "highest", "lowest",
        "of highest", "faster", "combined", "highest over years",
    }  # fmt: skip
    assert len({slot.metric for question in questions for slot in question.slots}) >= 12
    assert len({question.id for question in questions}) == len({question.text for question in questions}) == 200
    assert not any("{" in question.text or "  " in question.text for question in questions)


def test_no_filing_alone_covers_a_multi_filing_question(material: QuestionMaterial, questions: Questions) -> None:
    for question in of_family(questions, Family.MULTI_FILING):
        figures = [material.figures.figure(*slot[:4]) for slot in question.slots]
        stated = [set(figure.doc_ids) for figure in figures if figure is not None]
        assert len(stated) == len(question.slots) >= 2
        assert not set.intersection(*stated), question.text
        assert 2 <= len(question.filings) <= len(question.slots)
        assert all(doc_ids & set(question.filings) for doc_ids in stated)


@pytest.mark.parametrize("kind", ["total", "average", "lookup, own year", "lookup, earlier column"])
def test_expected_values_are_those_the_filings_were_made_with(
    kind: str, questions: Questions, written: Written
) -> None:
    checked = [question for question in questions if question.kind == kind and all_known(question)]
    assert len(checked) >= 2
    for question in checked:
        amounts = [written(slot) for slot in question.slots]
        assert all(len(each) == 1 for each in amounts), question.text
        total = sum(each.pop() for each in amounts)
        assert question.expected is not None
        wanted = total / len(question.slots) if kind == "average" else total
        assert question.expected.value == pytest.approx(wanted), question.text


def test_a_difference_and_a_ratio_are_of_the_two_figures(questions: Questions, written: Written) -> None:
    checked = [question for question in questions if question.kind in ("difference", "ratio") and all_known(question)]
    assert {question.kind for question in checked} == {"difference", "ratio"}
    for question in checked:
        low, high = sorted(written(slot).pop() for slot in question.slots)
        assert question.expected is not None
        wanted = high - low if question.kind == "difference" else high / low
        assert question.expected.value == pytest.approx(wanted), question.text


def test_the_company_with_the_most_is_the_one_expected(questions: Questions, written: Written) -> None:
    checked = [question for question in questions if question.kind in ("highest", "lowest") and all_known(question)]
    assert checked
    for question in checked:
        pick = max if question.kind == "highest" else min
        best = pick(question.slots, key=lambda slot: min(written(slot)))
        assert question.expected is not None
        assert question.expected.company == best.company


def test_growth_is_between_the_first_and_the_last_year(questions: Questions, written: Written) -> None:
    checked = [question for question in questions if question.kind == "growth" and all_known(question)]
    assert checked
    for question in checked:
        before, after = (written(slot).pop() for slot in sorted(question.slots, key=lambda slot: slot.fiscal_year))
        assert question.expected is not None
        assert question.expected.value == pytest.approx(100 * (after / before - 1))


def test_the_same_seed_gives_the_same_questions(material: QuestionMaterial) -> None:
    counts = dict.fromkeys(Family, 12)
    families = tuple(Family)
    once = generated_questions(material, families, 3, counts=counts)
    assert once == generated_questions(material, families, 3, counts=counts)
    other = generated_questions(material, families, 4, counts=counts)
    assert {question.text for question in once} != {question.text for question in other}


def test_what_is_lacking_is_lacking(workspace: Workspace, questions: Questions) -> None:
    directory = workspace.directory
    lacking = Counter(question.kind for question in of_family(questions, Family.UNANSWERABLE))
    assert lacking == {"company absent": 10, "year absent": 10, "metric not reported": 10, "period not filed": 10}
    for question in of_family(questions, Family.UNANSWERABLE):
        assert question.expected is None
        (first, *_), *others = question.missing_names
        if question.kind == "company absent":
            assert first in question.text
            assert all(first.split()[0] not in company.name for company in directory.companies)
            continue
        company = next(found.company for found in directory.mentions(question.text))
        filed = workspace.years[company.key]
        if question.kind == "year absent":
            assert not filed.covers(FiscalPeriod(fiscal_year=int(first.removeprefix("FY")))), question.text
        elif question.kind == "period not filed":
            year = int(others[0][0].removeprefix("FY"))
            assert not filed.covers(FiscalPeriod(fiscal_year=year, quarter=int(first[1]))), question.text
        else:
            pages = workspace.index.search_pages([first.split()[0]], doc_ids=company.doc_ids, limit=1_000)
            texts = [stored.page.text.casefold() for stored in workspace.index.pages([hit.key for hit in pages])]
            assert not any(first in text for text in texts), question.text


def test_a_figure_that_filings_disagree_on_is_not_asked_for(material: QuestionMaterial, sample_filings: object) -> None:
    for company in material.companies:
        for metric in ("revenue", "total_assets", "net_income"):
            for year in material.figures.years(company.key, metric):
                figure = material.figures.figure(company.key, metric, year)
                assert figure is not None
                facts = material.workspace.index.facts(figure.doc_ids, metrics=[metric])
                stated = {
                    each.fact.value
                    for each in facts
                    if each.fact.period.fiscal_year == year
                    and each.fact.period.quarter is None
                    and each.fact.statement is material.workspace.lexicon.metrics[metric].statement
                    and each.fact.scope is None
                }
                assert stated == {figure.value}


def test_filings_needed_are_as_few_as_cover_the_figures(material: QuestionMaterial) -> None:
    company = material.companies[0]
    figures = [material.figures.figure(company.key, "revenue", year) for year in (2020, 2021, 2022, 2023, 2024)]
    known = [figure for figure in figures if figure is not None]
    assert len(known) == 5
    assert len(fewest_filings(known)) == 2
