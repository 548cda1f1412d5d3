"""Companies set beside a known one in small letters: they are named as missing, and not passed over in silence.

Capitals tell a name that is not indexed (`lexicon.unknown_companies`). Without them its place tells a name: next to a
company across `and`, `vs`, `plus`, `than` or a list's comma, as a word that hardly any page of the filings has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from fin_agent.analyst.rules.intents import understood_spans
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.company_mentions import names_alone
from fin_agent.lexicon.company_names import bare_ticker, company_words
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.search_terms import stem, stopwords
from fin_agent.workspace import Workspace

_COMMON = 0.03
"""Share of the pages from which a word is one that filings use, and no name of a company they are not about."""
_PAGES_WITH_A_SYMBOL = 3
"""Of each filing at most, so that it is taken for a symbol though the index has few filings."""
_LONGEST_NAME = 3
_SHORTEST_TICKER = 3
_PIECE = re.compile(r"[^\W_][\w.&*-]*(?:['’](?!s\b)\w+)?|['’]s\b|[^\w\s]", re.I)
_AGAINST = frozenset({"vs", "versus", "against", "plus", "minus", "than"})
_JOINING = frozenset({"and", "or", "&"})
_TYING = frozenset({"with", "to"})
_TIES = re.compile(
    r"\b(?:compar\w*|relative|ratio|combin\w*|together|difference|add(?:ed)?|divid\w*|exceed\w*)\b", re.I
)
_DONE = re.compile(r"\w+(?:ed|ly)")
"""`grew faster than expected`, `more than previously`."""


def with_symbols(question: str, core: str, workspace: Workspace) -> str:
    """`question` with the symbols that stand in small letters beside a company in capitals: `AAPL vs msft`."""
    for name in partners_in(core, workspace):
        if len(name) >= _SHORTEST_TICKER and workspace.directory.mentions(name.upper()):
            question = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", name.upper(), question)
    return question


def partners_in(core: str, workspace: Workspace) -> list[str]:
    """Words of `core` that stand beside a company where another would, left to right; those known left out."""
    pieces = _pieces(core, workspace)
    rare = _rare({piece.word for piece in pieces if piece.kind == "word"}, workspace)
    names: dict[int, str] = {}
    while True:
        more = {start: end for start, end in _beside(pieces, rare, core) if pieces[start].kind == "word"}
        if not more:
            return [names[start] for start in sorted(names)]
        for start, end in more.items():
            names[pieces[start].start] = core[pieces[start].start : pieces[end - 1].end].rstrip(".")
            for place in range(start, end):
                pieces[place] = pieces[place].as_company()
        rare |= company_words().everyday  # `acme vs bolt vs target`: in a list of names it is one too


def name_alone(intent: Intent, workspace: Workspace) -> str | None:
    """What a question that names no indexed company seems to name as its company, for a message; None where nothing."""
    if intent.companies or intent.unknown_companies:
        return None
    words = company_words()
    understood = understood_spans(intent.core, workspace.directory, workspace.lexicon)
    capitals = names_alone(intent.core, understood, words.not_companies, words.generic)
    if capitals:
        return capitals[0]
    pieces = _pieces(intent.core, workspace)
    rare = _rare({piece.word for piece in pieces if piece.kind == "word"}, workspace)
    for place in range(len(pieces)):
        end = _run_from(pieces, place, rare)
        if end > place:
            return intent.core[pieces[place].start : pieces[end - 1].end].rstrip(".")
    return None


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word or a mark of the question, and what it is to it."""

    kind: str
    """`company`, `understood`, `word` (stands for nothing known), `stop` (names nothing), `joining`, `against`,
    `tying`, or a mark: `,`, `'s`, `.` for any other."""
    word: str
    start: int
    end: int

    def as_company(self) -> _Piece:
        return _Piece("company", self.word, self.start, self.end)


def _pieces(core: str, workspace: Workspace) -> list[_Piece]:
    directory = workspace.directory
    spans = [(one.start, one.end) for one in directory.mentions(core)]
    understood = understood_spans(core, directory, workspace.lexicon)
    for name in directory.unknown(core, understood):
        spans += [found.span() for found in re.finditer(re.escape(name), core)]
    of_companies, of_understood = _places(spans), _places(understood)
    stop = _stop_words()
    pieces: list[_Piece] = []
    for found in _PIECE.finditer(core):
        start, end = found.span()
        word = found.group().lower().rstrip(".")
        if start in of_companies:
            kind = "company"
        elif start in of_understood:
            kind = "understood"
        else:
            kind = _kind_of(word, stop)
        if not (kind == "company" and pieces and pieces[-1].kind == "company"):
            pieces.append(_Piece(kind, word, start, end))
    return [piece for piece in pieces if piece.word != "the"]


def _kind_of(word: str, stop: Collection[str]) -> str:
    for words, kind in ((_AGAINST, "against"), (_JOINING, "joining"), (_TYING, "tying")):
        if word in words:
            return kind
    if word == ",":
        return ","
    if word in ("'s", "’s", "'", "’"):
        return "'s"
    if not re.search(r"\w", word):
        return "."
    return "stop" if word in stop or not re.search(r"[^\W\d]{2}", word) else "word"


