from __future__ import annotations

from fin_agent.query.tree import Line, Move, Number, Operation, Query, lines_of, measure_text, percentage, share_of

REVENUE = Line(words="revenue", metric="revenue")
CAPEX = Line(words="capital expenditures", metric="capital_expenditures", shift=-1)


def test_a_query_survives_json() -> None:
    measure = Operation(
        operator="/",
        left=Operation(operator="-", left=REVENUE, right=Number(value=1000)),
        right=Move(of=CAPEX, how="growth"),
    )
    query = Query(question="?", measures=(measure,))
    assert Query.model_validate_json(query.model_dump_json()) == query
    assert list(lines_of(measure)) == [REVENUE, CAPEX]


def test_a_measure_is_written_with_the_fewest_parentheses() -> None:
    total = Operation(operator="+", left=REVENUE, right=CAPEX)
    assert measure_text(Operation(operator="/", left=total, right=Number(value=7))) == (
        "(revenue + prior capital expenditures) / 7"
    )
    assert (
        measure_text(Operation(operator="-", left=REVENUE, right=total))
        == "revenue - (revenue + prior capital expenditures)"
    )


def test_a_part_is_that_of_the_part_and_never_of_the_whole() -> None:
    staff = Line(words="headcount", metric="employees")
    here = staff.model_copy(update={"part": "U.S."})
    assert share_of(percentage(staff, here.model_copy(update={"whole": True}))) == (
        here,
        staff.model_copy(update={"whole": True}),
    )
    assert share_of(percentage(here, staff)) == (here, staff)
    assert share_of(percentage(REVENUE, here)) == (REVENUE, here)
