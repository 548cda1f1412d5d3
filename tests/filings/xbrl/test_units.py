from __future__ import annotations

import pytest

from fin_agent.filings.xbrl.tags import read_tags
from tests.filings.xbrl.documents import Mode, document, figure


@pytest.mark.parametrize("mode", ["xml", "html"])
@pytest.mark.parametrize(
    ("measures", "unit"),
    [
        ("<xbrli:measure>iso4217:USD</xbrli:measure>", "USD"),
        ("<xbrli:measure> iso4217:EUR </xbrli:measure>", "EUR"),
        ("<xbrli:measure>xbrli:shares</xbrli:measure>", "shares"),
        ("<xbrli:measure>xbrli:pure</xbrli:measure>", "pure"),
        ("<xbrli:measure>acme:Vehicle</xbrli:measure>", "acme:Vehicle"),
        (
            "<xbrli:divide><xbrli:unitNumerator><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unitNumerator>"
            "<xbrli:unitDenominator><xbrli:measure>utr:bbl</xbrli:measure></xbrli:unitDenominator></xbrli:divide>",
            "USD/bbl",
        ),
        ("<xbrli:measure>utr:h</xbrli:measure><xbrli:measure>utr:W</xbrli:measure>", "W*h"),
    ],
)
def test_units(mode: Mode, measures: str, unit: str) -> None:
    definitions = f'<xbrli:unit id="usd">{measures}</xbrli:unit>'
    assert read_tags(document(figure(), mode, definitions=definitions)).tags[0].unit == unit


def test_a_unit_without_a_measure_is_unknown() -> None:
    tag = read_tags(document(figure(context="now"), definitions='<xbrli:unit id="usd"/>')).tags[0]
    assert (tag.unit, tag.flags) == ("", ("unknown context", "unknown unit"))
