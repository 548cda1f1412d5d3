"""Split a question into separate requests: `What was revenue in 2023, and what share of it came from services?`."""

from __future__ import annotations

from collections.abc import Iterator

from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.words import finds, patterns
from fin_agent.query.question_sentences import sentences_of
from fin_agent.query.tree import Operation, Query
from fin_agent.retrieval.fact_terms import OF_TIME, words_of

_PATTERNS = patterns("question_patterns")


def split_requests(question: str) -> tuple[str, ...]:
    """Return the requests of a question in its own words and order, without repetition.

    Definitions and instructions are appended to each request.

    >>> split_requests("When did the plant close, and how many people lost work?")
    ('When did the plant close?', 'how many people lost work?')
    >>> split_requests("In 2020, what was revenue and what was its growth?")
    ('In 2020, what was revenue?', 'what was its growth?')
    >>> split_requests("What was revenue? What were costs? What was revenue?")
    ('What was revenue?', 'What were costs?')
    """
    split = sentences_of(question)
    pieces = list(dict.fromkeys(piece for sentence in split.sentences for piece in _pieces(sentence)))
    if len(pieces) < 2:
        return (question,)
    rest = [*(f"{name} = {formula}." for name, formula in split.definitions), *split.statements]
    return tuple(" ".join((f"{piece}?", *rest)) for piece in pieces)


def asks_something(ask: str) -> bool:
    """Return whether a text has a question word, unlike statements and headings."""
    return _PATTERNS["asking word"].search(ask) is not None


def asks_only_difference(ask: str) -> bool:
    """Return whether a text asks only for the difference of what was compared before, or for its figures."""
    return _PATTERNS["difference"].fullmatch(ask.strip(" ?.")) is not None


def is_told(ask: str, before: Query | None) -> bool:
    """Return whether a text asks only for what the answer to the previous question gives: a difference, a result."""
    if before is None:
        return False
    computed = isinstance(before.only_measure, Operation)
    of_result = computed and finds(ask.strip(" ?."), "asks the result", "question_words")
    return of_result or (before.tells_difference and asks_only_difference(ask))


def resolve_references(ask: str, before: Query | None) -> str:
    """Return the request with `it` and `that segment` replaced by the names in the previous question."""
    if before is None:
        return ask
    words = next((line.words for line in before.lines()), "")
    part = before.parts.names[0] if before.parts is not None and len(before.parts.names) == 1 else ""
    named = _PATTERNS["that part"].sub(rf"{part} \g<kind>", ask, count=1) if part else ask
    whole = f"{part} {words}".strip()
    return _PATTERNS["subject"].sub(whole, named, count=1) if words and named == ask else named


def with_whole_named(ask: str, before: Query | None, company: str, period: str) -> str:
    """Return the request with what `how much of it` is a part of: a company's measure, at a period."""
    words = next((line.words for line in before.lines()), "") if before is not None else ""
    return _PATTERNS["of it"].sub(f"{company}'s {words} at {period}", ask, count=1) if words else ask


def candidate_splits(ask: str, *, signs_only: bool = False) -> list[tuple[str, str]]:
    """Return the ways to split a request at a joint, last joint first: `rev growth yoy + gross margin`.

    A sign within brackets, or beside other signs of arithmetic, joins no requests: `(a + b) / c`, `a / b + c`.
    """
    joints = _PATTERNS["sign" if signs_only else "loose joint"].finditer(ask.strip(" ?"))
    formula = any(f" {sign} " in ask for sign in "/*")
    found = [
        (ask[: at.start()].strip(" ?"), ask[at.end() :].strip(" ?")) for at in joints if not (formula and "+" in at[0])
    ]
    whole = (pair for pair in reversed(found) if all(each.count("(") == each.count(")") for each in pair))
    return [(f"{one}?", f"{other}?") for one, other in whole if len(one.split()) > 1 and other]


def moves_only_first(ask: str) -> bool:
    """Return whether a movement stands behind the first of two measures, and so is of this one only.

    >>> moves_only_first("Acme revenue growth and operating margin"), moves_only_first("growth of revenue and costs")
    (True, False)
    """
    return _PATTERNS["its own movement"].search(ask) is not None


def attribute_asks(ask: str) -> Iterator[tuple[str, ...]]:
    """Yield the ways to ask one by one for attributes that are listed behind, or before, their subject.

    >>> next(attribute_asks("Acme warranty reserve Q2 2025: ending balance and provision?"))
    ('Acme warranty reserve Q2 2025 ending balance?', 'Acme warranty reserve Q2 2025 provision?')
    >>> next(attribute_asks("Acme: carrying value vs fair value of the notes"))
    ('Acme: carrying value of the notes?', 'fair value of the notes?')
    >>> next(attribute_asks("Acme's commitments at the end of 2018 and the part due in 2019"))
    ("Acme's commitments at the end of 2018?", "Acme's commitments at the end of 2018 due in 2019?")
    """
    text = _PATTERNS["kind of table"].sub("", ask.strip(" ?"))
    if shared := _PATTERNS["shared end"].fullmatch(text):
        yield f"{shared['one']} of {shared['of']}?", f"{shared['other']} of {shared['of']}?"
    for ends in _PATTERNS["subject end"].finditer(text):
        subject, items = text[: ends.start()].strip(), _PATTERNS["item end"].split(text[ends.end() :])
        more_than_periods = all(any(not word.isdigit() for word in words_of(item) - OF_TIME) for item in items)
        if subject and 1 < len(items) < 5 and more_than_periods:
            yield tuple(f"{subject} {item.strip()}?" for item in items)
            dated = [one for one in parse_periods(subject).mentions if one.end == len(subject)]
            for when in dated:
                yield tuple(f"{subject[: when.start]}{item.strip()} {subject[when.start :]}?" for item in items)
        if "," not in ends[0]:
            break  # what stands behind a colon is no more of the subject
    if piece := _PATTERNS["piece of it"].fullmatch(text):
        share = "What share of " * bool(piece["share"])
        yield f"{piece['whole']}?", f"{share}{piece['whole']} {'is ' * bool(share)}{piece['rest']}?"


def _pieces(sentence: str) -> list[str]:
    pieces: list[str] = []
    start = depth = 0
    places = [(one.start(), one.end()) for one in _PATTERNS["boundary"].finditer(sentence)]
    for begin, end in [*places, (len(sentence), len(sentence))]:
        depth = sentence.count("(", start, begin) - sentence.count(")", start, begin)
        if depth > 0 and begin < len(sentence):
            continue
        piece = sentence[start:begin].strip(" ?.,;-–—")
        if not is_subordinate(piece) or begin == len(sentence) or sentence[begin] == "?":
            if sum(map(str.isalnum, piece)) > 1:
                pieces.append(piece)
            start = end
    return pieces


def is_subordinate(piece: str) -> bool:
    """Return whether a piece only sets the time or subject of the next one: `When Acme listed its shares`."""
    lead = _PATTERNS["subordinate"].match(piece)
    if lead is None:
        return False
    rest = piece[lead.end() :].strip()
    asks_itself = _PATTERNS["asking word"].match(rest) or _PATTERNS["asks behind a comma"].search(piece)
    if lead.group().lower() in ("when", "where"):
        return not _PATTERNS["inverted"].match(rest)
    return not asks_itself
