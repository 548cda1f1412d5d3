"""Names in a question that stand where a company would and that no indexed company has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

_COMPANY, _UNDERSTOOD = "\x01", "\x02"
"""What is written over the letters of companies that are known, and of metrics and periods."""
_WORD = r"(?:[A-Z]|\d+[A-Z](?![A-Z]*\b)|\d+M\b|\d+-(?=[A-Z][a-z]))[\w.*&-]*(?:['’](?![sS]\b)\w+)?"
_NAME = re.compile(rf"(?<![\w.-]){_WORD}(?:\s+(?:(?:&|of|and)\s+)?{_WORD})*")
_POSSESSIVE = re.compile(r"['’](?:s\b|(?!\w))", re.I)
_BEFORE_A_COMPANY = re.compile(
    r"\b(?:for|of|by|did|does|do|has|have|had|is|are|was|were|will|and|or|than|versus|vs\.?|to|at|compare|between"
    r"|against)\s+$"
)
_SUBJECT = re.compile(r"^\W*(?:\w+\W+){0,4}?(?:did|does|do|has|have|had|will)\s+$")
_ACTS = re.compile(r"\s+(?!\x02|and\b|or\b|affect|impact|influence)")
_COMPARED = re.compile(
    r"\b(?:than|versus|vs\.?|against|compare|compared? (?:to|with)|between|that of|those of)\s+$"
    r"|\x01['’]?s?,?\s+(?:and|or|with|to)\s+$",
    re.I,
)
_BESIDE_A_COMPANY = re.compile(r"^(?:,|\s+(?:and|or|versus|vs\.?|with|to|than))\s+\x01", re.I)
_OF_A_COMPANY = re.compile(r"\x01['’]?s?\s+$", re.I)
_NUMBERED = re.compile(r"-\d")
"""COVID-19, Form 10-K."""


def unknown_names(
    question: str,
    companies: Sequence[tuple[int, int]],
    understood: Sequence[tuple[int, int]],
    not_companies: Collection[str],
    beginnings: Collection[str] = (),
) -> list[str]:
    """The names, each once, left to right.

    `not_companies` are words that name none; those in `beginnings` do where a name follows (`General Dynamics`).
    `companies` are the (start, end) spans of indexed companies, `understood` those of metrics and periods. Where a
    company is known already, only a second one that is set beside it, possesses something or acts counts: other
    capitals are likely its products and segments ("Apple Watch", "Services").
    """
    marked = _written_over(_written_over(question, understood, _UNDERSTOOD), companies, _COMPANY)
    names: list[str] = []
    for whole, start, end in _candidates(marked, not_companies, beginnings):
        if _COMPARED.search(marked[:whole]):
            start = whole  # "than Under Armour": what would be cut off belongs to the name
        before, after = marked[:start], marked[end:]
        if _OF_A_COMPANY.search(before) and not _COMPARED.search(before):
            continue
        possessive = _POSSESSIVE.match(after) is not None
        if question.isupper():
            stands = possessive
        elif companies:
            beside = _COMPARED.search(before) or _BESIDE_A_COMPANY.match(after)
            acts = _SUBJECT.match(before.casefold()) and _ACTS.match(after)
            stands = possessive or bool(beside or acts)
        else:
            stands = possessive or _BEFORE_A_COMPANY.search(before.casefold()) is not None
        if stands:
            names.append(question[start:end].rstrip("."))
    return list(dict.fromkeys(names))


def names_alone(
    question: str,
    understood: Sequence[tuple[int, int]],
    not_companies: Collection[str],
    beginnings: Collection[str] = (),
) -> list[str]:
    """Runs of capitalised words of a question that names no company, wherever they stand: `General Electric capex`."""
    marked = _written_over(question, understood, _UNDERSTOOD)
    if question.isupper():
        return []
    return [question[start:end].rstrip(".") for _, start, end in _candidates(marked, not_companies, beginnings)]


def _written_over(text: str, spans: Iterable[tuple[int, int]], mark: str) -> str:
    for start, end in spans:
        text = text[:start] + mark * (end - start) + text[end:]
    return text


def _candidates(
    text: str, not_companies: Collection[str], beginnings: Collection[str]
) -> Iterator[tuple[int, int, int]]:
    """Runs of capitalised words: where each begins, and its span without the words at either end that name nothing."""
    for run in _NAME.finditer(text):
        words = [(run.start() + word.start(), run.start() + word.end()) for word in re.finditer(r"\S+", run.group())]
        empty = [_is_no_name(text[start:end], not_companies) for start, end in words]
        named = [place for place, void in enumerate(empty) if not void]
        if named:
            first = named[0]
            while first and text[slice(*words[first - 1])].casefold() in beginnings:
                first -= 1
            yield run.start(), words[first][0], words[named[-1]][1]


def _is_no_name(word: str, not_companies: Collection[str]) -> bool:
    plain = word.casefold().rstrip(".").replace("'", "").replace("’", "")
    letters = [part for part in re.split(r"[&.]", plain) if part]
    if plain in ("of", "and", "&") or plain.isdigit() or _NUMBERED.search(plain):
        return True
    joined = "".join(letters)
    return plain in not_companies or joined in not_companies or all(part in not_companies for part in letters)
