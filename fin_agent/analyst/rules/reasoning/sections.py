"""Which part of the company (a segment, a region) words of a page are about: that under whose heading they stand."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property

from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.words import word_lists
from fin_agent.vocabulary.filing import PassageKind

_DIVIDED = ("revenue", "operating_income")
"""Measures that filings give of their parts."""
_FOOTNOTE = re.compile(r"\s*\((?:\w{1,2})\)|[*†‡]")
_NO_PART = re.compile(
    r"\b(?:consolidated|statements?|gaap|results|totals?|reported|revised|reclassifications?|eliminations?|transactions?)\b",
    re.I,
)
_FURNITURE = re.compile(r"^(?:table of contents|.*\binc\.?|.*\bform 10-[kq]\b.*|[\W\d]*)$", re.I)
_LONGEST_HEADING = 60
_SHORTEST_NAME = 3
_LONG_WORD, _CAPITALS = 4, 0.75
_LOOKED_UP = 40
"""Characters by which words are found on their page: enough to be alone there, few enough to stand on a line."""
_PAGES_BACK = 1


class Sections:
    """The parts of the filings of some evidence, and what stands under their headings."""

    def __init__(self, index: FilingIndex, doc_ids: Collection[str], lexicon: Lexicon | None) -> None:
        self._index, self._doc_ids, self._lexicon = index, sorted(set(doc_ids)), lexicon
        self._pages: dict[PageKey, tuple[str, list[tuple[int, str]]]] = {}

    def named_in(self, text: str, besides: Collection[str] = ()) -> list[str]:
        """Parts that `text` names, as filings print them; no matter what stands in the names `besides`."""
        low = _plain(text)
        for name in sorted(besides, key=lambda name: (-len(name), name)):
            low = low.replace(_plain(name), " ")
        return [name for key, name in sorted(self._parts.items()) if re.search(rf"(?<!\w){re.escape(key)}(?!\w)", low)]

    def part_of(self, passage: RetrievedPassage, text: str) -> str:
        """The part under whose heading `text` of a passage stands; empty where it is of the whole, or unknown."""
        key = PageKey(passage.doc_id, passage.page)
        words, headings = self._of_page(key)
        if passage.kind is PassageKind.TABLE:
            lines = [line.split(" | ")[0].rpartition(" > ")[2] for line in passage.text.split("\n")]
            captioned = self._titled(lines[0])
            if captioned:
                return captioned
            text = next((line for line in lines if len(line) > _SHORTEST_NAME), "")
        place = words.find(" ".join(text.split())[:_LOOKED_UP])
        if place < 0:
            return ""
        over = [part for offset, part in headings if offset <= place]
        return over[-1] if over else self._left_open(key)

    @cached_property
    def _parts(self) -> dict[str, str]:
        general = word_lists("part_words")["general"]
        scopes = {each.fact.scope for each in self._index.facts(self._doc_ids, metrics=_DIVIDED) if each.fact.scope}
        found: dict[str, str] = {}
        for scope in sorted(scopes):
            name = _FOOTNOTE.sub("", scope).strip()
            words = re.findall(r"[a-z]+", name.lower())
            measured = self._lexicon is not None and self._lexicon.mentions(name)
            if (
                len(name) < _SHORTEST_NAME
                or not words
                or _NO_PART.search(name)
                or measured
                or general.issuperset(words)
            ):
                continue
            found.setdefault(_plain(name), name)
        return found

    def _titled(self, caption: str) -> str:
        """The part that a caption ends or begins with; empty where it names several."""
        named = self.named_in(caption)
        low = _plain(caption)
        fit = [name for name in named if low.endswith(_plain(name))]
        longest = max(fit, key=len, default="")
        return longest if all(_plain(name) in _plain(longest) for name in named) else ""

    def _left_open(self, key: PageKey) -> str:
        """The part whose section goes on from the pages before."""
        for back in range(1, _PAGES_BACK + 1):
            if key.page < back:
                break
            headings = self._of_page(PageKey(key.doc_id, key.page - back))[1]
            if headings:
                return headings[-1][1]
        return ""

    def _of_page(self, key: PageKey) -> tuple[str, list[tuple[int, str]]]:
        """The words of a page, and (where, part) of its headings; no part where another section begins."""
        if key not in self._pages:
            stored = self._index.pages([key])
            self._pages[key] = self._read(stored[0].page.text) if stored else ("", [])
        return self._pages[key]

    def _read(self, text: str) -> tuple[str, list[tuple[int, str]]]:
        lines = [" ".join(line.split()) for line in text.split("\n")]
        lines = [line for line in lines if line]
        headings: list[tuple[int, str]] = []
        offset = 0
        last: str | None = None
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            part = self._parts.get(_plain(line))
            if part and self._heads(following):
                headings.append((offset, part))
                last = line
            elif not part and self._begins_another(line, following, last):
                headings.append((offset, ""))
                last = ""
            offset += len(line) + 1
        return " ".join(lines), headings

    def _heads(self, following: str) -> bool:
        """Whether what follows a name is no cell of its row, nor the next name of a list."""
        return not _is_cell(following) and _plain(following) not in self._parts and not _NO_PART.match(following)

    def _begins_another(self, line: str, following: str, last: str | None) -> bool:
        """Whether a line is a title that ends a part's section, which `last` heads; None where a page goes on with it.

        Titles of measures divide the section of a part, unless they stand on top of a page or shout it down.
        """
        if last == "":
            return False
        if len(line) > _LONGEST_HEADING or not line[:1].isupper() or line[-1] in ".,;:" or _is_cell(following):
            return False
        if any(mark.isdigit() for mark in line) or _FURNITURE.match(line) or not self._lexicon:
            return False
        words = [word for word in line.split() if len(word) >= _LONG_WORD]
        capital = sum(word[0].isupper() for word in words) >= _CAPITALS * len(words)
        sentence = last is None or (len(following.split()) > len(line.split()) and following[:1].isupper())
        over = last is None or (line.isupper() and not last.isupper())
        return bool(words) and capital and sentence and (over or not self._lexicon.mentions(line))


def _plain(text: str) -> str:
    return " ".join(_FOOTNOTE.sub("", text).casefold().split())


def _is_cell(line: str) -> bool:
    return bool(line) and not any(mark.isalpha() for mark in line)
