"""Find the companies that a question names, both indexed ones and others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache

from fin_agent.lexicon.company_names import (
    Alias,
    Company,
    CompanyNameIndex,
    bare_ticker,
    companies_of,
    company_words,
    join_initials,
    normalize_name,
    simplify_name,
)
from fin_agent.lexicon.periods import overlaps_any
from fin_agent.lexicon.text_normalization import mask_spans
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.runs import grouped

_PATTERNS = patterns("company_patterns")

CERTAIN = 0.75
"""Confidence from which a mention identifies its company beyond doubt: full and short names, tickers."""

_CONNECTIVES = frozenset({"and", "of", "the", "new", "de", "&"})
"""Words that no name ends in: in "Nike and", the name is Nike."""
_ARTICLES = frozenset({"and", "of", "the", "&"})
_LOOKED_BACK = 16
_MIN_TICKER_LENGTH = 3
_VOWELS = frozenset("aeiou")
"""Two letters without one are no word: `vz`."""
_TICKER_CONFIDENCE = 0.9
_MAX_TOKENS = 5
_OF_A_BRAND = 0.8
_OPENING = 0.7
"""Factor for the confidence of an everyday word that is capitalized as the first word of a sentence: "Target
margin?"."""
_LONGER_NAME = 0.6
"""Factor for the confidence of a short name followed by another capitalized word: "Delta Air"."""
_TITLE_CASE = 0.6
"""Share of capitalized words from which capitals carry no information."""
_KEPT_QUESTIONS, _KEPT_PHRASES = 64, 16_384

_Token = tuple[int, int, str]
"""(start, end, text) of a word of a question."""


@dataclass(frozen=True, slots=True)
class CompanyMention:
    """A company named in a question. `confidence` is 1.0 for a full name, less for short forms and misspellings."""

    company: Company
    start: int
    end: int
    phrase: str
    how: str
    confidence: float


