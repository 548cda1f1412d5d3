"""One analyzed field of an index: which documents hold a term how often, and BM25 as Lucene computes it."""

from __future__ import annotations

import math
import struct
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence

from tests.index.elastic_server.analysis import Analyzer

K1, B = 1.2, 0.75


class TextField:
    """Postings of one field. Documents are numbered upwards; those deleted stay counted, as in Lucene until a merge."""

    def __init__(self, analyzer: Analyzer) -> None:
        self.analyzer = analyzer
        self._term_numbers: dict[str, int] = {}
        self._documents: list[array[int]] = []
        """Of each term: the documents that hold it, ascending."""
        self._counts: list[array[int]] = []
        self._texts: dict[int, array[int]] = {}
        """Of each document: its terms in order."""
        self._lengths: dict[int, int] = {}
        """Of each document: its length as one byte keeps it."""
        self._terms_in_all = 0
        self._norms_kept = _Norms(1.0)

    def add(self, number: int, text: str) -> None:
        """Index the text of a document, whose number is above all before."""
        terms = self.analyzer(text)
        if not terms:
            return
        numbers = array("I", [self._number(term) for term in terms])
        for term, count in Counter(numbers).items():
            self._documents[term].append(number)
            self._counts[term].append(min(count, 65_535))
        self._texts[number] = numbers
        self._lengths[number] = kept_length(len(terms))
        self._terms_in_all += len(terms)

    def holding(self, term: str) -> Sequence[int]:
        """Documents that hold a term (not analyzed), ascending."""
        at = self._term_numbers.get(term)
        return () if at is None else self._documents[at]

    def scores_of_any(self, text: str, within: Collection[int] | None) -> dict[int, float]:
        """BM25 of documents that hold any word of `text`; of those in `within` only, where given."""
        scores: dict[int, float] = {}
        for term in self.analyzer(text):
            at = self._term_numbers.get(term)
            if at is None:
                continue
            documents, counts = self._documents[at], self._counts[at]
            weight = self._weight(len(documents))
            if within is not None and len(within) * 8 < len(documents):
                for number in within:
                    place = bisect_left(documents, number)
                    if place < len(documents) and documents[place] == number:
                        scores[number] = scores.get(number, 0.0) + self._score(weight, counts[place], number)
                continue
            norms, lengths = self._norms(), self._lengths
            for number, count in zip(documents, counts, strict=True):
                if within is None or number in within:
                    norm = norms[lengths[number]]
                    scores[number] = scores.get(number, 0.0) + weight * count / (count + norm)
        return scores

    def scores_of_phrase(self, text: str, within: Collection[int] | None) -> dict[int, float]:
        """BM25 of documents that hold the words of `text` side by side: the phrase weighs as its words together."""
        terms = self.analyzer(text)
        numbers = [self._term_numbers.get(term) for term in terms]
        if not numbers or None in numbers:
            return {}
        known = [number for number in numbers if number is not None]
        if len(known) == 1:
            return self.scores_of_any(text, within)
        rarest = min(known, key=lambda at: len(self._documents[at]))
        candidates: set[int] = set(self._documents[rarest])
        if within is not None:
            candidates &= set(within)
        for at in sorted(set(known) - {rarest}, key=lambda at: len(self._documents[at])):
            held = self._documents[at]
            if len(candidates) * 8 < len(held):
                candidates = {number for number in candidates if _in(held, number)}
            else:
                candidates &= set(held)
        weight = sum(self._weight(len(self._documents[at])) for at in known)
        wanted = array("I", known).tobytes()
        scores: dict[int, float] = {}
        for number in candidates:
            count = _times(wanted, self._texts[number].tobytes())
            if count:
                scores[number] = self._score(weight, count, number)
        return scores

    def _number(self, term: str) -> int:
        at = self._term_numbers.get(term)
        if at is None:
            at = self._term_numbers[term] = len(self._documents)
            self._documents.append(array("I"))
            self._counts.append(array("H"))
        return at

    def _weight(self, held: int) -> float:
        documents = len(self._lengths)
        # With the factor k1 + 1, as Elasticsearch's LegacyBM25Similarity has it and Lucene's own BM25 no longer.
        return (K1 + 1) * math.log(1 + (documents - held + 0.5) / (held + 0.5))

    def _score(self, weight: float, count: int, number: int) -> float:
        return weight * count / (count + self._norms()[self._lengths[number]])

    def _norms(self) -> _Norms:
        average = self._terms_in_all / max(1, len(self._lengths))
        if self._norms_kept.average != average:
            self._norms_kept = _Norms(average)
        return self._norms_kept


class _Norms(dict[int, float]):
    """Length of a document -> what its counts are weighed against."""

    def __init__(self, average: float) -> None:
        super().__init__()
        self.average = average

    def __missing__(self, length: int) -> float:
        self[length] = K1 * (1 - B + B * length / self.average)
        return self[length]


def _in(ascending: Sequence[int], number: int) -> bool:
    place = bisect_left(ascending, number)
    return place < len(ascending) and ascending[place] == number


def _times(wanted: bytes, text: bytes) -> int:
    size, count, at = 4, 0, text.find(wanted)
    while at >= 0:
        count += at % size == 0
        at = text.find(wanted, at + 1)
    return count


def kept_length(length: int) -> int:
    """A length as Lucene's SmallFloat.intToByte4 keeps it: exact up to 40, then in ever larger steps."""
    free = 255 - _to_byte(2**31 - 1)
    if length < free:
        return length
    return free + _from_byte(_to_byte(length - free))


def _to_byte(number: int) -> int:
    bits = number.bit_length()
    if bits < 4:
        return number
    shift = bits - 4
    return ((number >> shift) & 0x07) | ((shift + 1) << 3)


def _from_byte(byte: int) -> int:
    bits, shift = byte & 0x07, (byte >> 3) - 1
    return bits if shift == -1 else (bits | 0x08) << shift


def as_float32(score: float) -> float:
    """A score as it is told: in single precision."""
    return float(struct.unpack("f", struct.pack("f", score))[0])
