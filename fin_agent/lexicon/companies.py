"""Which indexed companies a question names, and which it names that are not indexed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz, process

from fin_agent.filings.filing import Identity
from fin_agent.lexicon.words import word_lists

_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.&'’*-]*|&")
_CAPITALISED = re.compile(
    r"[A-Z][\w.*-]*(?:['’](?!s\b)\w+)?(?:(?:\s+(?:&|of|and)\s+|\s+|&)[A-Z][\w.*-]*)*"
)
_BEFORE_A_COMPANY = re.compile(
    r"\b(for|of|by|did|does|do|has|have|had|is|are|was|were|will|and|or|than|versus|vs\.?|to|at)\s+$"
)
_POSSESSIVE = re.compile(r"['’]s?$")
_TYPO_SCORE = 88
_TYPO_LENGTH = 5
_MOST_TOKENS = 5


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

    >>> from fin_agent.filings.filing import Form
    >>> apple = Identity(company="Apple Inc.", form=Form.TEN_K, ticker="AAPL")
    >>> [m.company.name for m in CompanyDirectory([("a", apple)]).mentions("What was AAPL's revenue?")]
    ['Apple Inc.']
    """

    def __init__(self, filings: Iterable[tuple[str, Identity]]) -> None:
        self.companies = _group(list(filings))
        self.owners = {doc_id: company.key for company in self.companies for doc_id in company.doc_ids}
        """The company key of each filing."""
        self._aliases: dict[str, tuple[Company, str, float]] = {}
        for company in self.companies:
            for alias, how, confidence in _aliases_of(company):
                kept = self._aliases.get(alias)
                if kept is None or kept[2] < confidence:
                    self._aliases[alias] = (company, how, confidence)
        self._collapsed = {alias.replace(" ", ""): entry for alias, entry in self._aliases.items() if " " in alias}
        self._fuzzy = sorted(alias for alias in self._aliases if len(alias) >= _TYPO_LENGTH)

    def mentions(self, question: str) -> list[CompanyMention]:
        """Indexed companies named in `question`, left to right, each name read as long as it goes."""
        tokens = [(found.start(), found.end(), found.group()) for found in _TOKEN.finditer(question)]
        found: list[CompanyMention] = []
        position = 0
        while position < len(tokens):
            mention, used = self._longest(question, tokens, position)
            if mention is not None:
                found.append(mention)
            position += used
        return found

    def unknown(self, question: str, taken: Sequence[tuple[int, int]] = ()) -> list[str]:
        """Names in `question` that stand where a company would and are not indexed.

        `taken` are (start, end) spans already understood: indexed companies, metrics, periods.
        """
        words = _words()
        names: list[str] = []
        for run in _CAPITALISED.finditer(question):
            start, end = run.span()
            if any(start < stop and begin < end for begin, stop in taken):
                continue
            parts = [part for part in re.split(r"[\s&]+", run.group()) if part]
            while parts and _plain(parts[0]) in words.not_companies:
                parts.pop(0)
            while parts and (_plain(parts[-1]) in words.not_companies or parts[-1] in ("of", "and")):
                parts.pop()
            if not parts or all(_plain(part) in words.not_companies or part.isdigit() for part in parts):
                continue
            if _stands_for_a_company(question, end) or _asked_about(question, end - len(" ".join(parts))):
                names.append(" ".join(parts).rstrip("."))
        return list(dict.fromkeys(names))

    def _longest(
        self, question: str, tokens: Sequence[tuple[int, int, str]], position: int
    ) -> tuple[CompanyMention | None, int]:
        best: tuple[CompanyMention, int] | None = None
        for count in range(min(_MOST_TOKENS, len(tokens) - position), 0, -1):
            span = tokens[position : position + count]
            start, end = span[0][0], span[-1][1]
            phrase = _POSSESSIVE.sub("", question[start:end])
            entry = self._entry(phrase)
            if entry is not None and (best is None or entry[2] > best[0].confidence):
                company, how, confidence = entry
                best = CompanyMention(company, start, start + len(phrase), phrase, how, confidence), count
        return best if best is not None else (None, 1)

    def _entry(self, phrase: str) -> tuple[Company, str, float] | None:
        alias = normalise_name(phrase)
        if not alias:
            return None
        capital = phrase[0].isupper() or phrase[0].isdigit()
        words = _words()
        entry = self._aliases.get(alias) or self._collapsed.get(alias.replace(" ", ""))
        if entry is not None:
            if not capital and (alias in words.everyday or entry[1] in ("ticker", "initials")):
                return None
            if entry[1] in ("ticker", "initials") and not phrase.replace(".", "").isupper():
                return None
            return entry
        if not capital or alias in words.not_companies or len(alias) < 3:
            return None
        if " " not in alias:
            for company in self.companies:
                for name in company.names:
                    if _clipped(alias, normalise_name(name).split()):
                        return company, "clipped name", 0.7
        if len(alias) >= _TYPO_LENGTH:
            close = process.extractOne(alias, self._fuzzy, scorer=fuzz.ratio, score_cutoff=_TYPO_SCORE)
            if close is not None:
                company, _, confidence = self._aliases[close[0]]
                return company, f"spelling of {close[0]}", confidence * close[1] / 100 * 0.8
        return None


def normalise_name(name: str) -> str:
    """Lower case, without punctuation and legal form: `THE BOEING COMPANY` -> `boeing`."""
    plain = re.sub(r"\.com\b", "", name.casefold())
    words = re.findall(r"[a-z0-9]+", plain.replace("'", "").replace("’", "").replace(".", ""))
    legal = _words().legal_forms
    while len(words) > 1 and words[-1] in legal:
        words.pop()
    if len(words) > 1 and words[0] == "the":
        words.pop(0)
    return " ".join(words)


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
        if not full or full in words.not_companies or len(full) < 2:
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
    for ticker in company.tickers:
        yield ticker.casefold(), "ticker", 0.9


def _clipped(token: str, words: Sequence[str]) -> bool:
    """Whether `token` strings together beginnings of all `words`, two letters at least of one: AMEX, JNJ, GenMills."""
    if len(words) < 2 or len(token) < 3:
        return False

    def fits(rest: str, index: int) -> bool:
        if index == len(words):
            return not rest
        return any(
            fits(rest[size:], index + 1)
            for size in range(1, len(rest) + 1)
            if words[index].startswith(rest[:size])
        ) or (words[index] in ("and", "of", "the") and fits(rest, index + 1))

    return len(token) > len(words) and fits(token, 0)


def _plain(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold().rstrip(".").replace("'", "").replace("’", "")


def _stands_for_a_company(question: str, end: int) -> bool:
    return bool(re.match(r"['’]s?\b", question[end:]))


def _asked_about(question: str, start: int) -> bool:
    before = question[max(0, start - 24) : start].casefold()
    return _BEFORE_A_COMPANY.search(before) is not None
