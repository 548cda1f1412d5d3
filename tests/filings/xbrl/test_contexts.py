from __future__ import annotations

from datetime import date

import pytest

from fin_agent.filings.xbrl.tags import Context, read_day, read_tags
from tests.filings.xbrl.documents import Mode, document, figure

both_modes = pytest.mark.parametrize("mode", ["xml", "html"])

ENTITY = '<xbrli:identifier scheme="http://www.sec.gov/CIK">0000000007</xbrli:identifier>'
INSTANT = "<xbrli:period><xbrli:instant>2024-09-28</xbrli:instant></xbrli:period>"


def members(entity: str, mode: Mode, after: str = "") -> tuple[tuple[str, str], ...]:
    context = f'<xbrli:context id="now"><xbrli:entity>{entity}</xbrli:entity>{INSTANT}{after}</xbrli:context>'
    return read_tags(document(figure(), mode, definitions=context)).tags[0].members


@both_modes
def test_members_are_read_from_segment_and_scenario_and_sorted(mode: Mode) -> None:
    segment = """<xbrli:segment><xbrldi:explicitMember dimension="srt:ProductOrServiceAxis">us-gaap:ServiceMember
        </xbrldi:explicitMember></xbrli:segment>"""
    scenario = """<xbrli:scenario><xbrldi:typedMember dimension="acme:StartAxis"><acme:Start>2024-09-29</acme:Start>
        </xbrldi:typedMember></xbrli:scenario>"""
    assert members(ENTITY + segment, mode, scenario) == (
        ("acme:StartAxis", "2024-09-29"),
        ("srt:ProductOrServiceAxis", "us-gaap:ServiceMember"),
    )


@both_modes
def test_what_stands_in_a_segment_without_an_axis_still_sets_the_context_apart(mode: Mode) -> None:
    found = members(f"{ENTITY}<xbrli:segment><acme:Store>North</acme:Store></xbrli:segment>", mode)
    assert [(axis.lower(), member) for axis, member in found] == [("acme:store", "North")]


@both_modes
@pytest.mark.parametrize(
    ("period", "start", "end"),
    [
        ("<xbrli:forever/>", None, None),
        ("<xbrli:instant>2024-09-28T00:00:00</xbrli:instant>", None, date(2024, 9, 27)),
        (
            "<xbrli:startDate>2024-01-01T00:00:00</xbrli:startDate><xbrli:endDate>2025-01-01T00:00:00</xbrli:endDate>",
            date(2024, 1, 1),
            date(2024, 12, 31),
        ),
        ("<xbrli:instant>soon</xbrli:instant>", None, None),
    ],
)
def test_periods(mode: Mode, period: str, start: date | None, end: date | None) -> None:
    context = f'<xbrli:context id="now"><xbrli:period>{period}</xbrli:period></xbrli:context>'
    tag = read_tags(document(figure(), mode, definitions=context)).tags[0]
    assert (tag.start, tag.end) == (start, end)
    assert "unknown context" not in tag.flags


@pytest.mark.parametrize(
    ("printed", "closing", "day"),
    [
        ("2024-09-28", True, date(2024, 9, 28)),
        (" 2024-09-28 ", False, date(2024, 9, 28)),
        ("2024-09-28T23:59:59", True, date(2024, 9, 28)),
        ("2024-09-28T00:00:00.000Z", True, date(2024, 9, 27)),
        ("2024-09-28T24:00:00", True, date(2024, 9, 28)),
        ("2024-09-28T24:00:00", False, date(2024, 9, 29)),
        ("2024-02-30", True, None),
        ("0001-01-01T00:00:00", True, None),
        ("28/09/2024", True, None),
    ],
)
def test_days(printed: str, closing: bool, day: date | None) -> None:
    assert read_day(printed, closing) == day


def test_contexts_of_equal_content_are_equal() -> None:
    assert Context(date(2024, 9, 28)) == Context(date(2024, 9, 28))
    assert Context(date(2024, 9, 28)) != Context(date(2024, 9, 28), members=(("a:X", "b:Y"),))
