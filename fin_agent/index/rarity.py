"""Which terms of a search are rare enough to be worth looking for among very many summaries."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass

MOST_MATCHES = 20_000
"""Summaries that one search may score, at about a microsecond each: what holds more than that tells little apart."""


@dataclass(frozen=True, slots=True)
class ChosenTerms:
    """What is searched for."""

    terms: tuple[str, ...]
    worth_scoring: bool = True
    """False where even the rarest term is in more summaries than may be scored."""


class SummaryFrequencies:
    """In how many summaries stems occur, each looked up once: good for as long as the index does not change."""

    def __init__(self) -> None:
        self._met: dict[str, int] = {}

    def of(self, stems: Collection[str], connection: sqlite3.Connection) -> dict[str, int]:
        """Of each of `stems`; `connection` is that of the index."""
        new = sorted({stem for stem in stems if stem not in self._met})
        if new:
            found = connection.execute(
                "SELECT term, doc FROM filings_vocabulary WHERE term IN (SELECT value FROM json_each(?))",
                (json.dumps(new),),
            )
            self._met.update(dict.fromkeys(new, 0) | {row[0]: row[1] for row in found})
        return {stem: self._met[stem] for stem in stems}


def rare_terms(
    terms: Sequence[str], frequencies: SummaryFrequencies, connection: sqlite3.Connection, summaries: int
) -> ChosenTerms:
    """The rarest of `terms` that `summaries` hold at all, as many as may be scored together; at least one.

    All of them where they are few or the summaries are. `connection` is that of the index.
    """
    asked = tuple(dict.fromkeys(terms))
    if summaries * len(asked) <= MOST_MATCHES:
        return ChosenTerms(asked)
    stems = _stems(asked)
    held = frequencies.of({stem for of_term in stems for stem in of_term}, connection)
    # A phrase is in no more summaries than its rarest word.
    counts = [min((held[stem] for stem in of_term), default=0) for of_term in stems]
    kept: list[str] = []
    matches = 0
    for count, term in sorted((count, term) for count, term in zip(counts, asked, strict=True) if count):
        if kept and matches + count > MOST_MATCHES:
            break
        kept.append(term)
        matches += count
    return ChosenTerms(tuple(kept), matches <= MOST_MATCHES)


def _stems(terms: Sequence[str]) -> list[list[str]]:
    """What the full-text index makes of each term: only its own tokenizer knows."""
    stems: list[list[str]] = [[] for _ in terms]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as words:
        words.execute('CREATE VIRTUAL TABLE words USING fts5 (word, tokenize = "porter unicode61 remove_diacritics 2")')
        words.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'instance')")
        words.execute("BEGIN")
        words.executemany(
            "INSERT INTO words (rowid, word) VALUES (?, ?)",
            ((at, term.encode("utf-8", "replace").decode()) for at, term in enumerate(terms)),
        )
        for at, stem in words.execute("SELECT doc, term FROM vocabulary"):
            stems[at].append(stem)
    return stems