class CompanyDirectory:
    """The companies of an index, and the names people use for them.

    >>> from fin_agent.vocabulary.identity import Form
    >>> apple = Identity(company="Apple Inc.", form=Form.TEN_K, ticker="AAPL")
    >>> [m.company.name for m in CompanyDirectory([("a", apple)]).mentions("What was AAPL's revenue?")]
    ['Apple Inc.']
    """

    def __init__(self, filings: Iterable[tuple[str, Identity]]) -> None:
        listed = list(filings)
        self.identities: Mapping[str, Identity] = dict(listed)
        """Who, what and when each filing is, by doc_id, in the order given."""
        self.companies = companies_of(listed)
        self.by_key = {company.key: company for company in self.companies}
        self.owners = {doc_id: company.key for company in self.companies for doc_id in company.doc_ids}
        """The company key of each filing."""
        self._book = CompanyNameIndex(self.companies)
        self._looked_up = lru_cache(maxsize=_KEPT_PHRASES)(self._look_up_name)
        self._read = lru_cache(maxsize=_KEPT_QUESTIONS)(self._mentions)
        self._read_elsewhere = lru_cache(maxsize=_KEPT_QUESTIONS)(self._listed_company_spans)

    def mentions(self, question: str) -> list[CompanyMention]:
        """Return the indexed companies named in `question`, left to right, each with the longest matching name."""
        return list(self._read(question))

    @cached_property
    def by_day(self) -> dict[date, list[str]]:
        """The filings whose period ends on a day, or that were filed on it."""
        return grouped(
            (day, doc_id)
            for doc_id, identity in self.identities.items()
            for day in {identity.period_end, identity.filed}
            if day is not None
        )

    def unknown_names(self, question: str, taken: Sequence[tuple[int, int]] = ()) -> list[str]:
        """Return the names in `question` that are used like companies and are not indexed, each once, left to right.

        Where a known company is named, another name counts only if it is compared with it, possesses something or acts:
        other capitalized words are probably its products and segments ("Apple Watch", "Services").

        Args:
            question: The question.
            taken: (start, end) spans already understood: indexed companies, metrics, periods.
        """
        companies = [(mention.start, mention.end) for mention in self.mentions(question)]
        listed = self._read_elsewhere(question)
        marked = mask_spans(mask_spans(question, taken, _UNDERSTOOD), companies, _COMPANY)
        found = [each for each in _candidates(marked) if not overlaps_any(*each[1:], listed)]
        names: dict[int, str] = {}
        for whole, start, end in (*found, *((start, start, end) for start, end in listed)):
            if _PATTERNS["compared"].search(_last_words(marked, whole)):
                start = whole  # "than Under Armour": the first word belongs to the name
            if _is_used_as_company(marked, start, end, bool(companies), (start, end) in listed, _is_shouted(question)):
                names[start] = question[start:end].rstrip(".")
        return list(dict.fromkeys(names[start] for start in sorted(names)))

    def _listed_company_spans(self, question: str) -> tuple[tuple[int, int], ...]:
        """Return (start, end) of the listed companies that `question` names and the index lacks."""
        taken = [(mention.start, mention.end) for mention in self.mentions(question)]
        small = _PATTERNS["capital inside"].search(question) is None
        found: list[tuple[int, int]] = []
        for _, start, end, phrase in _phrases_of(question, _tokens_of(question)):
            if not self._book.is_unindexed_company(phrase) or overlaps_any(start, end, taken):
                continue
            wording = _PhraseContext(question, start, phrase, small)
            if wording.may_name(simplify_name(phrase), "name") and not overlaps_any(start, end, found):
                found.append((start, end))
        return tuple(found)

    def _mentions(self, question: str) -> tuple[CompanyMention, ...]:
        tokens = _tokens_of(question)
        # Without any capitals, names are not capitalized either.
        found = self._match_names(question, tokens, False) if _PATTERNS["capital inside"].search(question) else []
        found = found or self._match_names(question, tokens, True) or [*self._owners_of_brands(question, tokens)]
        # What another company does with it is no question about it: `the sales that came from Bolt`.
        counterparty = _PATTERNS["counterparty"].search
        return tuple(
            one
            for one in found
            if one.company is found[0].company or not counterparty(_last_words(question, one.start))
        )

    def _owners_of_brands(self, question: str, tokens: Sequence[_Token]) -> Iterator[CompanyMention]:
        """Yield the company that alone owns a brand named in the question; the brand's words still name a part."""
        owners: dict[str, CompanyMention] = {}
        for _, start, _, phrase in _phrases_of(question, tokens):
            owner = self._book.brands.get(simplify_name(phrase))
            if owner is not None:
                owners.setdefault(owner.key, CompanyMention(owner, start, start, "", "brand", _OF_A_BRAND))
        yield from owners.values()

    def _match_names(self, question: str, tokens: Sequence[_Token], relaxed: bool) -> list[CompanyMention]:
        found: list[CompanyMention] = []
        words = [text for _, _, text in tokens if text[0].isalpha()]
        title_case = sum(text[0].isupper() for text in words) > _TITLE_CASE * len(words)
        position = 0
        while position < len(tokens):
            mention, used = self._longest_match(question, tokens, position, relaxed)
            if mention is not None:
                after = () if title_case else tokens[position + used : position + used + 1]
                found.append(_adjust_for_following_word(mention, question, after))
            position += used
        return found

    def _longest_match(
        self, question: str, tokens: Sequence[_Token], position: int, relaxed: bool
    ) -> tuple[CompanyMention | None, int]:
        best: tuple[CompanyMention, int] | None = None
        first = tokens[position]
        marks = first[2].casefold() in company_words("exchanges") and question[first[1] :].lstrip().startswith(":")
        if marks and position + 1 < len(tokens) and self._looked_up(tokens[position + 1][2])[1] is not None:
            return None, 1  # `Nasdaq: AAPL`
        for count, start, end, phrase in _phrases_of(question, tokens[position : position + _MAX_TOKENS], 1):
            entry = self._entry(_PhraseContext(question, start, phrase, relaxed))
            if entry is not None and (best is None or entry.confidence > best[0].confidence):
                best = CompanyMention(entry.company, start, end, phrase, entry.how, entry.confidence), count
        return best if best is not None else (None, 1)

    def _entry(self, wording: _PhraseContext) -> Alias | None:
        alias, ticker, entry = self._looked_up(wording.phrase)
        if ticker is not None and wording.is_marked_as_ticker:
            return Alias(ticker, "ticker", 1.0)
        if ticker is not None and wording.may_be_ticker and (entry is None or entry.confidence < _TICKER_CONFIDENCE):
            return Alias(ticker, "ticker", _TICKER_CONFIDENCE)
        if entry is not None:
            return wording.adjusted_for_capital(entry) if wording.may_name(alias, entry.how) else None
        return self._guess_company(wording, alias) if alias else None

    def _look_up_name(self, phrase: str) -> tuple[str, Company | None, Alias | None]:
        """Return (normalized name, company by ticker, alias by name) of a phrase; the name is empty if impossible."""
        name, book = normalize_name(phrase), self._book
        if not name:
            return "", None, None
        entry = book.names.get(simplify_name(phrase)) or book.names.get(name)
        entry = entry or book.joined.get(name.replace(" ", "")) or book.names.get(join_initials(phrase))
        if entry is None and "&" in phrase:
            entry = book.names.get(name.replace(" ", ""))  # A&F for Abercrombie & Fitch Stores
        if entry is None and (name in company_words("not_companies") or len(name) < 3):
            name = ""
        return name, book.tickers.get(bare_ticker(phrase)), entry

    def _guess_company(self, wording: _PhraseContext, alias: str) -> Alias | None:
        name, entry = (self._book.closest_name(alias) if wording.may_be_misspelt else None) or ("", None)
        if entry is None:
            return None
        if {alias.split()[0], alias.split()[-1]} & company_words("not_companies") - set(name.split()):
            return None  # "If Nike" is not a misspelling of Nike
        return None if name in company_words("everyday") and alias == name + "s" else entry


