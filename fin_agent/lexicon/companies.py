"""Which indexed companies a question names, and which it names that are not indexed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz, process

from fin_agent.lexicon.unknown_companies import unknown_names
from fin_agent.lexicon.words import word_lists
from fin_agent.vocabulary.identity import Identity

_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.&'’*-]*|&")
_POSSESSIVE = re.compile(r"['’]s?$", re.I)
_CONNECTIVES = frozenset({"and", "of", "the", "new", "de", "&"})
"""Words that no name ends in: "Nike and" is Nike."""
_ARTICLES = frozenset({"and", "of", "the", "&"})
_AS_A_COMPANY = re.compile(
    r"(?:^|\b(?:for|of|by|did|does|do|has|have|had|is|are|was|were|and|vs\.?|versus|compare)\s)\s*$", re.I
)
_LOOKED_BACK = 16
_SHORTEST_TICKER = 3
_TICKER_CONFIDENCE = 0.9
_TYPO_SCORE = 88
_TYPO_LENGTH = 5
_MOST_TOKENS = 5

_Token = tuple[int, int, str]
"""(start, end, text) of a word of a question."""


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


@dataclass(frozen=True, slots=True)
class CompanyMention:
    """A company named in a question. `confidence` is 1.0 for a full name, less for short forms and typos."""

    company: Company
    start: int
    end: int
    phrase: str
    how: str
    confidence: float


class CompanyDirectory:
    """The companies of an index, and how people refer to them.

    >>> from fin_agent.vocabulary.identity import Form
    >>> apple = Identity(company="Apple Inc.", form=Form.TEN_K, ticker="AAPL")
    >>> [m.company.name for m in CompanyDirectory([("a", apple)]).mentions("What was AAPL's revenue?")]
    ['Apple Inc.']
    """

    def __init__(self, filings: Iterable[tuple[str, Identity]]) -> None:
        self.companies = _group(list(filings))
        self.owners = {doc_id: company.key for company in self.companies for doc_id in company.doc_ids}
        """The company key of each filing."""
        self._aliases: dict[str, _Alias] = {}
        self._tickers: dict[str, Company] = {}
        for company in self.companies:
            for alias, how, confidence in _aliases_of(company):
                kept = self._aliases.get(alias)
                if kept is None or kept.confidence < confidence:
                    self._aliases[alias] = _Alias(company, how, confidence)
            for ticker in company.tickers:
                self._tickers.setdefault(_bare(ticker), company)
        self._collapsed = {alias.replace(" ", ""): entry for alias, entry in self._aliases.items() if " " in alias}
        self._fuzzy = sorted(alias for alias in self._aliases if len(alias) >= _TYPO_LENGTH)
        self._parts = [
            (company, parts)
            for company in self.companies
            for parts in (normalise_name(name).split() for name in company.names)
            if len(parts) > 1
        ]

    def mentions(self, question: str) -> list[CompanyMention]:
        """Indexed companies named in `question`, left to right, each name read as long as it goes."""
        tokens = [(found.start(), found.end(), found.group()) for found in _TOKEN.finditer(question)]
        small = _CAPITAL_INSIDE.search(question) is None  # whoever writes no capitals writes names without them too
        found = [] if small else self._named(question, tokens, relaxed=False)
        return found or self._named(question, tokens, relaxed=True)

    def unknown(self, question: str, taken: Sequence[tuple[int, int]] = ()) -> list[str]:
        """Names in `question` that stand where a company would and are not indexed.

        `taken` are (start, end) spans already understood: indexed companies, metrics, periods.
        """
        companies = [(mention.start, mention.end) for mention in self.mentions(question)]
        return unknown_names(question, companies, taken, _words().not_companies)

    def _named(self, question: str, tokens: Sequence[_Token], *, relaxed: bool) -> list[CompanyMention]:
        found: list[CompanyMention] = []
        position = 0
        while position < len(tokens):
            mention, used = self._longest(question, tokens, position, relaxed)
            if mention is not None:
                found.append(mention)
            position += used
        return found

    def _longest(
        self, question: str, tokens: Sequence[_Token], position: int, relaxed: bool
    ) -> tuple[CompanyMention | None, int]:
        best: tuple[CompanyMention, int] | None = None
        for count in range(min(_MOST_TOKENS, len(tokens) - position), 0, -1):
            span = tokens[position : position + count]
            start, end = span[0][0], span[-1][1]
            if count > 1 and (span[0][2].casefold() in _ARTICLES or span[-1][2].casefold() in _CONNECTIVES):
                continue
            phrase = _POSSESSIVE.sub("", question[start:end].rstrip("."))
            entry = self._entry(_Wording.of(question, start, phrase, relaxed))
            if entry is not None and (best is None or entry.confidence > best[0].confidence):
                mention = CompanyMention(entry.company, start, start + len(phrase), phrase, entry.how, entry.confidence)
                best = mention, count
        return best if best is not None else (None, 1)

    def _entry(self, wording: _Wording) -> _Alias | None:
        alias = normalise_name(wording.phrase)
        if not alias:
            return None
        ticker = self._tickers.get(_bare(wording.phrase))
        entry = self._aliases.get(_plain_name(wording.phrase)) or self._aliases.get(alias)
        entry = entry or self._collapsed.get(alias.replace(" ", ""))
        if entry is None and "&" in wording.phrase:
            entry = self._aliases.get(alias.replace(" ", ""))  # J&J, P&G
        if ticker is not None and wording.may_be_ticker and (entry is None or entry.confidence < _TICKER_CONFIDENCE):
            return _Alias(ticker, "ticker", _TICKER_CONFIDENCE)
        if entry is not None:
            return entry if wording.may_name(alias, entry.how) else None
        if not wording.capital or alias in _words().not_companies or len(alias) < 3:
            return None
        return self._clipped_name(alias) or self._misspelt(alias)

    def _clipped_name(self, alias: str) -> _Alias | None:
        if " " in alias:
            return None
        found = next((company for company, parts in self._parts if _clipped(alias, parts)), None)
        return _Alias(found, "clipped name", 0.7) if found else None

    def _misspelt(self, alias: str) -> _Alias | None:
        words = alias.split()
        if len(words) > 1 and {words[0], words[-1]} & _words().not_companies:
            return None  # "If Nike" is no spelling of Nike
        if len(alias) < _TYPO_LENGTH:
            return None
        close = process.extractOne(alias, self._fuzzy, scorer=fuzz.ratio, score_cutoff=_TYPO_SCORE)
        if close is None or (close[0] in _words().everyday and alias == close[0] + "s"):
            return None
        entry = self._aliases[close[0]]
        return _Alias(entry.company, f"spelling of {close[0]}", entry.confidence * close[1] / 100 * 0.8)


_CAPITAL_INSIDE = re.compile(r"(?<=\s)[A-Z][a-z]")


@dataclass(frozen=True, slots=True)
class _Alias:
    company: Company
    how: str
    confidence: float


@dataclass(frozen=True, slots=True)
class _Wording:
    """A phrase of a question and how it is written there."""

    phrase: str
    capital: bool
    """Begins with a capital letter or a digit, in a question that is not all in capitals."""
    possessive: bool
    placed: bool
    """Stands where a company would, in a question that names none in capitals."""

    @classmethod
    def of(cls, question: str, start: int, phrase: str, relaxed: bool) -> _Wording:
        """The phrase at `start` of `question`; `relaxed` where no company is written as one is."""
        shouted = question.isupper()
        after = question[start + len(phrase) :]
        return cls(
            phrase=phrase,
            capital=phrase[0].isdigit() or (phrase[0].isupper() and (not shouted or relaxed)),
            possessive=re.match(r"['’]s?(?!\w)", after, re.I) is not None,
            placed=relaxed and _AS_A_COMPANY.search(_just_before(question, start)) is not None,
        )

    @property
    def may_be_ticker(self) -> bool:
        """Whether a ticker symbol may be meant: by its capitals, or in lower case where nothing else is named."""
        bare = _bare(self.phrase)
        if self.possessive:
            return len(bare) >= _SHORTEST_TICKER or self.phrase.isupper()
        if len(bare) == 1 or bare in _words().not_companies:
            return False
        if sum(letter.isupper() for letter in self.phrase) > 1:
            return True
        return self.placed and len(bare) >= _SHORTEST_TICKER and bare not in _words().everyday

    def may_name(self, alias: str, how: str) -> bool:
        """Whether an alias may be meant: everyday words want a capital, a possessive or a company's place."""
        if how == "initials":
            if not self.phrase.replace(".", "").replace("&", "").isupper() or alias in _words().not_companies:
                return False
            return len(alias) > 2 or self.possessive or "&" in self.phrase
        return self.capital or alias not in _words().everyday or self.possessive or self.placed


