"""Forms of company names: normalized, shortened, as initials, misspelt."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from fin_agent.lexicon.text_normalization import MAX_LABEL_LENGTH, collapse_spaces
from fin_agent.lexicon.words import load_yaml, word_lists
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.runs import grouped

_Filing = tuple[str, Identity]
_Mark = tuple[str, str]
"""What a filing has in common with others of its company: (`ticker`, `AAPL`)."""


@dataclass(frozen=True, slots=True)
class Company:
    """A registrant of the index, with its filings under all of its names."""

    key: str
    """Unaffected by a change of name where the covers give a file number or tax number."""
    name: str
    """As printed in its latest filing."""
    names: tuple[str, ...]
    tickers: tuple[str, ...]
    doc_ids: tuple[str, ...]


def companies_of(filings: Sequence[_Filing]) -> tuple[Company, ...]:
    """Return the registrants of `filings`, by key; filings that share a number, a ticker or a name belong together."""
    leaders: dict[_Mark, _Mark] = {}

    def leader(mark: _Mark) -> _Mark:
        while (above := leaders.setdefault(mark, mark)) != mark:
            mark = above
        return mark

    marked = [(of_filing, filing) for filing in filings if (of_filing := _marks_of(filing[1]))]
    for of_filing, _ in marked:
        first, *others = map(leader, of_filing)
        leaders |= dict.fromkeys(others, first)
    marks = grouped((leader(mark), mark) for mark in leaders)
    groups = grouped((leader(of_filing[0]), filing) for of_filing, filing in marked)
    named = {key: group for key, group in groups.items() if any(identity.company for _, identity in group)}
    return tuple(sorted((_company(group, marks[key]) for key, group in named.items()), key=lambda one: one.key))


def _marks_of(identity: Identity) -> list[_Mark]:
    numbers = {"file number": identity.file_number, "tax number": identity.employer_id, "cik": identity.cik}
    marks = {**numbers, "ticker": identity.ticker, "name": normalize_name(identity.company)}
    return [(kind, value) for kind, value in marks.items() if value]


def _company(group: list[_Filing], marks: Collection[_Mark]) -> Company:
    def recency(filing: _Filing) -> tuple[date, str]:
        return filing[1].period_end or date.min, filing[1].company

    latest = sorted(group, key=recency, reverse=True)
    printed = [identity.company for _, identity in latest if identity.company]
    others = [name for _, identity in latest for name in identity.other_names]
    given = list(dict.fromkeys(printed + others))
    names = tuple({normalize_name(name): name for name in reversed(given)}.values())[::-1]
    official = (f"{kind} {value}" for kind, value in sorted(marks) if kind in ("file number", "cik"))
    key = next(official, normalize_name(printed[0]))
    tickers = tuple(sorted({identity.ticker for _, identity in group if identity.ticker}))
    return Company(key, printed[0], names, tickers, tuple(doc_id for doc_id, _ in group))


_JOINED = re.compile(r"([^\W\d_])\s?(&|and|n)\s?([^\W\d_])", re.I)
_SHORT_ENDINGS = (("group", re.compile(r"[A-Z]\w{3,}group")), ("co", re.compile(r"[A-Z][a-z]{3,}Co")))
"""Endings that people drop from a name of one word: Citigroup, PepsiCo."""


@dataclass(frozen=True, slots=True)
class ListedCompany:
    """A listed company by its usual names, indexed or not; see listed_companies.yaml."""

    name: str
    nicknames: tuple[str, ...]
    """In the form of `simplify_name`, the name itself first."""
    tickers: tuple[str, ...]
    brands: tuple[str, ...]


@lru_cache(maxsize=1)
def listed_companies() -> tuple[ListedCompany, ...]:
    """Return the companies of listed_companies.yaml."""
    lists = load_yaml("listed_companies")
    found = []
    for name, given in lists["companies"].items():
        tickers = tuple(one for one in given if one == one.upper() and len(bare_ticker(one)) < _MAX_TICKER_LENGTH)
        spoken = (simplify_name(one) for one in (name, *given) if one not in tickers)
        nicknames = tuple(dict.fromkeys((normalize_name(name), *spoken)))
        found.append(ListedCompany(name, nicknames, tickers, tuple(lists["brands"].get(name, ()))))
    return tuple(found)


def company_words(kind: str) -> frozenset[str]:
    """Return a list of company_words.yaml."""
    return word_lists("company_words")[kind]


@lru_cache(maxsize=65_536)
def normalize_name(name: str) -> str:
    """Return the name in lower case, without punctuation, accents and legal form: `THE BOEING COMPANY` -> `boeing`."""
    words = simplify_name(name).split()
    legal = company_words("legal_forms")
    while len(words) > 1 and words[-1] in legal:
        words.pop()
    return " ".join(words)


@lru_cache(maxsize=65_536)
def simplify_name(name: str) -> str:
    """Return the name in lower case, without punctuation, accents, `The` and `and`; the legal form is kept."""
    plain = re.sub(r"\.com\b", "", _without_accents(collapse_spaces(name, MAX_LABEL_LENGTH).casefold()))
    words = re.findall(r"[^\W_]+", plain.replace("'", "").replace("’", "").replace(".", ""))
    words = [word for word in words if word != "and"] or words
    return " ".join(words[1:] if len(words) > 1 and words[0] == "the" else words)


def bare_ticker(ticker: str) -> str:
    """Return the letters and digits of a ticker in lower case: `BRK.B` -> `brkb`."""
    return re.sub(r"[^a-z0-9]", "", ticker.casefold())


def join_initials(phrase: str) -> str:
    """Return `j&j` for `J&J`, `J and J`, `JnJ`, and an empty text for anything else.

    The initials must be capitals, unless an ampersand joins them.
    """
    found = _JOINED.fullmatch(phrase)
    if found is None or (found[2] != "&" and not (found[1] + found[3]).isupper()):
        return ""
    return f"{found[1]}&{found[3]}".casefold()


def _name_forms(name: str, former: float) -> Iterator[tuple[str, str, float]]:
    """Yield (normalized form, its kind, confidence) of the ways to write `name`.

    `former` is subtracted from the confidence of a name no longer in use.
    """
    not_companies = company_words("not_companies")
    full = normalize_name(name)
    if full in not_companies:
        full = simplify_name(name)  # only the legal form distinguishes U.S. Bancorp from the country
    if len(full) < 2 or full in not_companies:
        return
    yield full, "name", 1.0 - former
    parts = full.split()
    if len(parts) == 1:
        first = name.split()[0].rstrip(",")
        for ending, printed in _SHORT_ENDINGS:
            if printed.fullmatch(first) and full.endswith(ending):
                yield full.removesuffix(ending), "short name", 0.8 - former
        return
    if parts[0] not in company_words("generic") | not_companies and len(parts[0]) > 2:
        yield parts[0], "short name", 0.8 - former
    if len(parts) > 2 and parts[0] not in not_companies:
        yield " ".join(parts[:2]), "short name", 0.85 - former
    yield "".join(part[0] for part in parts), "initials", 0.5
    if len(parts) == 2 and re.search(r"&|\band\b", name, re.I):
        yield f"{parts[0][0]}&{parts[1][0]}", "initials", 0.8 - former


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


_FORMER = 0.03
_SHARED = 0.6
"""Factor for the confidence of a short name that several companies share."""
_SPLIT_LENGTH = 6
"""Minimum letters of a one-word name that may be written as two words: "Pay Pal"."""
_MAX_TICKER_LENGTH = 6
_NICKNAME = 0.9
_MIN_LENGTH = 5
_ONE_LETTER_OTHER = 6
"""In names with fewer letters, no letter may be replaced (missing, extra and swapped letters are accepted): Intel is
not Inter."""
_EDITS = ((18, 3), (11, 2), (_MIN_LENGTH, 1))
"""(minimum letters of a name, edits allowed)."""


@dataclass(frozen=True, slots=True)
class Alias:
    """A name of a company, its kind, and the confidence that it means that company."""

    company: Company
    how: str
    confidence: float


class CompanyNameIndex:
    """All names and tickers of `companies`. Lookups expect names in the form of `normalize_name`."""

    def __init__(self, companies: Sequence[Company]) -> None:
        listed = [(one, _indexed(one, companies)) for one in listed_companies()]
        indexed = [(one, owner) for one, owner in listed if owner is not None]
        elsewhere = [one for one, owner in listed if owner is None]
        self.names = _names_of(companies, indexed)
        symbols = [(ticker, owner) for owner in companies for ticker in owner.tickers]
        symbols += [(ticker, owner) for one, owner in indexed for ticker in one.tickers]
        self.tickers = {bare_ticker(ticker): owner for ticker, owner in reversed(symbols)}
        """Companies by ticker symbol, in the form of `bare_ticker`; of several the first."""
        self.brands = {simplify_name(brand): owner for one, owner in indexed for brand in one.brands}
        """Owners by brand or business, in the form of `simplify_name`."""
        self._symbols_elsewhere = {bare_ticker(ticker) for one in elsewhere for ticker in one.tickers}
        names = (name for one in elsewhere for name in (*one.nicknames, *map(simplify_name, one.brands)))
        self._elsewhere = {normalize_name(name) for name in names} - self.names.keys()
        joined = {name.replace(" ", ""): alias for name, alias in self.names.items() if " " in name}
        words = {
            name: alias
            for name, alias in self.names.items()
            if " " not in name and len(name) >= _SPLIT_LENGTH and alias.how != "initials"
        }
        self.joined = {**words, **joined}
        """Companies by names without spaces."""
        self._alike = {name: alias for name, alias in (joined | self.names).items() if len(name) >= _MIN_LENGTH}

    def is_unindexed_company(self, phrase: str) -> bool:
        """Return whether `phrase` names a listed company, or one of its brands, that is not indexed."""
        symbol = phrase.isupper() and len(phrase) > 1 and bare_ticker(phrase) in self._symbols_elsewhere
        return normalize_name(phrase) in self._elsewhere or (symbol and bare_ticker(phrase) not in self.tickers)

    def closest_name(self, typed: str) -> tuple[str, Alias] | None:
        """Return (name, its alias) of the name that `typed` most likely misspells; None where there is none.

        Of the names within the allowed edits, the one with the fewest edits; ties go to the highest confidence, then to
        alphabetical order.
        """
        if len(typed) < _MIN_LENGTH:
            return None
        most = _max_edits(len(typed) + _EDITS[0][1])
        near = process.extract(typed, self._alike.keys(), scorer=OSA.distance, score_cutoff=most, limit=None)
        spelt = [(edits, self._alike[name], name) for name, _, _ in near if (edits := edit_distance(typed, name))]
        if not spelt:
            return None
        edits, alias, name = min(spelt, key=lambda one: (one[0], -one[1].confidence, one[2]))
        likeness = 1 - edits / len(name)
        return name, Alias(alias.company, f"spelling of {name}", alias.confidence * likeness * 0.8)


def edit_distance(typed: str, name: str) -> int | None:
    """Return the number of wrong, missing, extra or swapped letters in `typed`; None where it is a different name.

    The first letter and digits must match, because they are rarely mistyped.
    """
    if typed[0] != name[0] or list(filter(str.isdigit, typed)) != list(filter(str.isdigit, name)):
        return None
    edits: int = OSA.distance(typed, name)
    replaced = len(typed) == len(name) and sorted(typed) != sorted(name)
    return edits if 0 < edits <= _max_edits(len(name)) and not (replaced and len(name) < _ONE_LETTER_OTHER) else None


def _indexed(listed: ListedCompany, companies: Sequence[Company]) -> Company | None:
    """Return the indexed company that matches `listed` by a name, or by ticker and a word of the name."""
    words = set(listed.nicknames[0].split())
    for company in companies:
        names = {normalize_name(name) for name in company.names}
        if not names.isdisjoint(listed.nicknames):
            return company
        if set(company.tickers) & set(listed.tickers) and any(words & set(name.split()) for name in names):
            return company
    return None


def _names_of(companies: Iterable[Company], listed: Iterable[tuple[ListedCompany, Company]]) -> dict[str, Alias]:
    """Return the alias of each name: the most certain, then that of the shorter name, then of more filings.

    Initials shared by several companies are dropped; a shared short name gets low confidence.
    """
    claims: dict[str, list[Alias]] = {}
    for company in companies:
        for rank, name in enumerate(company.names):
            for form, how, confidence in _name_forms(name, _FORMER if rank else 0.0):
                claims.setdefault(form, []).append(Alias(company, how, confidence))
    for one, company in listed:
        own = {normalize_name(name) for name in company.names}
        for nickname in one.nicknames:
            confidence = 1.0 if normalize_name(nickname) in own else _NICKNAME
            claims.setdefault(nickname, []).append(Alias(company, "nickname", confidence))
    names: dict[str, Alias] = {}
    for name, claimants in claims.items():
        best = min(claimants, key=_precedence)
        shared = any(
            other.company.key != best.company.key and best.confidence - other.confidence <= _FORMER
            for other in claimants
        )
        if shared and best.how == "short name":
            best = replace(best, confidence=best.confidence * _SHARED)
        if not (shared and best.how == "initials"):
            names[name] = best
    return names


def _precedence(claim: Alias) -> tuple[float, int, int, str]:
    company = claim.company
    return -claim.confidence, len(normalize_name(company.name)), -len(company.doc_ids), company.key


def _max_edits(length: int) -> int:
    return next((edits for letters, edits in _EDITS if length >= letters), 0)
