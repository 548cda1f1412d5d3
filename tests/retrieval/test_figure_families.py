"""Families: what the parts of a company have, without sums and eliminations."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.retrieval.fact_search import FactQuery
from fin_agent.retrieval.figure_families import COMPONENT, Family, find_family, is_remainder
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace


class OneFiling:
    """An index of one filing."""

    def __init__(self, facts: list[SourcedFact]) -> None:
        self._facts = facts

    def entries(self) -> tuple[()]:
        return ()

    def facts(self, doc_ids: Any, *, pages: Any = None, years: Any = None) -> list[SourcedFact]:
        facts = [each for each in self._facts if pages is None or each.key in pages]
        return [each for each in facts if years is None or each.fact.period.fiscal_year in years]

    def pages(self, keys: Any) -> list[Any]:
        return []


def workspace(*facts: SourcedFact) -> Workspace:
    company = SimpleNamespace(key="acme", name="Acme", doc_ids=("a",))
    directory = SimpleNamespace(
        by_key={"acme": company}, identities={"a": Identity("Acme", Form.TEN_K, fiscal_year=2023)}
    )
    index = OneFiling(list(facts))
    return cast(Workspace, SimpleNamespace(index=index, directory=directory, lexicon=load_lexicon()))


def rows(section: str, year: int = 2023, page: int = 0, **amounts: int) -> list[SourcedFact]:
    """A table with a row for each part."""
    return [
        SourcedFact(
            "a",
            Fact(
                name,
                Decimal(amount),
                1,
                "USD",
                FactPeriod(year, None, 12),
                page,
                Box(0, line, 1, line + 1),
                section=(section,),
                scope=name,
                line=line,
                column=str(year),
            ),
        )
        for line, (name, amount) in enumerate(amounts.items())
    ]


def whole(label: str, amount: int, year: int = 2023) -> SourcedFact:
    period = FactPeriod(year, None, 12)
    return SourcedFact(
        "a", Fact(label, Decimal(amount), 1, "USD", period, 9, Box(0, 0, 1, 1), statement=Statement.INCOME)
    )


def found(*facts: SourcedFact, phrase: str = "net sales", **asked: Any) -> Family:
    part = asked.pop("part", None)
    return find_family(workspace(*facts), FactQuery(phrase, 2023, part=part), "acme", **asked).best or Family()


def names(made: Family) -> list[str]:
    return [member.name for member in made.members]


def test_parts_in_the_order_of_the_table_and_the_whole_that_they_add_up_to() -> None:
    made = found(*rows("Net sales by segment", Marine=60, Garden=30, Tools=10), whole("Net sales", 100))
    assert names(made) == ["Marine", "Garden", "Tools"] and made.sums_to_whole() and made.kind == "segment"
    assert [member.name for member in made.ranked()] == ["Marine", "Garden", "Tools"]
    assert made.total[0].fact.label == "Net sales"


def test_totals_and_subtotals_are_known_by_their_sums_whatever_they_are_called() -> None:
    made = found(
        *rows("Net sales", Marine=60, Garden=30, Outdoors=90, Tools=10, Everything=100), whole("Net sales", 100)
    )
    assert names(made) == ["Marine", "Garden", "Tools"]
    assert dict(made.dropped) == {"Outdoors": "a sum of others"}
    assert made.total[0].fact.label == "Everything" and made.printed_total


def test_what_is_taken_off_sales_is_an_elimination_and_a_loss_is_none() -> None:
    sales = found(*rows("Net sales", Marine=60, Garden=50, Between=-10), whole("Net sales", 100))
    assert names(sales) == ["Marine", "Garden"] and "elimination" in sales.dropped[0][1]
    results = found(
        *rows("Operating income", Marine=60, Garden=50, Labs=-10),
        whole("Operating income", 100),
        phrase="operating income",
    )
    assert names(results) == ["Marine", "Garden", "Labs"]


def test_a_family_is_not_a_piece_of_another() -> None:
    measure = "awarded signed funded priced scheduled staffed insured permitted backlog"
    piece = rows(measure, page=0, Marine=60, Garden=30)
    all_of_them = rows(f"{measure} reconciled", page=1, Marine=60, Garden=30, Tools=10)
    assert names(found(*piece, *all_of_them, phrase=measure)) == ["Marine", "Garden", "Tools"]
    others = rows(f"{measure} reconciled", page=1, Marine=75, Garden=30, Tools=10)
    assert names(found(*piece, *others, phrase=measure)) == ["Marine", "Garden"]


def test_products_and_services_are_no_rivals_of_the_products_beside_them() -> None:
    coarse = rows("Net sales by product", page=0, Products=60, Services=40)
    fine = rows("Net sales by product", page=1, Phones=45, Tablets=15, Services=40)
    result = find_family(
        workspace(*coarse, *fine, whole("Net sales", 100)), FactQuery("net sales", 2023), "acme", kind="product"
    )
    assert result.is_sure and names(result.best or Family()) == ["Phones", "Tablets", "Services"]


def test_a_segment_called_business_is_no_remainder() -> None:
    assert not is_remainder("Business") and not is_remainder("Products")
    assert is_remainder("All other countries") and is_remainder("Total segments")


def test_members_need_a_figure_of_every_period() -> None:
    made = found(
        *rows("Net sales", Marine=60, Garden=30, Tools=10),
        *rows("Net sales", 2022, Marine=40, Garden=25),
        whole("Net sales", 100),
        whole("Net sales", 65, 2022),
        periods=(FiscalPeriod(fiscal_year=2022), FiscalPeriod(fiscal_year=2023)),
    )
    assert names(made) == ["Marine", "Garden"] and made.dropped == (("Tools", "no figure of every period"),)


def test_a_sample_chooses_among_families_and_so_does_a_kind() -> None:
    tables = [
        *rows("Net sales by segment", Marine=60, Garden=40),
        *rows("Net sales by country", page=1, France=70, Japan=30),
        whole("Net sales", 100),
    ]
    assert names(found(*tables, part="Japan")) == ["France", "Japan"]
    assert names(found(*tables, kind="region")) == ["France", "Japan"]
    assert names(found(*tables, kind="segment")) == ["Marine", "Garden"]
    assert found(*tables, kind="customer") == Family()


def test_regions_in_rows_go_before_segments_in_columns_of_one_table() -> None:
    amounts = {"North America": (40, 25, 65), "Europe": (20, 15, 35), "Net sales": (60, 40, 100)}
    facts = [
        replace(
            each,
            fact=replace(
                each.fact,
                line=line,
                box=Box(left, line, left + 1, line + 1),
                column_path=(segment,),
                caption="By region",
            ),
        )
        for left, segment in enumerate(("Flexibles", "Rigids", "Total"))
        for line, name in enumerate(amounts)
        for each in rows("Net sales", **{name: amounts[name][left]})
    ]
    made = find_family(workspace(*facts, whole("Net sales", 100)), FactQuery("net sales", 2023), "acme", kind="region")
    assert made.is_sure and made.best is not None and names(made.best) == ["North America", "Europe"]


def test_rows_with_a_bare_total_are_components_only_of_the_figure_that_it_is() -> None:
    def components(total: int) -> Family:
        facts = rows("Other income", **{"Interest earned": 40, "Gains": 20, "Total": 60})
        made = find_family(
            workspace(*facts, whole("Other income", total)), FactQuery("other income", 2023), "acme", kind=COMPONENT
        )
        return made.best or Family()

    assert names(components(60)) == ["Interest earned", "Gains"]
    assert components(30) == Family()


def test_a_title_at_the_end_of_a_paragraph_names_a_part() -> None:
    above = "Revenue excludes the effect of all derivative and other financial instruments. "
    captions = {f"{above}North America": 40, "Europe": 20, "Asia Pacific": 10}
    facts = [
        replace(each, fact=replace(each.fact, caption=caption, line=9 * place, label="Paid memberships"))
        for place, (caption, amount) in enumerate(captions.items())
        for each in rows("", memberships=amount)
    ]
    made = find_family(workspace(*facts), FactQuery("paid memberships", 2023), "acme", kind="region")
    assert made.best is not None and names(made.best) == ["North America", "Europe", "Asia Pacific"]


def test_sentences_and_columns_of_changes_are_no_regions() -> None:
    changes = rows("Comparable sales by region", **{"Sales increase": 4, "% Change": 8, "Sales decrease": 3})
    assert found(*changes, phrase="comparable sales", kind="region") == Family()
    told = [
        replace(each, fact=replace(each.fact, source="text"))
        for each in rows("Net sales by region", **{"Sales rose in Europe": 40, "Sales rose in Asia": 20})
    ]
    assert found(*told, kind="region") == Family()


def test_segments_in_columns_by_their_tags() -> None:
    def tagged(name: str, amount: int, left: int) -> SourcedFact:
        member = ("us-gaap:StatementBusinessSegmentsAxis", f"acme:{name}Member")
        tag = Tag("us-gaap:Revenues", Decimal(amount), str(amount), "c", None, members=(member,))
        return SourcedFact(
            "a",
            Fact(
                "Sales", Decimal(amount), 1, "USD", FactPeriod(2023, None, 12), 3, Box(left, 0, left + 1, 1),
                scope=name, column=name, tag=tag, metric="revenue",
            ),
        )  # fmt: skip

    made = found(tagged("Marine", 60, 0), tagged("Garden", 40, 1), phrase="revenue")
    assert names(made) == ["Marine", "Garden"] and made.kind == "segment" and not made.sums_to_whole()


def test_rows_of_costs_under_the_name_of_a_result_are_no_segments() -> None:
    lines = [
        replace(each, fact=replace(each.fact, metric=metric))
        for each, metric in zip(
            rows("Contribution margin of the segment", Fees=120, Marketing=80),
            ("cost_of_revenue", "marketing_expense"),
            strict=True,
        )
    ]
    asked = {"phrase": "contribution margin", "kind": "segment"}
    assert names(found(*rows("Contribution margin of the segment", Fees=120, Marketing=80), **asked))
    assert found(*lines, **asked) == Family()


def test_tables_of_the_periods_own_report_come_before_later_divisions() -> None:
    later = [replace(each, doc_id="b") for each in rows("Net sales by segment", page=1, North=70, South=30)]
    own = rows("Net sales of the segments and others", East=60, West=40)
    space = workspace(*own, *later)
    space.directory.by_key["acme"].doc_ids = ("a", "b")  # type: ignore[misc]
    space.directory.identities["b"] = Identity("Acme", Form.TEN_K, fiscal_year=2024)  # type: ignore[index]
    best = find_family(space, FactQuery("net sales", 2023), "acme", kind="segment").best
    assert best is not None
    assert names(best) == ["East", "West"]


def test_where_regions_are_asked_for_what_names_no_place_is_none() -> None:
    table = rows("Net sales", Europe=5, Japan=3, Greater_China=4, Corvase=2)
    assert "Corvase" not in names(found(*table, kind="region"))
    assert "Corvase" in names(found(*table))


def test_an_adjustment_is_no_segment_except_among_adjustments() -> None:
    table = rows("Net sales", Tools=5, Paints=3, Toys=4)
    adjusted = rows("Net sales", Tools=5, Paints=3, Toys=4, Pension_cost_adjustment=2)
    assert names(found(*adjusted, kind="segment")) == names(found(*table, kind="segment"))
    assert len(names(found(*rows("Net sales", Tax_adjustment=5, Price_adjustment=3)))) == 2
    moved = rows("Net sales", Tools=50, Paints=30, Toys=40, Impact_of_currency=-9)
    assert names(found(*moved, kind="segment")) == names(found(*table, kind="segment"))


def test_a_product_may_be_called_as_what_is_measured() -> None:
    clouds = rows("Revenue by product", Service=5, Sales=4, Commerce=3)
    assert sorted(names(found(*clouds, kind="product"))) == ["Commerce", "Sales", "Service"]
    totals = rows("Revenue by product", Service=5, Commerce=3, Sales=9)
    assert sorted(names(found(*totals, kind="product"))) == ["Commerce", "Service"]


def test_of_tables_that_fit_about_as_well_the_one_with_as_many_members_is_taken() -> None:
    three, four = rows("Net sales", Tools=5, Paints=3, Toys=4), rows("Net sales", page=3, Oak=2, Elm=4, Ash=3, Fir=3)
    space = workspace(*three, *four)
    query = FactQuery("net sales", 2023, metric="revenue")
    for count in (3, 4):
        family = find_family(space, query, "acme", count=count).best
        assert family is not None and len(family.members) == count


def test_another_measure_of_the_same_parts_is_taken_from_the_page_of_the_first() -> None:
    statement = rows("Net sales by segment", page=0, Marine=60, Garden=40)
    note = rows("Segment net sales", page=5, Marine=64, Garden=41)
    space = workspace(
        *statement, *note, *rows("Segment operating income", page=5, Marine=9, Garden=2), whole("Net sales", 100)
    )
    income = find_family(space, FactQuery("segment operating income", 2023), "acme", kind="segment").best
    assert income is not None and income.page == ("a", 5)
    sales = find_family(
        space, FactQuery("net sales", 2023, metric="revenue"), "acme", kind="segment", beside=income.table
    )
    assert sales.best is not None and sales.best.member_named("Marine").value() == 64  # type: ignore[union-attr]


def test_words_beside_a_kind_are_in_the_table() -> None:
    by_site = rows("Net sales by billing location", Oslo=60, Lima=40)
    assert names(found(*by_site, whole("Net sales", 100), kind="billing location")) == ["Oslo", "Lima"]
    assert not found(*by_site, whole("Net sales", 100), kind="shipping location").members


def test_balances_at_a_day_do_not_divide_a_flow() -> None:
    at_year_end = [
        SourcedFact("a", replace(each.fact, period=FactPeriod(2023, None, 0)))
        for each in rows("Translated earnings contracts", Won=5, Yen=3)
    ]
    assert found(*at_year_end, phrase="net income", kind="segment") == Family()
    assert names(found(*rows("Net income", East=5, West=3), phrase="net income", kind="segment")) == ["East", "West"]


def test_a_row_called_as_what_is_asked_for_is_no_member() -> None:
    table = rows("Electric revenues", **{"Customers (average for the year)": 5, "Deliveries (in GWh)": 3})
    assert found(*table, phrase="electric revenues", kind="customer") == Family()
