"""Cards and judges made for tests of the tournament."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.evidence.cards.card import (
    AnswerabilityProfile,
    Card,
    CardIdentity,
    ClaimRole,
    EvidenceType,
    MeasurementBasis,
    ScopeSignature,
    TableSignature,
    TemporalAnchor,
    Verifiability,
)
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.tournament.tournament import Brief, Entrant, Verdict
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.retrieval.search_query import Query
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement


def card(
    ordinal: int,
    *,
    page: int | None = None,
    doc_id: str = "acme23",
    metrics: Sequence[str] = (),
    periods: Sequence[str] = (),
    statement: Statement | None = None,
    parts: Sequence[str] = (),
    sketch: str = "",
) -> Card:
    return Card(
        identity=CardIdentity(
            doc_id=doc_id,
            page=ordinal if page is None else page,
            ordinal=ordinal,
            company="Acme",
            form=Form.TEN_K,
            fiscal_year=2023,
            statement=statement,
        ),
        role=ClaimRole.REPORTS,
        evidence_type=EvidenceType.TABLE,
        metrics=tuple(metrics),
        answers=AnswerabilityProfile(numeric=bool(metrics)),
        time=TemporalAnchor(periods=tuple(periods)),
        scope=ScopeSignature(consolidated=not parts, parts=tuple(parts)),
        basis=MeasurementBasis(),
        verifiability=Verifiability(table=TableSignature(rows=1, columns=("2023",), labels=("Net sales",))),
        sketch=sketch,
    )


def entrants(count: int) -> list[Entrant]:
    """Best words first, as stage 1 gives them."""
    return [Entrant(card(ordinal), 1.0 - ordinal / count) for ordinal in range(count)]


def brief(*, metrics: Sequence[str] = (), years: Sequence[int] = (), statements: Sequence[Statement] = ()) -> Brief:
    query = Query(
        text="",
        terms=(),
        companies=("acme",),
        periods=tuple(FiscalPeriod(fiscal_year=year) for year in years),
        statements=tuple(statements),
        metrics=tuple(metrics),
    )
    return Brief(Intent(question="", core=""), Plan((), ()), query, {"acme23": "acme"})


class ByOrdinal:
    """Puts lower ordinals first; counts its lists."""

    def __init__(self) -> None:
        self.lists: list[list[int]] = []

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        self.lists.append([one.identity.ordinal for one in cards])
        order = sorted(range(len(cards)), key=lambda at: cards[at].identity.ordinal)
        return [Verdict(at, float(len(cards) - place)) for place, at in enumerate(order)]


class Failing:
    """Raises the first `times` times, then ranks by ordinal."""

    def __init__(self, times: int = 10_000) -> None:
        self.times = times

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        self.times -= 1
        if self.times >= 0:
            raise TimeoutError("no answer")
        return ByOrdinal().rank(brief, cards)


class Saying:
    """Always gives the same verdicts."""

    def __init__(self, *verdicts: Verdict) -> None:
        self.verdicts = verdicts

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        return list(self.verdicts)
