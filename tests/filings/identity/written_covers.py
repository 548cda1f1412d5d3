"""Covers of filings as they look, written for tests; their companies do not exist."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from fin_agent.filings.identity.identify import identify
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.identity import FieldSource, Identity
from fin_agent.vocabulary.page import PageContent

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
COMMISSION = "UNITED STATES\nSECURITIES AND EXCHANGE COMMISSION\nWashington, D.C. 20549\n"
FILLER = "Indicate by check mark whether the registrant is a well-known seasoned issuer. Yes ☒ No ☐\n" * 4


def read(*texts: str, tags: Sequence[Tag] = ()) -> Identity:
    return identify([PageContent(number, 612.0, 792.0, text, ()) for number, text in enumerate(texts)], tags)


def sources_of(identity: Identity, field: str) -> list[FieldSource]:
    return [one for one in identity.sources if one.field == field]


def cover(
    name: str = "HARBOR TOOL WORKS, INC.",
    form: str = "FORM 10-K",
    period: str = "For the fiscal year ended December 31, 2022",
    number: str = "001-04321",
    symbol: str = "HTW",
    boxes: str = "☒☐",
    transition: str = "For the transition period from        to        ",
) -> str:
    kind = "ANNUAL" if "K" in form else "QUARTERLY"
    return (
        f"{COMMISSION}{form}\n(Mark One)\n{boxes[0]} {kind} REPORT PURSUANT TO SECTION 13 OR 15(d)\n{period}\nOR\n"
        f"{boxes[1]} TRANSITION REPORT PURSUANT TO SECTION 13 OR 15(d)\n{transition}\n"
        f"Commission File Number {number}\n{name}\n(Exact name of registrant as specified in its charter)\n"
        "Delaware\n12-3456789\n(State or other jurisdiction of incorporation)\n(I.R.S. Employer Identification No.)\n"
        "1 Quay Road, Salem, Ohio 44460\n(Address of principal executive offices)\n(330) 555-0100\n"
        "Securities registered pursuant to Section 12(b) of the Act:\nTitle of each class\nTrading Symbol(s)\n"
        f"Name of each exchange on which registered\nCommon Stock, par value $0.01 per share\n{symbol}\n"
        f"New York Stock Exchange\n{FILLER}"
    )


def current_report(event: str, name: str = "Harbor Tool Works, Inc.") -> str:
    return (
        f"{COMMISSION}FORM 8-K\nCURRENT REPORT\nPursuant to Section 13 or 15(d)\n{event}\n{name}\n"
        "(Exact name of registrant as specified in its charter)\nDelaware\n1-4321\n12-3456789\n"
        f"(Commission File Number)\nN/A\n(Former name or former address, if changed since last report)\n{FILLER}"
    )


def spoken(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"
