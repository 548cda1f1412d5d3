"""Small inline XBRL documents, read as XML or as browsers read HTML."""

from __future__ import annotations

from typing import Literal

from lxml import etree

Mode = Literal["xml", "html"]

_START = """<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/{version}/inlineXBRL"
 xmlns:ixt="http://www.xbrl.org/inlineXBRL/transformation/2020-02-12" xmlns:xbrli="http://www.xbrl.org/2003/instance"
 xmlns:xbrldi="http://xbrl.org/2006/xbrldi" xmlns:iso4217="http://www.xbrl.org/2003/iso4217"
 xmlns:money="http://www.xbrl.org/2003/iso4217" xmlns:acme="http://acme.example/2024"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><head><title>t</title></head><body>"""

DEFINITIONS = """<xbrli:context id="now"><xbrli:entity><xbrli:identifier scheme="cik">0000000007</xbrli:identifier>
</xbrli:entity><xbrli:period><xbrli:instant>2024-09-28</xbrli:instant></xbrli:period></xbrli:context>
<xbrli:context id="again"><xbrli:entity><xbrli:identifier scheme="cik">0000000007</xbrli:identifier>
</xbrli:entity><xbrli:period><xbrli:instant>2024-09-28</xbrli:instant></xbrli:period></xbrli:context>
<xbrli:context id="year"><xbrli:entity><xbrli:identifier scheme="cik">0000000007</xbrli:identifier></xbrli:entity>
<xbrli:period><xbrli:startDate>2023-10-01</xbrli:startDate><xbrli:endDate>2024-09-28</xbrli:endDate></xbrli:period>
</xbrli:context>
<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>
<xbrli:unit id="per"><xbrli:divide><xbrli:unitNumerator><xbrli:measure>iso4217:USD</xbrli:measure>
</xbrli:unitNumerator><xbrli:unitDenominator><xbrli:measure>xbrli:shares</xbrli:measure></xbrli:unitDenominator>
</xbrli:divide></xbrli:unit>"""


def document(
    body: str, mode: Mode = "xml", *, hidden: str = "", definitions: str = DEFINITIONS, version: str = "2013"
) -> etree._Element:
    """The root of a document with `body`, a header that holds `hidden` tags, contexts and units."""
    text = (
        _START.format(version=version)
        + f"""<div style="display:none"><ix:header><ix:hidden>{hidden}</ix:hidden>
        <ix:resources>{definitions}</ix:resources></ix:header></div>{body}</body></html>"""
    )
    parser = etree.XMLParser(remove_comments=True) if mode == "xml" else etree.HTMLParser(remove_comments=True)
    return etree.fromstring(text.encode(), parser)


def figure(printed: str = "5", attributes: str = "", *, name: str = "us-gaap:Assets", context: str = "now") -> str:
    """An `ix:nonFraction` in US dollars."""
    return f'<ix:nonFraction name="{name}" contextRef="{context}" unitRef="usd" {attributes}>{printed}</ix:nonFraction>'


def words(printed: str, attributes: str = "", *, name: str = "dei:Note", context: str = "year") -> str:
    """An `ix:nonNumeric`."""
    return f'<ix:nonNumeric name="{name}" contextRef="{context}" {attributes}>{printed}</ix:nonNumeric>'
