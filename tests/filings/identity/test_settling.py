"""Of several readings of a field the best supported is taken, and the others stay visible."""

from __future__ import annotations

from datetime import date

import pytest

from fin_agent.filings.identity.cover import Kind, reading, same_company
from fin_agent.filings.identity.identify import best_value, ranked_readings, resolve_identity
from fin_agent.vocabulary.identity import FieldSource, Form
from tests.filings.identity.written_covers import cover, read


def test_values_get_the_types_of_their_fields() -> None:
    found = resolve_identity(
        [
            reading("company", "Harbor, Inc.", Kind.COVER, "Harbor,  Inc.\n(Exact name)", 0),
            reading("form", Form.TEN_Q, Kind.COVER),
            reading("fiscal_year", 2022, Kind.FROM_END),
            reading("period_end", date(2022, 6, 30), Kind.COVER),
            reading("amended", "true", Kind.COVER),
            reading("other_names", "Harbor; Quay", Kind.SENTENCE),
        ]
    )
    assert (found.company, found.form, found.fiscal_year) == ("Harbor, Inc.", Form.TEN_Q, 2022)
    assert (found.period_end, found.amended, found.other_names) == (date(2022, 6, 30), True, ("Harbor", "Quay"))
    assert found.sources[0].printed == "Harbor, Inc. (Exact name)"


def test_the_surer_reading_wins_and_two_outvote_one() -> None:
    one, other = reading("fiscal_year", 2021, Kind.FOCUS), reading("fiscal_year", 2022, Kind.SENTENCE)
    assert best_value([one, other], "fiscal_year") == "2022"
    assert best_value([one, other, reading("fiscal_year", 2021, Kind.COUNTED)], "fiscal_year") == "2021"
    ranked = ranked_readings([one, other])
    assert [source.value for source in ranked] == ["2022", "2021"]


def test_of_equals_the_first_is_taken() -> None:
    readings = [reading("form", Form.TEN_K, Kind.TAG), reading("form", Form.TEN_Q, Kind.COVER)]
    assert best_value(readings, "form") == "10-K"
    assert best_value(readings[::-1], "form") == "10-Q"


def test_the_same_origin_does_not_vote_twice() -> None:
    counted = [reading("fiscal_year", 2021, Kind.COUNTED, words) for words in ("a", "b", "c")]
    assert len(ranked_readings(counted)) == 1
    assert best_value([*counted, reading("fiscal_year", 2022, Kind.COVER)], "fiscal_year") == "2022"


def test_a_name_in_capitals_is_no_conflict() -> None:
    found = resolve_identity(
        [reading("company", "Harbor, Inc.", Kind.COVER), reading("company", "HARBOR INC", Kind.SIGNATURE)]
    )
    assert found.company == "Harbor, Inc."
    assert len(found.sources) == 2
    assert not found.conflicts()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("COCA COLA CO", "The Coca-Cola Company", True),
        ("AMAZON COM INC", "Amazon.com, Inc.", True),
        ("AT&B Inc", "AT AND B, INC.", True),
        ("BANK OF THE LAKE CORP /DE/", "Bank of the Lake Corporation", True),
        ("Lark Power Company", "Lark Gas Company", False),
        ("Lark Holdings, Inc.", "Lark, Inc.", False),
        ("Company, Inc.", "Inc.", False),
    ],
)
def test_names_of_the_same_company(one: str, other: str, same: bool) -> None:
    assert same_company(one, other) is same
    assert same_company(other, one) is same


def test_every_field_has_its_source() -> None:
    signed = (
        "SIGNATURES\nPursuant to the requirements of the Act, thereunto duly authorized.\nHARBOR TOOL WORKS, INC.\n"
    )
    found = read(cover(form="FORM 10-K/A"), "Harbor.", signed + "Date: February 20, 2023\nBy: /s/ Anna Bee")
    where: dict[str, list[FieldSource]] = {}
    for one in found.sources:
        where.setdefault(one.field, []).append(one)
    assert set(where) == {
        "company", "form", "fiscal_year", "period_end", "fiscal_year_end_month", "filed", "ticker", "file_number",
        "employer_id", "amended",
    }  # fmt: skip
    for field, sources in where.items():
        value = getattr(found, field)
        assert sources[0].value in (str(value), str(value).lower())
        assert all(0.5 < one.confidence < 1 for one in sources)
        assert all(one.printed for one in sources)
    assert [(one.page, one.printed) for one in where["filed"]] == [(2, "Date: February 20, 2023")]
    assert [one.page for one in where["company"]] == [0, 2]
    assert where["ticker"][0].printed == "HTW New York"
