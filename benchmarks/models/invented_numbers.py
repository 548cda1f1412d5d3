"""Numbers of an answer that nothing it cites prints: a check of its own, apart from the package's provenance check.

Every number of the answer's text has to be printed on a cited page or stand in the question, or be the result of the
program; every number of the program has to be printed on a cited page or stand in the question, or be one of the few
that formulas are made of. What a filing is called by (`ACME_2022_10K`) may be said of it. Programs are run anew.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path

from benchmarks.models.page_print import page_text
from fin_agent.answering.answer import Answer
from fin_agent.answering.sandbox import ProgramExecutor

_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+")
_ROWS = re.compile(r"\bof \d+ rows\b")
"""How many were compared: a count of what is cited, printed nowhere."""
_PROGRAM = re.compile(r"^def (?=solution\b)", re.M)
"""Where one begins: an answer to several questions has several, and so has one with what a model says beside it."""
_OF_FORMULAS = frozenset(map(Decimal, (0, 1, 2, 3, 4, 12, 52, 100, 365, 1_000, 1_000_000, 1_000_000_000)))
_FACTORS = tuple(Decimal(factor) for factor in ("1", "100", "0.01", "1e3", "1e-3", "1e6", "1e-6", "1e9", "1e-9"))


def invented_numbers(answer: Answer, pdfs: Path, executor: ProgramExecutor) -> list[str]:
    """What is wrong, a line each; nothing for a refusal, which states no number of its own."""
    if answer.refused:
        return [] if answer.answer.value is None else [f"a refusal with the value {answer.answer.value}"]
    printed = _printed(answer, pdfs)
    results: list[Decimal] = []
    found: list[str] = []
    if answer.program:
        found += [f"literal {each}" for each in _literals(answer.program) if each not in printed | _OF_FORMULAS]
        each_program = _PROGRAM.split(answer.program)[1:]
        results = [one for program in each_program for one in _results(executor.run(f"def {program}").value)]
    value = answer.answer.value
    if value is not None and not _is_of(Decimal(repr(value)), results, printed):
        found.append(f"value {value}")
    said = _ROWS.sub("", answer.answer.text)
    found += [f"{each} in the text" for each in _numbers(said) if not _is_of(each, results, printed)]
    return list(dict.fromkeys(found))


def _printed(answer: Answer, pdfs: Path) -> set[Decimal]:
    """Numbers of the cited pages, of their filings' names and of the question."""
    pages = dict.fromkeys((cited.doc_id, cited.page) for cited in answer.citations)
    texts = [
        answer.question,
        *(doc_id.replace("_", " ") for doc_id, _ in pages),
        *(page_text(pdfs, page) for page in pages),
    ]
    return {number for text in texts for number in _numbers(text)}


def _numbers(text: str) -> Iterator[Decimal]:
    """All that is written in digits, without signs: labels and years too."""
    for found in _NUMBER.finditer(text):
        yield Decimal(found[0].replace(",", ""))


def _literals(code: str) -> Iterator[Decimal]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            yield abs(Decimal(repr(node.value)))


def _results(value: object) -> Iterator[Decimal]:
    if isinstance(value, list):
        for each in value:
            yield from _results(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield abs(Decimal(repr(value)))
    elif isinstance(value, str):
        yield from _numbers(value)


def _is_of(number: Decimal, results: Iterable[Decimal], printed: set[Decimal]) -> bool:
    """Whether it is printed, or a result in some unit, rounded as it is written."""
    size = abs(number)
    if size in printed:
        return True
    last = Decimal(1).scaleb(min(0, int(size.as_tuple().exponent)))
    return any(abs(result * factor - size) <= last / 2 for result in results for factor in _FACTORS)
