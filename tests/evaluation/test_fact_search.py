"""Searches made from tags, and how they are scored."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

from benchmarks.fact_search import Wording, questions_from_tags, score_families, score_search
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace


def tagged(label: str, amount: int, concept: str, line: int, part: str | None = None) -> SourcedFact:
    members = (("us-gaap:StatementBusinessSegmentsAxis", f"acme:{part}Member"),) if part else ()
    tag = Tag(concept, Decimal(amount), str(amount), "c", None, members=members)
    fact = Fact(
        label, Decimal(amount), 1, "USD", FactPeriod(2023, None, 12), 0, Box(0, line, 1, line + 1),
        metric="revenue", scope=part, line=line, statement=None if part else Statement.INCOME, tag=tag,
    )  # fmt: skip
    return SourcedFact("a", fact)


FACTS = [
    tagged("Net sales", 100, "us-gaap:Revenues", 0),
    tagged("Rental income from land", 7, "us-gaap:OperatingLeaseLeaseIncome", 1),
    tagged("Marine", 50, "us-gaap:Revenues", 2, "Marine"),
    tagged("Garden", 30, "us-gaap:Revenues", 3, "Garden"),
    tagged("Tools", 20, "us-gaap:Revenues", 4, "Tools"),
]


def workspace() -> Workspace:
    class Index:
        def entries(self) -> tuple[()]:
            return ()

        def facts(self, doc_ids: Any, *, pages: Any = None, years: Any = None) -> list[SourcedFact]:
            return FACTS

    company = SimpleNamespace(key="acme", name="Acme", doc_ids=("a",))
    identities = {"a": Identity("Acme", Form.TEN_K, fiscal_year=2023)}
    directory = SimpleNamespace(by_key={"acme": company}, identities=identities)
    index = Index()
    return cast(Workspace, SimpleNamespace(index=index, directory=directory, lexicon=load_lexicon()))


def test_every_tagged_line_is_asked_for_in_its_words_and_found() -> None:
    asked = questions_from_tags(workspace(), Wording.LABEL, of_parts=False, most=10, seed=0)
    assert {question.query.phrase for question in asked} == {"Net sales", "Rental income from land"}
    score = score_search(workspace(), asked, tags=True)
    assert (score.asked, score.first, score.sure_and_wrong) == (2, 2, 0)


def test_parts_are_asked_for_by_other_names_of_their_measure() -> None:
    asked = questions_from_tags(workspace(), Wording.METRIC, of_parts=True, most=10, seed=0)
    assert {question.query.part for question in asked} == {"Marine", "Garden", "Tools"}
    assert score_search(workspace(), asked, tags=False).first == 3


def test_a_family_that_adds_up_is_found_whole() -> None:
    assert score_families(workspace()) == {"asked": 1, "found": 1, "highest": 1, "members": 1}
