"""Cards say what a passage is about, field by field, from what reading its filing found."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from fin_agent.evidence.cards.card import Card, ClaimRole, EvidenceType, RiskSignal, Use
from fin_agent.evidence.cards.rule_based_abstraction import make_cards
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Note, Page, Statement, TableKind
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Row, Table

ANNUAL = Identity("Acme Tools, Inc.", Form.TEN_K, 2023, None, date(2023, 12, 31), 12)
QUARTERLY = Identity("Acme Tools, Inc.", Form.TEN_Q, 2023, 2, date(2023, 6, 30), 12)


def fact(metric: str | None, y: float, year: int, label: str = "", **fields: object) -> Fact:
    given = {"label": label or (metric or "Row"), "amount": Decimal(1234), "scale": 1_000_000, "unit": "USD"}
    rest = {"period": FactPeriod(year, None, 12), "page": 0, "box": Box(300, y, 340, y + 8), "metric": metric}
    return Fact(**(given | rest | {"line": int(y)} | fields))  # type: ignore[arg-type]


def filing(text: str, page: Page | None = None, identity: Identity = ANNUAL, **fields: object) -> Filing:
    passages = (Passage(0, 0, PassageKind.TEXT, text),)
    given = {"pages": (page or Page(0, text),), "passages": passages, "facts": ()}
    return Filing("acme", "acme.pdf", "0" * 64, identity, **(given | fields))  # type: ignore[arg-type]


def card(text: str, item: str | None = None, identity: Identity = ANNUAL, **fields: object) -> Card:
    return make_cards(filing(text, Page(0, text, item), identity, **fields))[0]


DISCUSSION = (
    "Results of Operations\nNet sales increased 8% to $5.2 billion in 2023, driven by higher volume in North America,\n"
    "partially offset by unfavorable foreign exchange. The decrease in gross margin in 2022 was primarily "
    "due to\nfreight."
)


def test_a_table_card_holds_the_facts_inside_its_box_and_no_others() -> None:
    boxes = Box(0, 0, 500, 100), Box(0, 100, 500, 200)
    quarter = FactPeriod(2023, 2, 3), FactPeriod(2022, 2, 3)
    made = filing(
        "Notes   follow\nbelow.",
        Page(0, "Sales", "1", Statement.INCOME, "Statements of Operations"),
        QUARTERLY,
        passages=(
            Passage(0, 0, PassageKind.TABLE, "Revenue | 5", boxes[0]),
            Passage(0, 1, PassageKind.TABLE, "Goodwill | 5", boxes[1]),
        ),
        facts=(
            fact("revenue", 50, 2023, period=quarter[0]),
            fact("revenue", 50, 2022, period=quarter[1]),
            fact("goodwill", 150, 2022),
        ),
    )  # fmt: skip
    first, second = make_cards(made)
    assert (first.metrics, first.time.periods) == (("revenue",), ("Q2 FY2023", "Q2 FY2022"))
    assert (second.metrics, second.time.periods) == (("goodwill",), ("FY2022",))
    assert first.evidence_type is EvidenceType.STATEMENT
    assert (first.basis.units, first.basis.scales) == (("USD",), (1_000_000,))
    assert Use.TREND in first.answers.uses
    assert Use.TREND not in second.answers.uses
    assert RiskSignal.UNAUDITED in first.risks


def test_discussion_of_changes_explains_and_names_metrics_periods_and_units() -> None:
    made = card(DISCUSSION, "7")
    assert made.role is ClaimRole.EXPLAINS
    assert made.evidence_type is EvidenceType.MIXED
    assert made.metrics[0] == "revenue"
    assert made.time.periods == ("FY2023", "FY2022")
    assert made.basis.units == ("USD", "percent")
    assert Use.EXPLANATION in made.answers.uses
    assert "driven by" in made.verifiability.cues


def test_spans_are_places_of_the_passage_s_text() -> None:
    made = card(DISCUSSION, "7")
    shown = {DISCUSSION[span.start : span.end].lower(): span.shows for span in made.spans}
    assert shown["net sales"] == "revenue"
    assert shown["driven by"] == "explains"
    assert [span.start for span in made.spans] == sorted(span.start for span in made.spans)


@pytest.mark.parametrize(
    ("item", "text", "role"),
    [
        ("1A", "Rivals could adversely affect our business; we may be unable to keep our customers.", ClaimRole.WARNS),
        ("1", "We operate stores and offer tools to our customers under our brands.", ClaimRole.DESCRIBES),
        ("3", "In March 2021 plaintiffs filed a class action complaint in the district court.", ClaimRole.TELLS_EVENT),
        ("9A", "Our disclosure controls and procedures were effective.", ClaimRole.SETS_POLICY),
        ("15", "10.1 Credit Agreement, incorporated by reference.", ClaimRole.FORMAL),
        ("cover", "Indicate by check mark whether the registrant is a shell company.", ClaimRole.FORMAL),
        (
            "7",
            "Critical Accounting Estimates\nRevenue is recognized when control passes. We evaluate goodwill for each "
            "reporting unit; the impairment test compares fair value. Significant judgment is needed.",
            ClaimRole.SETS_POLICY,
        ),
        (
            None,
            "Outlook\nFor the full year we expect earnings in the range of $2.10 to $2.20 and the company expects "
            "organic growth. This guidance does not change our long-term target.",
            ClaimRole.FORECASTS,
        ),
    ],
)  # fmt: skip
def test_the_role_follows_from_place_and_words(item: str | None, text: str, role: ClaimRole) -> None:
    assert card(text, item).role is role


def test_the_title_of_a_note_gives_heading_and_role() -> None:
    text = "Inventories are stated at the lower of cost and net realizable value.\nThey are carried at cost."
    page = Page(0, text, "8", note="1", title="running header of the page")
    note = Note("1", "Summary of Significant Accounting Policies", 0, 0)
    made = make_cards(filing(text, page, notes=(note,)))[0]
    assert (made.identity.note, made.identity.heading) == ("1", "Summary of Significant Accounting Policies")
    assert made.role is ClaimRole.SETS_POLICY
    assert Use.POLICY in made.answers.uses
    assert "Note 1 Summary of Significant Accounting Policies" in made.sketch


def test_figures_of_segments_only_are_of_parts_only() -> None:
    facts = tuple(
        fact("revenue", 10, 2023, "Net sales", statement=None, scope=scope, tied=False)
        for scope in ("Garden Tools", "Power Tools", "Level 2", "Thereafter")
    )
    box = Box(0, 0, 500, 100)
    passage, page = Passage(0, 0, PassageKind.TABLE, "x", box), Page(0, "", "8", kind=TableKind.SEGMENT)
    made = make_cards(filing("", page, passages=(passage,), facts=facts))[0]
    assert made.scope.parts == ("Garden Tools", "Power Tools")
    assert not made.scope.consolidated
    assert RiskSignal.PART_ONLY in made.risks
    assert Use.COMPARISON in made.answers.uses


def test_a_total_beside_the_parts_is_of_the_company() -> None:
    facts = tuple(fact("revenue", 10, 2023, scope=scope, tied=False) for scope in ("Garden Tools", "Consolidated"))
    made = make_cards(filing("revenue", Page(0, "revenue", "8", kind=TableKind.SEGMENT), facts=facts))[0]
    assert made.scope.consolidated
    assert RiskSignal.PART_ONLY not in made.risks


def test_facts_on_a_page_of_two_spans_belong_to_the_span_that_prints_them() -> None:
    spans = "Net sales\n1,234\n", "Goodwill\n1,234\n"
    passages = tuple(Passage(0, at, PassageKind.TEXT, text) for at, text in enumerate(spans))
    facts = fact("revenue", 10, 2023, "Net sales"), fact("goodwill", 90, 2023, "Goodwill")
    first, second = make_cards(filing("", passages=passages, facts=facts))
    assert (first.metrics, second.metrics) == (("revenue",), ("goodwill",))


def test_years_of_plans_laws_and_maturities_are_no_periods() -> None:
    made = card(
        "Under the 2019 Equity Plan, the Act of 2018 and ASU 2016-02 the notes due 2022 were paid in 2021.", "8"
    )
    assert made.time.periods == ("FY2021",)


def test_days_fall_into_the_filer_s_own_years() -> None:
    retailer = Identity("Acme", Form.TEN_K, 2022, None, date(2023, 1, 28), 1)
    made = card("Cash at January 28, 2023 and at January 29, 2022 was held in banks.", "7", retailer)
    assert made.time.periods == ("FY2022", "FY2021")
    assert made.time.dates == (date(2022, 1, 29), date(2023, 1, 28))


def test_a_quarter_s_filing_compares_quarters() -> None:
    text = "For the three months ended June 30, 2023 compared to 2022, and in the fourth quarter of 2021."
    assert card(text, "2", QUARTERLY).time.periods == ("Q2 FY2023", "Q2 FY2022", "Q4 FY2021")


def test_a_span_of_months_is_named_by_its_length() -> None:
    facts = (fact("revenue", 10, 2023, period=FactPeriod(2023, None, 6)), fact("revenue", 10, 2022))
    assert make_cards(filing("revenue", facts=facts))[0].time.periods == ("6 months FY2023", "FY2022")


def test_words_of_care_become_risk_signals() -> None:
    made = card(
        "Unaudited pro forma results, as previously reported: adjusted EBITDA of $3 million per diluted share.", "8"
    )
    assert {RiskSignal.UNAUDITED, RiskSignal.PRO_FORMA, RiskSignal.RESTATED, RiskSignal.NON_GAAP} <= set(made.risks)
    assert (made.basis.adjusted, made.basis.unaudited, made.basis.per_share) == (True, True, True)


def test_a_table_s_caption_is_its_heading_and_its_rows_are_its_signature() -> None:
    box = Box(0, 0, 500, 100)
    rows = tuple(Row(label, (), (), line, box) for line, label in enumerate(("Cash", "Inventories", "Cash")))
    table = Table(0, box, "See below. Current Assets by Kind:", "(in millions)", ("2023", "2022"), (None, None), rows)
    passage = Passage(0, 0, PassageKind.TABLE, "Cash | 1", box)
    made = make_cards(filing("", Page(0, "", "8"), passages=(passage,), tables=(table,)))[0]
    assert made.identity.heading == "Current Assets by Kind"
    signature = made.verifiability.table
    assert signature is not None
    assert (signature.rows, signature.columns, signature.labels) == (3, ("2023", "2022"), ("Cash", "Inventories"))
    assert "Cash, Inventories" in made.sketch
    assert RiskSignal.UNCERTAIN_PERIOD in made.risks


def test_parent_company_pages_are_no_figures_of_the_company() -> None:
    facts = (fact("revenue", 10, 2023, scope="Parent company only"),)
    made = make_cards(filing("revenue", Page(0, "revenue", "15", kind=TableKind.PARENT_ONLY), facts=facts))[0]
    assert RiskSignal.PARENT_ONLY in made.risks
    assert not made.scope.consolidated


def test_a_sketch_is_one_line_with_item_heading_and_sentence() -> None:
    sketch = card(DISCUSSION, "7").sketch
    assert sketch.startswith("MD&A > Results of Operations: Net sales increased 8% to $5.2 billion")
    assert "\n" not in sketch
    assert len(sketch) <= 240
