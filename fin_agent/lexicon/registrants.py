"""Which filings are of one registrant, whatever it was called when it filed them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain

from fin_agent.lexicon.company_names import normalise_name
from fin_agent.vocabulary.identity import Identity

_Filing = tuple[str, Identity]
_Cover = tuple[str, str | None, str | None, str | None, str | None]
"""Name, file number, tax number, CIK and ticker as a cover gives them: most covers of a company give the same."""


@dataclass(frozen=True, slots=True)
class Company:
    """A registrant as the index knows it: filings under all the names it has had."""

    key: str
    """Stable over a change of name where the covers give a file number or tax number."""
    name: str
    """As its latest filing prints it."""
    names: tuple[str, ...]
    tickers: tuple[str, ...]
    doc_ids: tuple[str, ...]


def companies_of(filings: Sequence[_Filing]) -> tuple[Company, ...]:
    """The registrants of `filings`, by key: theirs share a file number, a tax number, a CIK, a ticker or a name."""
    alike: dict[_Cover, list[int]] = {}
    for position, (_, identity) in enumerate(filings):
        cover = (identity.company, identity.file_number, identity.employer_id, identity.cik, identity.ticker)
        alike.setdefault(cover, []).append(position)
    parent = list(range(len(alike)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    marks = [_marks_of(filings[positions[0]][1]) for positions in alike.values()]
    first_with: dict[tuple[str, str], int] = {}
    for index, of_cover in enumerate(marks):
        for mark in of_cover:
            parent[root(index)] = root(first_with.setdefault(mark, index))
    members: dict[int, list[int]] = {}
    for index in range(len(parent)):
        members.setdefault(root(index), []).append(index)
    covers = list(alike.values())
    companies = []
    for group in members.values():
        of_group = [filings[position] for position in sorted(chain.from_iterable(covers[index] for index in group))]
        if any(identity.company for _, identity in of_group):
            companies.append(_company(of_group, {mark for index in group for mark in marks[index]}))
    return tuple(sorted(companies, key=lambda company: company.key))


def _marks_of(identity: Identity) -> list[tuple[str, str]]:
    marks = (
        ("file number", identity.file_number),
        ("tax number", identity.employer_id),
        ("cik", identity.cik),
        ("ticker", identity.ticker),
        ("name", normalise_name(identity.company)),
    )
    return [(kind, value) for kind, value in marks if value]


def _company(group: list[_Filing], marks: Collection[tuple[str, str]]) -> Company:
    def recency(filing: _Filing) -> tuple[date, str]:
        return filing[1].period_end or date.min, filing[1].company

    latest = sorted(group, key=recency, reverse=True)
    printed = [identity.company for _, identity in latest if identity.company]
    others = [name for _, identity in latest for name in identity.other_names]
    given = list(dict.fromkeys(printed + others))
    names = tuple({normalise_name(name): name for name in reversed(given)}.values())[::-1]
    official = (f"{kind} {value}" for kind, value in sorted(marks) if kind in ("file number", "cik"))
    key = next(official, normalise_name(printed[0]))
    tickers = tuple(sorted({identity.ticker for _, identity in group if identity.ticker}))
    return Company(key, printed[0], names, tickers, tuple(doc_id for doc_id, _ in group))