def normalise_name(name: str) -> str:
    """Lower case, without punctuation and legal form: `THE BOEING COMPANY` -> `boeing`."""
    words = _plain_name(name).split()
    legal = _words().legal_forms
    while len(words) > 1 and words[-1] in legal:
        words.pop()
    return " ".join(words)


def _plain_name(name: str) -> str:
    """Lower case, without punctuation, `The` and `and` (which a name also writes `&`); legal form kept."""
    plain = re.sub(r"\.com\b", "", name.casefold())
    words = re.findall(r"[a-z0-9]+", plain.replace("'", "").replace("’", "").replace(".", ""))
    words = [word for word in words if word != "and"] or words
    return " ".join(words[1:] if len(words) > 1 and words[0] == "the" else words)


def _just_before(question: str, start: int) -> str:
    return question[:start] if start <= _LOOKED_BACK else "." + question[start - _LOOKED_BACK : start]


def _bare(ticker: str) -> str:
    return re.sub(r"[^a-z0-9]", "", ticker.casefold())


@dataclass(frozen=True, slots=True)
class _CompanyWords:
    legal_forms: frozenset[str]
    generic: frozenset[str]
    everyday: frozenset[str]
    not_companies: frozenset[str]


@lru_cache(maxsize=1)
def _words() -> _CompanyWords:
    return _CompanyWords(**word_lists("company_words"))


