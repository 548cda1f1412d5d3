"""Companies that file with the SEC, by ticker or by CIK."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from fin_agent.downloads import refusals
from fin_agent.downloads.lists import DAY, Lists

_CIK = re.compile(r"(?:CIK)?0*(\d{1,10})", re.I)
_TICKER = re.compile(r"[A-Z0-9][A-Z0-9.\-]{0,11}", re.I)


@dataclass(frozen=True, slots=True)
class Company:
    """A filer."""

    cik: int
    ticker: str | None
    """As EDGAR writes it: `BRK-B`. None where only the CIK was given and EDGAR lists no ticker."""
    name: str

    @property
    def cik10(self) -> str:
        """The CIK with its leading zeros."""
        return f"{self.cik:010d}"

    @property
    def handle(self) -> str:
        """What its files' names begin with: `AAPL`, or `CIK0000320193`."""
        return self.ticker if self.ticker and _TICKER.fullmatch(self.ticker) else f"CIK{self.cik10}"


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True)

    cik_str: int
    ticker: str
    title: str


def company_of(given: str, lists: Lists, url: str) -> Company:
    """The company of a ticker or a CIK (`320193`, `CIK0000320193`). Raises DownloadError where EDGAR lists none.

    A CIK need not be in the list: funds and companies without shares have none there.
    """
    said = given.strip()
    address = f"{url.rstrip('/')}/files/company_tickers.json"
    rows = _rows(lists.get(address, DAY), address)
    if cik := _CIK.fullmatch(said):
        number = int(cik[1])
        of_company = [row for row in rows if row.cik_str == number]
        if of_company:
            return Company(number, of_company[0].ticker, of_company[0].title)
        return Company(number, None, f"CIK {number}")
    wanted = _plain(said)
    for row in rows:
        if _plain(row.ticker) == wanted:
            return Company(row.cik_str, row.ticker, row.title)
    raise refusals.unknown_company(said, _near(said, rows))


def _rows(content: Mapping[str, object], url: str) -> list[_Row]:
    try:
        return [_Row.model_validate(row) for row in content.values()]
    except ValidationError as error:
        raise refusals.not_understood(url, "it is no list of companies with their tickers") from error


def _plain(ticker: str) -> str:
    """`BRK.B`, `brk-b` and `BRK/B` are one."""
    return re.sub(r"[^A-Z0-9]", "", ticker.upper())


def _near(given: str, rows: list[_Row]) -> list[str]:
    """Tickers of companies called so, else tickers that look alike; with names."""
    words = given.casefold()
    called = [row for row in rows if len(words) > 2 and row.title.casefold().startswith(words)][:2]
    by_ticker = {row.ticker: row for row in reversed(rows)}
    alike = [by_ticker[near] for near in difflib.get_close_matches(given.upper(), list(by_ticker), n=2, cutoff=0.7)]
    return [f"{row.ticker} ({row.title})" for row in called or alike]