def _tokens_of(question: str) -> list[_Token]:
    return [(found.start(), found.end(), found.group()) for found in _PATTERNS["token"].finditer(question)]


def _phrases_of(
    question: str, tokens: Sequence[_Token], starts: int | None = None
) -> Iterator[tuple[int, int, int, str]]:
    """Yield (number of tokens, start, end, words) of each run of words that may be a name, the longest first.

    Runs begin at each token from the left, or only at the first `starts` ones.
    """
    for first, (start, _, word) in enumerate(tokens[:starts]):
        for count in range(min(_MAX_TOKENS, len(tokens) - first), 0, -1):
            _, end, last = tokens[first + count - 1]
            if count > 1 and (word.casefold() in _ARTICLES or last.casefold() in _CONNECTIVES):
                continue
            phrase = _PATTERNS["possessive"].sub("", question[start:end].rstrip("."))
            yield count, start, start + len(phrase), phrase


def _adjust_for_following_word(mention: CompanyMention, question: str, after: Sequence[_Token]) -> CompanyMention:
    """Lower the confidence of a short name followed by a word that may belong to another company's name."""
    for start, _, word in after:
        beside = mention.how in ("short name", "nickname") and question[mention.end : start] == " "
        if beside and word[0].isupper() and normalize_name(word) not in company_words("not_companies"):
            return replace(mention, confidence=mention.confidence * _LONGER_NAME)
    return mention


@dataclass(frozen=True)
class _PhraseContext:
    """A phrase of a question and how it is written there; properties are evaluated on demand."""

    question: str
    start: int
    phrase: str
    relaxed: bool
    """Whether no company in the question is written in capitals."""

    @property
    def is_capitalized(self) -> bool:
        """Whether the phrase begins with a capital letter or a digit, in a question that is not all in capitals."""
        first = self.phrase[0]
        return first.isdigit() or (first.isupper() and (self.relaxed or not _is_shouted(self.question)))

    @property
    def is_possessive(self) -> bool:
        """Whether a possessive ending follows."""
        end = self.start + len(self.phrase)
        return _PATTERNS["owns"].match(self.question[end : end + 3]) is not None

    @cached_property
    def is_in_company_position(self) -> bool:
        """Whether the phrase is in the position of a company, in a question that capitalizes none."""
        return self.relaxed and _PATTERNS["as a company"].search(self._before) is not None

    @property
    def is_marked_as_ticker(self) -> bool:
        """Whether it is marked as a ticker symbol: `$AAPL`, `NYSE: NKE`."""
        exchange = re.search(r"(\w+)\s*:\s*$", self._before)
        return self._before.endswith("$") or (exchange and exchange[1].casefold() in company_words("exchanges")) is True

    @property
    def _before(self) -> str:
        start = self.start
        return self.question[:start] if start <= _LOOKED_BACK else "." + self.question[start - _LOOKED_BACK : start]

    @property
    def may_be_ticker(self) -> bool:
        """Whether it may be a ticker symbol: by its capitals, or in lower case where nothing else is named."""
        bare = bare_ticker(self.phrase)
        if self.is_possessive:
            return len(bare) >= _MIN_TICKER_LENGTH or self.phrase.isupper()
        if len(bare) == 1 or bare in company_words("not_companies"):
            return False
        if not _is_shouted(self.question) and sum(letter.isupper() for letter in self.phrase) > 1:
            return True
        in_small = self.phrase.islower() and _VOWELS.isdisjoint(bare) and bare not in word_lists("stopwords")["words"]
        no_word = len(bare) >= _MIN_TICKER_LENGTH or in_small
        return self.is_in_company_position and no_word and bare not in company_words("everyday")

    @property
    def may_be_misspelt(self) -> bool:
        """Whether it may be a misspelt name: names are capitalized or possessive."""
        last = self.phrase.split()[-1]
        return (self.is_capitalized and (last[0].isupper() or last[0].isdigit())) or self.is_possessive

    def may_name(self, alias: str, how: str) -> bool:
        """Return whether it may mean an alias; everyday words need a capital, a possessive or a company's position."""
        if how == "initials":
            if join_initials(self.phrase):
                return True
            if not self.phrase.replace(".", "").replace("&", "").isupper() or alias in company_words("not_companies"):
                return False
            if _is_shouted(self.question) and not self.is_in_company_position:
                return self.is_possessive
            return len(alias) > 2 or self.is_possessive or "&" in self.phrase
        common = map(company_words, ("everyday", "generic", "nouns_in_names", "not_companies"))
        everyday = alias in company_words("everyday") or frozenset(alias.split()) <= frozenset[str]().union(*common)
        if self.is_capitalized or not everyday:
            return True
        follows_article = _PATTERNS["not a name after"].search(self._before)
        return (self.is_possessive or self.is_in_company_position) and not follows_article

    def adjusted_for_capital(self, entry: Alias) -> Alias:
        """Return `entry`, less certain where only a sentence's capital distinguishes an everyday word from a name."""
        everyday = normalize_name(self.phrase) in company_words("everyday") and not self.is_possessive
        opens = everyday and not _is_shouted(self.question) and _PATTERNS["opens"].search(self._before)
        return replace(entry, confidence=entry.confidence * _OPENING) if opens else entry