def _stop_words() -> Collection[str]:
    words = word_lists("question_words")
    own = company_words()
    return stopwords() | own.not_companies | own.legal_forms | words["neutral"] | words["boundary"] | words["no name"]


def _places(spans: Iterable[tuple[int, int]]) -> frozenset[int]:
    return frozenset(place for start, end in spans for place in range(start, end))


def _rare(words: Collection[str], workspace: Workspace) -> frozenset[str]:
    """Words that few pages have, in each of their parts; stop words are on all, symbols on their company's covers."""
    parts = {word: [part for part in re.findall(r"\w+", word) if len(part) > 1] for word in words}
    stems = {stem(part) for held in parts.values() for part in held}
    pages = workspace.index.document_frequencies(stems)
    most = _COMMON * workspace.index.page_count()
    covers = {
        bare_ticker(symbol): _PAGES_WITH_A_SYMBOL * len(company.doc_ids)
        for company in workspace.directory.companies
        for symbol in company.tickers
    }
    return frozenset(
        word for word in words if all(_seldom(part, pages, max(most, covers.get(word, 0))) for part in parts[word])
    )


def _seldom(part: str, pages: Mapping[str, int], most: float) -> bool:
    return part not in stopwords() and pages.get(stem(part), 0) < most


def _beside(pieces: Sequence[_Piece], rare: Collection[str], core: str) -> Iterator[tuple[int, int]]:
    """(first, last + 1) of each run of words that stands beside a company."""
    if not any(piece.kind == "company" for piece in pieces):
        return
    ties = _TIES.search(core) is not None
    listed = frozenset(_commas_of_lists(pieces))
    for place, piece in enumerate(pieces):
        if piece.kind == "," and place not in listed:
            continue
        if piece.kind not in (",", "joining", "against") and not (piece.kind == "tying" and ties):
            continue
        before, after = _before(pieces, place), place + 1
        if piece.kind == "," and after < len(pieces) and pieces[after].kind == "joining":
            continue
        run = _run_from(pieces, after, rare)
        done = piece.word == "than" and run > after and _DONE.fullmatch(pieces[after].word)
        if run > after and not done and _company_before(pieces, place, piece):
            yield after, run
        while piece.kind == "against" and before > 0 and pieces[before].kind == "understood":
            before = _before(pieces, before)  # `acme revenue vs Bolt`
        start = _run_to(pieces, before + 1, rare)
        if start <= before and after < len(pieces) and pieces[after].kind == "company":
            yield start, before + 1
    kinds = {piece.kind for piece in pieces}
    if "company" not in kinds or not (ties or kinds & {"against", "joining"}):
        return
    for place, piece in enumerate(pieces):
        if piece.kind == "'s":
            start = _run_to(pieces, place, rare)
            if start < place and not (start and pieces[start - 1].kind in ("company", "'s")):
                yield start, place


def _before(pieces: Sequence[_Piece], place: int) -> int:
    """The piece before `place`, possessives and a comma before `and` passed over."""
    place -= 1
    while place > 0 and pieces[place].kind in ("'s", ","):
        place -= 1
    return place


def _company_before(pieces: Sequence[_Piece], place: int, piece: _Piece) -> bool:
    if piece.word == "than":
        return any(other.kind == "company" for other in pieces[:place])
    before = _before(pieces, place)
    while piece.kind == "against" and before > 0 and pieces[before].kind == "understood":
        before = _before(pieces, before)  # `Acme's revenue vs bolt's`
    return before >= 0 and pieces[before].kind == "company"


def _commas_of_lists(pieces: Sequence[_Piece]) -> Iterator[int]:
    """Places of the commas that part members of a list that ends with `and` or `or` and names a company."""
    kinds = [piece.kind for piece in pieces]
    joinings, companies = ([0, *accumulate(each == kind for each in kinds)] for kind in ("joining", "company"))
    ends, end = [0] * len(kinds), len(kinds)
    for place in range(len(kinds) - 1, -1, -1):
        end = end if kinds[place] in (*_OF_A_LIST, "joining") else place
        ends[place] = end
    start = 0
    for place, kind in enumerate(kinds):
        if kind == ",":
            first, last = max(start, place - _LONGEST_LIST), min(ends[place], place + _LONGEST_LIST)
            if joinings[first] < joinings[last] and companies[first] < companies[last]:
                yield place
        elif kind not in _OF_A_LIST:
            start = place + 1


_OF_A_LIST = ("company", "word", "'s", ",")
_LONGEST_LIST = 60
"""Words and marks on either side of a comma."""


def _run_from(pieces: Sequence[_Piece], start: int, rare: Collection[str]) -> int:
    end = start
    if start + 1 < len(pieces) and pieces[start].word in company_words().generic and pieces[start + 1].word in rare:
        end += 1  # `general dynamics`
    while end < min(len(pieces), start + _LONGEST_NAME) and pieces[end].kind == "word" and pieces[end].word in rare:
        end += 1
    return end


def _run_to(pieces: Sequence[_Piece], end: int, rare: Collection[str]) -> int:
    start = end
    while start > max(0, end - _LONGEST_NAME) and pieces[start - 1].kind == "word" and pieces[start - 1].word in rare:
        start -= 1
    return start
