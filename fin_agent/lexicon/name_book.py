"""The names of many companies, looked up as they are, run together, misspelt or clipped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from rapidfuzz import process
from rapidfuzz.distance import OSA

from fin_agent.lexicon.company_names import NameForm, bare_ticker, name_forms, normalise_name
from fin_agent.lexicon.registrants import Company

_FORMER = 0.03
_SHARED = 0.6
"""What is left of the confidence of a short name that several companies go by."""
_SPLIT_LENGTH = 6
"""Letters from which a name of one word may be written as two: "Pay Pal"."""
_DOUBLED_LENGTH = 4
"""Letters of names that are known with one letter doubled only: "Nikee"."""
_SHORTEST = 5
_ONE_LETTER_OTHER = 6
"""Names with fewer letters may lack one, have one too many or two swapped, but no other one: Intel is not Inter."""
_EDITS = ((18, 3), (11, 2), (_SHORTEST, 1))
"""(letters of a name from which, edits allowed)."""
_CLIPPED_LETTERS = 2
"""Letters that a clipped name keeps of each word at least."""


@dataclass(frozen=True, slots=True)
class Alias:
    """A name of a company, how it is one, and how surely it means that company."""

    company: Company
    how: str
    confidence: float


class NameBook:
    """All names and tickers of `companies`. Every lookup takes a name as `normalise_name` makes it."""

    def __init__(self, companies: Sequence[Company]) -> None:
        self._names = _names_of(companies)
        self._tickers: dict[str, Company] = {}
        for company in companies:
            for ticker in company.tickers:
                self._tickers.setdefault(bare_ticker(ticker), company)
        joined = {name.replace(" ", ""): alias for name, alias in self._names.items() if " " in name}
        words = {
            name: alias
            for name, alias in self._names.items()
            if " " not in name and len(name) >= _SPLIT_LENGTH and alias.how != "initials"
        }
        self._joined = {**words, **joined}
        self._doubled = {
            _undoubled(name): name
            for name in sorted(self._names, reverse=True)
            if len(name) == _DOUBLED_LENGTH and self._names[name].how != "initials"
        }
        self._alike: dict[tuple[str, int], list[str]] = {}
        for name in sorted({*self._names, *joined}):
            if len(name) >= _SHORTEST:
                self._alike.setdefault((name[0], len(name)), []).append(name)
        self._clipped: dict[str, list[tuple[Company, list[str]]]] = {}
        for company in companies:
            for parts in (normalise_name(name).split() for name in company.names):
                if len(parts) > 1:
                    self._clipped.setdefault(parts[0][:_CLIPPED_LETTERS], []).append((company, parts))

    def named(self, name: str) -> Alias | None:
        """The company that goes by `name`."""
        return self._names.get(name)

    def run_together(self, name: str) -> Alias | None:
        """The company whose name this is, but for the spaces."""
        return self._joined.get(name.replace(" ", ""))

    def ticker(self, symbol: str) -> Company | None:
        """The company with this ticker symbol, as `bare_ticker` makes it."""
        return self._tickers.get(symbol)

    def misspelt(self, typed: str) -> tuple[str, Alias] | None:
        """(name, its alias) of the name that `typed` is likeliest a misspelling of; None where it is of none.

        The nearest of those that `edits_between` allows; of equals the surest, then the first by alphabet.
        """
        if len(typed) < _SHORTEST:
            return None
        doubled = self._doubled.get(_undoubled(typed))
        if doubled is not None and len(typed) == _DOUBLED_LENGTH + 1:
            return doubled, self._misread(doubled, 1)
        best: tuple[int, float, str] | None = None
        most = _edits_allowed(len(typed) + _EDITS[0][1])
        for length in range(len(typed) - most, len(typed) + most + 1):
            allowed = _edits_allowed(length)
            near = process.extract(
                typed, self._alike.get((typed[0], length), ()), scorer=OSA.distance, score_cutoff=allowed, limit=None
            )
            for name, _, _ in near:
                edits = edits_between(typed, name)
                if edits is not None:
                    best = min(best or (99, 0.0, ""), (edits, -self._alias(name).confidence, name))
        if best is None:
            return None
        return best[2], self._misread(best[2], best[0])

    def clipped(self, token: str) -> Alias | None:
        """The only company whose name `token` clips: AMEX, GenMills. None where several might be meant."""
        found = {
            company.key: company
            for company, parts in self._clipped.get(token[:_CLIPPED_LETTERS], ())
            if is_clipped(token, parts)
        }
        return Alias(next(iter(found.values())), "clipped name", 0.7) if len(found) == 1 else None

    def _alias(self, name: str) -> Alias:
        return self._names.get(name) or self._joined[name]

    def _misread(self, name: str, edits: int) -> Alias:
        alias = self._alias(name)
        likeness = 1 - edits / len(name)
        return Alias(alias.company, f"spelling of {name}", alias.confidence * likeness * 0.8)


def edits_between(typed: str, name: str) -> int | None:
    """How many letters of `name` are wrong, missing, too many or swapped in `typed`; None where it is another name.

    Hardly anybody mistypes a first letter or a number.
    """
    if typed[0] != name[0] or _digits(typed) != _digits(name):
        return None
    edits: int = OSA.distance(typed, name)
    if not 0 < edits <= _edits_allowed(len(name)):
        return None
    if len(name) < _ONE_LETTER_OTHER and len(typed) == len(name) and sorted(typed) != sorted(name):
        return None
    return edits


def is_clipped(token: str, words: Sequence[str]) -> bool:
    """Whether `token` strings together beginnings of all `words`, some letters of each: AMEX, GenMills."""

    def fits(rest: str, index: int) -> bool:
        if index == len(words):
            return not rest
        return any(
            fits(rest[size:], index + 1)
            for size in range(_CLIPPED_LETTERS, len(rest) + 1)
            if words[index].startswith(rest[:size])
        ) or (words[index] in ("of", "the") and fits(rest, index + 1))

    return len(words) > 1 and fits(token, 0)


def _names_of(companies: Iterable[Company]) -> dict[str, Alias]:
    """The alias of each name: the surest, of equals that of the shorter name, then of more filings.

    Initials that several companies share name none; a short name that they share names one with little confidence.
    """
    claims: dict[str, list[tuple[NameForm, Company]]] = {}
    for company in companies:
        for rank, name in enumerate(company.names):
            for form in name_forms(name, _FORMER if rank else 0.0):
                claims.setdefault(form.alias, []).append((form, company))
    names: dict[str, Alias] = {}
    for alias, claimants in claims.items():
        form, company = min(claimants, key=_precedence)
        shared = any(
            other.key != company.key and form.confidence - claim.confidence <= _FORMER for claim, other in claimants
        )
        if shared and form.how == "initials":
            continue
        confidence = form.confidence * _SHARED if shared and form.how == "short name" else form.confidence
        names[alias] = Alias(company, form.how, confidence)
    return names


def _precedence(claim: tuple[NameForm, Company]) -> tuple[float, int, int, str]:
    form, company = claim
    return -form.confidence, len(normalise_name(company.name)), -len(company.doc_ids), company.key


def _undoubled(name: str) -> str:
    return "".join(letter for letter, _ in groupby(name))


def _edits_allowed(length: int) -> int:
    return next((edits for letters, edits in _EDITS if length >= letters), 0)


def _digits(name: str) -> str:
    return "".join(letter for letter in name if letter.isdigit())