_COMPANY, _UNDERSTOOD = "\x01", "\x02"
"""Marks that replace the letters of known companies, and of metrics and periods."""


def _is_used_as_company(marked: str, start: int, end: int, beside: bool, listed: bool, shouted: bool) -> bool:
    """Return whether a name is used like a company, in a question whose known companies and other words are marked.

    `beside` is whether the question names a known company, `listed` whether the name is known to be a company's, and
    `shouted` whether the question is all in capitals.
    """
    before, after = _last_words(marked, start), marked[end : end + _AROUND]
    if _PATTERNS["of a company"].search(before) and not _PATTERNS["compared"].search(before):
        return False
    if _PATTERNS["possessives"].match(after) or shouted:
        return _PATTERNS["possessives"].match(after) is not None
    if beside:
        acts = _PATTERNS["subject"].match(marked[:start]) and _PATTERNS["acts"].match(after)
        return bool(_PATTERNS["compared"].search(before) or _PATTERNS["beside a company"].match(after) or acts)
    return listed or _PATTERNS["before a company"].search(before.casefold()) is not None


def _is_shouted(question: str) -> bool:
    """Return whether a question is in capitals, not only in initials: `ACME REVENUE 2024`, but not `KO FY24 SG&A`."""
    return question.isupper() and any(len(word) > _LONGEST_INITIALS for word in question.split())


_LONGEST_INITIALS = 6


def company_like_names(question: str, understood: Sequence[tuple[int, int]]) -> list[str]:
    """Return all runs of capitalized words in a question that names no company: `General Electric capex`."""
    if _is_shouted(question):
        return []
    marked = mask_spans(question, understood, _UNDERSTOOD)
    return [question[start:end].rstrip(".") for _, start, end in _candidates(marked)]


_AROUND = 80
"""Characters next to a name that determine its role: more than any pattern here needs."""


def _last_words(text: str, end: int) -> str:
    return text[max(0, end - _AROUND) : end]


def _candidates(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield runs of capitalized words: the start of each, and its span trimmed by words that name nothing.

    Some of these words do begin a name (`General Dynamics`).
    """
    beginnings = company_words("generic")
    for run in _PATTERNS["name"].finditer(text):
        words = [(run.start() + word.start(), run.start() + word.end()) for word in re.finditer(r"\S+", run.group())]
        named = [place for place, (start, end) in enumerate(words) if not _is_not_name(text[start:end])]
        if named:
            first = named[0]
            while first and text[slice(*words[first - 1])].casefold() in beginnings:
                first -= 1
            yield run.start(), words[first][0], words[named[-1]][1]


def _is_not_name(word: str) -> bool:
    not_companies = company_words("not_companies")
    plain = word.casefold().rstrip(".").replace("'", "").replace("’", "")
    if plain in ("of", "and", "&") or plain.isdigit() or _PATTERNS["numbered"].search(plain):
        return True
    letters = [part for part in re.split(r"[&.]", plain) if part]
    return not not_companies.isdisjoint((plain, "".join(letters))) or not_companies.issuperset(letters)
