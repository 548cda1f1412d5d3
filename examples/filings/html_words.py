"""Tags the words that fill a template: facts of the cover, and amounts in the running text of notes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from html import escape

from html_tables import CONCEPTS
from html_tagging import Period, Tagger

OPEN, MIDDLE, CLOSE = "\ue010", "\ue011", "\ue012"
WORD = f"{OPEN}(\\w+){MIDDLE}(.*?){CLOSE}"
"""A word of a template with its name, as it stands until it is tagged."""
ON_COVER = {
    "name": "dei:EntityRegistrantName",
    "file_number": "dei:EntityFileNumber",
    "employer_id": "dei:EntityTaxIdentificationNumber",
    "ticker": "dei:TradingSymbol",
}
SUFFIXES = ("_prior", "_before")
BOXES = {
    0: "Document{kind}Report",
    1: "DocumentTransitionReport",
    11: "EntitySmallBusiness",
    12: "EntityEmergingGrowthCompany",
    13: "EntityShellCompany",
}
"""Check boxes of the cover that are tagged, by their order."""
STATES = {"Delaware": "DE", "California": "CA", "Ohio": "OH", "Maine": "ME", "Tennessee": "TN"}


def marked(name: str, value: str) -> str:
    """The value with its name around it where it may be tagged."""
    base = name.removesuffix("_prior").removesuffix("_before")
    others = ("period_end", "state", "phone", "address", "exchange", "shares_outstanding", "market_value")
    taggable = name in ON_COVER or name in others or base in CONCEPTS["words"]
    return f"{OPEN}{name}{MIDDLE}{value}{CLOSE}" if taggable else value


@dataclass
class WordTagger:
    """Tags words of one filing."""

    tagger: Tagger
    form: str
    durations: Mapping[str, Period]
    outstanding: date
    _boxes: int = 0
    _seen: set[str] = field(default_factory=set)

    def tagged(self, name: str, value: str, region: str) -> str:
        """Markup of the word on the `cover` or in `notes`; empty where it is not tagged."""
        return self._on_cover(name, value) if region == "cover" else self._in_note(name, value)

    def box(self, markup: str) -> str:
        """The next check box of the cover."""
        number, self._boxes = self._boxes, self._boxes + 1
        if number not in BOXES:
            return markup
        kind = "Annual" if self.form == "10-K" else "Quarterly"
        dialect, yes = self.tagger.dialect, number == 0
        concept = "dei:" + BOXES[number].format(kind=kind)
        return self.tagger.text(concept, markup, str(yes).lower(), dialect.true if yes else dialect.false)

    def _on_cover(self, name: str, value: str) -> str:
        tagger, dialect = self.tagger, self.tagger.dialect
        if name in self._seen:
            return ""
        self._seen.add(name)
        shown = escape(value, quote=False)
        if name in ON_COVER:
            return tagger.text(ON_COVER[name], shown, value)
        if name == "period_end":
            return self._period_end(value)
        if name == "state":
            return tagger.text("dei:EntityIncorporationStateCountryCode", shown, STATES[value], dialect.state)
        if name == "exchange":
            code = "NYSE" if "New York" in value else "NASDAQ"
            return tagger.text("dei:SecurityExchangeName", shown, code, dialect.exchange)
        if name == "phone":
            area, number = value.strip("(").split(") ")
            return (
                f"({tagger.text('dei:CityAreaCode', area, area)}) {tagger.text('dei:LocalPhoneNumber', number, number)}"
            )
        if name == "address":
            street, city, rest = value.split(", ")
            state, code = rest.rsplit(" ", 1)
            return (
                ", ".join(
                    [
                        tagger.text("dei:EntityAddressAddressLine1", street, street),
                        tagger.text("dei:EntityAddressCityOrTown", city, city),
                        tagger.text("dei:EntityAddressStateOrProvince", state, STATES[state], dialect.state),
                    ]
                )
                + " "
                + tagger.text("dei:EntityAddressPostalZipCode", code, code)
            )
        if name == "shares_outstanding":
            count = Decimal(value.replace(",", ""))
            at = Period(None, self.outstanding)
            return tagger.number("dei:EntityCommonStockSharesOutstanding", count, at, unit="shares")
        if name == "market_value":
            at = Period(None, date(tagger.cover_period.end.year, 6, 30))
            return tagger.number("dei:EntityPublicFloat", Decimal(value), at, exponent=9, places=1)
        return ""

    def _period_end(self, value: str) -> str:
        tagger, dialect = self.tagger, self.tagger.dialect
        end = tagger.cover_period.end
        inner = escape(value)
        if self.form == "10-K":
            day = value.partition(",")[0]
            month_day = tagger.text("dei:CurrentFiscalYearEndDate", day, f"--{end:%m-%d}", dialect.month_day)
            inner = f"{month_day},{value.partition(',')[2]}"
        return tagger.text("dei:DocumentPeriodEndDate", inner, end.isoformat(), dialect.day)

    def _in_note(self, name: str, value: str) -> str:
        suffix = next((s for s in SUFFIXES if name.endswith(s)), "")
        base = name.removesuffix(suffix)
        if base not in CONCEPTS["words"] or suffix not in self.durations:
            return ""
        concept, period = CONCEPTS["words"][base], self.durations[suffix]
        if base in ("inventories", "commitments"):
            period = Period(None, self.durations.get(f"{suffix}_instant", period).end)
        if value == "zero":
            return self.tagger.number(concept, Decimal(0), period, exponent=6, words=value)
        if million := re.fullmatch(r"\$([\d,.]+) million", value):
            amount = Decimal(million[1].replace(",", ""))
            places = -int(amount.as_tuple().exponent)
            return f"${self.tagger.number(concept, amount, period, exponent=6, places=places)} million"
        if value.endswith("%"):
            rate = Decimal(value.rstrip("%"))
            return f"{self.tagger.number(concept, rate, period, unit='pure', exponent=-2, places=1)}%"
        return self.tagger.number(concept, Decimal(value), period, unit="USD/shares", places=2)
