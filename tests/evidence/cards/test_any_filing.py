"""Whatever a filing holds, every passage gets a card of bounded size that survives being stored."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.cards.rule_based_abstraction import make_cards
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page, Statement, TableKind
from fin_agent.vocabulary.place import Box

MOST_BYTES = 12_000

texts = st.one_of(
    st.text(max_size=400),
    st.text(alphabet="İß́﷽Ⅳ٣²½ \u00a0\u2028\u200b“”’—$%.,2019 fiscal quarter Q3 revenue due to\n", max_size=400),
    st.lists(
        st.sampled_from([
            "Net sales", "increased 8%", "due to", "fiscal 2022", "December 31, 2021", "Q2 2020", "$5 million", ".",
            "\n", "February 30, 2020", "(in millions)", "we expect", "non-GAAP", "9/31/2019", "FY99",
        ]),
        max_size=60,
    ).map(" ".join),
)  # fmt: skip
periods = st.builds(
    FactPeriod, st.integers(1900, 2100), st.sampled_from([None, 1, 2, 3, 4]), st.sampled_from([0, 3, 6, 9, 12])
)
facts = st.builds(
    Fact,
    label=st.text(max_size=30),
    amount=st.decimals(allow_nan=False, allow_infinity=False, places=2),
    scale=st.sampled_from([1, 1_000, 1_000_000]),
    unit=st.sampled_from(["USD", "percent", "shares", ""]),
    period=periods,
    page=st.integers(0, 2),
    box=st.just(Box(0, 10, 20, 20)),
    metric=st.sampled_from([None, "revenue", "goodwill"]),
    scope=st.one_of(st.none(), st.text(max_size=80)),
    tied=st.booleans(),
)
identities = st.builds(
    Identity,
    company=st.text(max_size=20),
    form=st.sampled_from(list(Form)),
    fiscal_year=st.sampled_from([None, 2022]),
    quarter=st.sampled_from([None, 2]),
    period_end=st.sampled_from([None, date(2022, 6, 30)]),
    fiscal_year_end_month=st.sampled_from([None, 6, 12]),
)
pages = st.builds(
    Page,
    number=st.integers(0, 2),
    text=texts,
    item=st.sampled_from([None, "cover", "1A", "7", "II-1A", "5.07", "99"]),
    statement=st.sampled_from([None, *Statement]),
    title=texts,
    kind=st.sampled_from([None, *TableKind]),
    note=st.sampled_from([None, "3"]),
)
passages = st.tuples(st.integers(0, 2), st.sampled_from(list(PassageKind)), texts)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(identities, st.lists(pages, max_size=3), st.lists(passages, max_size=4), st.lists(facts, max_size=5))
def test_every_passage_gets_a_card_of_bounded_size_that_survives_being_stored(
    identity: Identity, pages: list[Page], drawn: list[tuple[int, PassageKind, str]], facts: list[Fact]
) -> None:
    passages = tuple(
        Passage(page, ordinal, kind, text, Box(0, 0, 100, 100) if kind is PassageKind.TABLE else None)
        for ordinal, (page, kind, text) in enumerate(sorted(drawn, key=lambda passage: passage[0]))
    )
    filing = Filing("acme", "acme.pdf", "0" * 64, identity, tuple(pages), passages, tuple(facts))
    cards = make_cards(filing)
    assert [card.identity.ordinal for card in cards] == [passage.ordinal for passage in passages]
    assert cards == make_cards(filing)
    for card, passage in zip(cards, passages, strict=True):
        stored = card.model_dump_json(exclude_defaults=True)
        assert Card.model_validate_json(stored) == card
        assert len(stored) < MOST_BYTES
        assert len(card.sketch) <= 240
        assert len(card.sketch.splitlines()) <= 1
        assert all(0 <= span.start < span.end <= len(passage.text) for span in card.spans)
        assert len(card.spans) <= 12


@pytest.mark.parametrize(
    "text",
    ["", "   ", "1 2 3 4 5 6 7 8 9", "x" * 50_000, "2021 " * 10_000, "$5 million. " * 4_000, "Q1 2022 due to " * 3_000],
)
def test_pages_of_nothing_of_digits_and_of_one_endless_line(text: str) -> None:
    passages = Passage(0, 0, PassageKind.TEXT, text), Passage(0, 1, PassageKind.TABLE, text, Box(0, 0, 9, 9))
    pages = (Page(0, text, "7"),)
    filing = Filing("acme", "acme.pdf", "0" * 64, Identity("Acme", Form.TEN_K, 2022), pages, passages, ())
    for card in make_cards(filing):
        assert len(card.model_dump_json(exclude_defaults=True)) < MOST_BYTES
        assert len(card.sketch) <= 240


def test_a_table_of_endless_labels_has_a_small_card() -> None:
    many = tuple(
        Fact("long label " * 40, Decimal(at), 1, "USD", FactPeriod(1990 + at % 40, None, 12), 0, Box(0, 5, 9, 9),
             scope=f"Region {at} " * 9)
        for at in range(500)
    )  # fmt: skip
    passage = Passage(0, 0, PassageKind.TABLE, "long label | 5\n" * 900, Box(0, 0, 9, 9))
    filing = Filing("acme", "acme.pdf", "0" * 64, Identity("Acme", Form.TEN_K, 2022), (Page(0, ""),), (passage,), many)
    card = make_cards(filing)[0]
    assert len(card.model_dump_json(exclude_defaults=True)) < MOST_BYTES
    assert len(card.time.periods) == 12
