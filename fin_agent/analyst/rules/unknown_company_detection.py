"""Detect unknown companies next to a known one in lower case, so that they are reported as missing.

Capitalized names are found by `lexicon.unknown_companies`. A lower-case name is recognized by its place next to a
company across `and`, `vs`, `plus` or `than`, and by its rarity in the filings.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from fin_agent.analyst.rules.words_to_intent import understood_spans
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.company_mentions import company_like_names
from fin_agent.lexicon.company_names import bare_ticker, company_words
from fin_agent.lexicon.text_normalization import places_of, words_in
from fin_agent.lexicon.words import any_of, finds, word_lists
from fin_agent.retrieval.search_terms import stem, stopwords
from fin_agent.workspace import Workspace

_COMMON = 0.03
"""Share of pages above which a word is common in filings, and no name of another company."""
_PAGES_WITH_A_SYMBOL = 3
"""Pages counted per filing at most, so that a small index still recognizes symbols."""
_MIN_TICKER_LENGTH = 3
_PIECE = re.compile(r"[^\W_][\w.&*-]*(?:['’](?!s\b)\w+)?|['’]s\b|[^\w\s]", re.I)
_KINDS = {
    **dict.fromkeys(("vs", "versus", "against", "plus", "minus"), "A"),
    "than": "N",
    **dict.fromkeys(("and", "or", "&"), "J"),
    **dict.fromkeys(("with", "to"), "T"),
    **dict.fromkeys(("'s", "’s", "'", "’"), "'"),
    ",": ",",
}
"""One letter for the function of a word or mark.

C is a company, U an understood word, W a rare word, V any other word, S a word without content.
"""
_RUN = re.compile(r"W{1,3}")
_BEFORE = re.compile(r"(?:C'?J|C'?[U']*A|C.*N)$")
_BEHIND = re.compile(r"'?(?:J|[U']*[AN])C|,C,?JC")
"""What joins a name to a company before it, and behind it."""


class _Token(NamedTuple):
    """A word or mark of the question."""

    word: str
    start: int
    end: int


def with_uppercase_tickers(question: str, core: str, workspace: Workspace) -> str:
    """Return `question` with lower-case ticker symbols next to a company in capitals: `AAPL vs msft`."""
    for name in unknown_companies_in(core, workspace):
        if len(name) >= _MIN_TICKER_LENGTH and workspace.directory.mentions(name.upper()):
            question = any_of([name]).sub(name.upper(), question)
    return question


def unknown_companies_in(core: str, workspace: Workspace) -> list[str]:
    """Return words of `core` in the place of a company's name next to a known company, left to right."""
    pieces, kinds = _read(core, workspace)
    ties = finds(core, "ties")
    kinds = kinds.replace("T", "J" if ties else "S")
    compares = "C" in kinds and (ties or not set("ANJ").isdisjoint(kinds))
    found: list[str] = []
    for start, end in [run.span() for run in _RUN.finditer(kinds)]:
        owns = compares and kinds[end : end + 1] == "'"
        if owns or _BEFORE.search(kinds[:start]) or _BEHIND.match(kinds[end:]):
            found.append(_text(core, pieces, start, end))
            kinds = f"{kinds[:start]}{'C' * (end - start)}{kinds[end:]}"
    return found


def apparent_company_name(intent: Intent, workspace: Workspace) -> str | None:
    """Return the apparent company name of a question that names no indexed company, or None; for a message."""
    if intent.companies or intent.unknown_companies:
        return None
    understood = understood_spans(intent.core, workspace.directory, workspace.lexicon)
    capitals = company_like_names(intent.core, understood)
    if capitals:
        return capitals[0]
    pieces, kinds = _read(intent.core, workspace)
    run = _RUN.search(kinds)
    return _text(intent.core, pieces, *run.span()) if run else None


def _text(core: str, pieces: list[_Token], start: int, end: int) -> str:
    return core[pieces[start].start : pieces[end - 1].end].rstrip(".")


def _read(core: str, workspace: Workspace) -> tuple[list[_Token], str]:
    """Return the words and marks of a question, and a letter for each."""
    directory = workspace.directory
    spans = [(one.start, one.end) for one in directory.mentions(core)]
    understood = understood_spans(core, directory, workspace.lexicon)
    for name in directory.unknown_names(core, understood):
        spans += places_of(name, core)
    companies, known = _places(spans), _places(understood)
    pieces = [_Token(found[0].lower().rstrip("."), *found.span()) for found in _PIECE.finditer(core)]
    pieces = [one for one in pieces if one.word != "the" or one.start in companies]
    stop = _stop_words()
    kinds = [
        "C" if one.start in companies else "U" if one.start in known else _kind_of(one.word, stop) for one in pieces
    ]
    rare = _rare({one.word for one, kind in zip(pieces, kinds, strict=True) if kind == "V"}, workspace)
    generic = company_words().generic
    for place in range(len(pieces) - 1, -1, -1):
        word, after = pieces[place].word, "".join(kinds[place + 1 : place + 2])
        led_in = word in generic and after == "W"  # `general dynamics`
        done = place > 0 and kinds[place - 1] == "N" and word.endswith(("ed", "ly"))
        if kinds[place] == "V" and not done and (word in rare or led_in):
            kinds[place] = "W"
    return pieces, "".join(kinds)


def _kind_of(word: str, stop: Collection[str]) -> str:
    if word in _KINDS:
        return _KINDS[word]
    if not any(map(str.isalnum, word)):
        return "."
    return "S" if word in stop or not any(len(part) > 1 for part in words_in(word)) else "V"


def _stop_words() -> Collection[str]:
    words = word_lists("question_words")
    own = company_words()
    return stopwords() | own.not_companies | own.legal_forms | words["neutral"] | words["boundary"] | words["no name"]


def _places(spans: Iterable[tuple[int, int]]) -> frozenset[int]:
    return frozenset(place for start, end in spans for place in range(start, end))


def _rare(words: Collection[str], workspace: Workspace) -> frozenset[str]:
    """Return the words that occur on few pages, in each of their parts; stop words never do."""
    parts = {word: [part for part in re.findall(r"\w+", word) if len(part) > 1] for word in words}
    stems = {stem(part) for held in parts.values() for part in held}
    pages = workspace.index.document_frequencies(stems)
    most = _COMMON * workspace.index.page_count()
    covers = {
        bare_ticker(symbol): _PAGES_WITH_A_SYMBOL * len(company.doc_ids)
        for company in workspace.directory.companies
        for symbol in company.tickers
    }

    def is_rare(word: str, part: str) -> bool:
        return part not in stopwords() and pages.get(stem(part), 0) < max(most, covers.get(word, 0))

    return frozenset(word for word in words if all(is_rare(word, part) for part in parts[word]))