def _group(filings: list[tuple[str, Identity]]) -> tuple[Company, ...]:
    """Filings of one registrant share a file number, a tax number, a CIK, a ticker or a name."""
    parent = list(range(len(filings)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first_with: dict[tuple[str, str], int] = {}
    for index, (_, identity) in enumerate(filings):
        for mark in _marks_of(identity):
            parent[root(index)] = root(first_with.setdefault(mark, index))
    members: dict[int, list[tuple[str, Identity]]] = {}
    for index, filing in enumerate(filings):
        members.setdefault(root(index), []).append(filing)
    companies = [_company(group) for group in members.values() if any(identity.company for _, identity in group)]
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


def _company(group: list[tuple[str, Identity]]) -> Company:
    def recency(filing: tuple[str, Identity]) -> tuple[str, str]:
        return str(filing[1].period_end or ""), filing[1].company

    latest = sorted(group, key=recency, reverse=True)
    printed = [identity.company for _, identity in latest if identity.company]
    others = [name for _, identity in latest for name in identity.other_names]
    names = tuple({normalise_name(name): name for name in reversed(printed + others)}.values())[::-1]
    marks = sorted(mark for _, identity in group for mark in _marks_of(identity))
    official = (f"{kind} {value}" for kind, value in marks if kind in ("file number", "cik"))
    key = next(official, normalise_name(printed[0]))
    tickers = tuple(sorted({identity.ticker for _, identity in group if identity.ticker}))
    return Company(key, printed[0], names, tickers, tuple(doc_id for doc_id, _ in group))


def _aliases_of(company: Company) -> Iterable[tuple[str, str, float]]:
    words = _words()
    for rank, name in enumerate(company.names):
        full = normalise_name(name)
        if full in words.not_companies:
            full = _plain_name(name)  # nothing but the legal form tells U.S. Bancorp from the country
        if len(full) < 2 or full in words.not_companies:
            continue
        former = 0.0 if rank == 0 else 0.03
        yield full, "name", 1.0 - former
        parts = full.split()
        if len(parts) > 1:
            if parts[0] not in words.generic and parts[0] not in words.not_companies and len(parts[0]) > 2:
                yield parts[0], "short name", 0.8 - former
            if len(parts) > 2 and parts[0] not in words.not_companies:
                yield " ".join(parts[:2]), "short name", 0.85 - former
            yield "".join(part[0] for part in parts), "initials", 0.5
        elif re.fullmatch(r"[A-Z][a-z]{3,}Co", name.split()[0].rstrip(",")):
            yield full.removesuffix("co"), "short name", 0.8 - former  # PepsiCo


def _clipped(token: str, words: Sequence[str]) -> bool:
    """Whether `token` strings together beginnings of all `words`, two letters at least of one: AMEX, JNJ, GenMills."""
    if len(words) < 2 or len(token) < 3:
        return False

    def fits(rest: str, index: int) -> bool:
        if index == len(words):
            return not rest
        return any(
            fits(rest[size:], index + 1) for size in range(1, len(rest) + 1) if words[index].startswith(rest[:size])
        ) or (words[index] in ("and", "of", "the") and fits(rest, index + 1))

    return len(token) > len(words) and fits(token, 0)
