"""The semantic sketch: a passage on one line, for those who do not see its text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fin_agent.evidence.cards.card import EvidenceSpan
from fin_agent.evidence.cards.headings import headings_in
from fin_agent.evidence.cards.roles import item_key
from fin_agent.evidence.cards.sources import PassageSource
from fin_agent.evidence.cards.word_rarity import WordRarity
from fin_agent.filings.outline.items import COVER
from fin_agent.lexicon.lexicon import Lexicon

SKETCH_CHARACTERS = 240
_PATH_CHARACTERS = 110
_SENTENCE_CHARACTERS = 130
_SHORT_TITLE = 40
_UNSAID = (COVER, "16")
"""Items whose names say nothing: exhibits follow after Item 16, the summary that hardly anyone gives."""
_MOST_LABELS = 14
_LOOKED_AT = 6_000
_FEWEST_WORDS = 6
_FEWEST_LETTERS = 3
_SENTENCE_STARTS = re.compile(r"(?:^|(?<=[.!?:;”\"])\s+|\n)(?=[A-Z“\"])")
_CONTENTS = re.compile(r"^(?:(?:table of contents|part [iv]+|item \d+[abc]?)\s+)+", re.IGNORECASE)
_ENDS = re.compile(r"[.!?](?=\s|$)")


def sketch_of(
    source: PassageSource, heading: str, spans: Sequence[EvidenceSpan] | None, rarity: WordRarity, lexicon: Lexicon
) -> str:
    """Headings, then the labels of a table or the sentence that tells most, then the words that set the passage apart.

    `spans` are the evidence spans of prose, None for what is more a table.
    """
    path = _cut(" > ".join(_path(source, heading, lexicon)), _PATH_CHARACTERS)
    if source.table is not None:
        told = ", ".join(_labels(row.label for row in source.table.rows))
    elif spans is None and source.facts:
        told = ", ".join(_labels(fact.label for fact in source.facts))
    elif source.is_table:
        told = _line(source.passage.text[:_LOOKED_AT])
    else:
        told = _cut(_CONTENTS.sub("", _sentence(source, spans or ())), _SENTENCE_CHARACTERS)
    parts = [part for part in (path, told) if part]
    line = ": ".join(parts)
    if not source.is_table:
        line = _with_words(line, source, rarity)
    return _cut(line, SKETCH_CHARACTERS)


def _path(source: PassageSource, heading: str, lexicon: Lexicon) -> Iterable[str]:
    page, steps = source.page, dict[str, None]()
    if page.item is not None and page.item not in _UNSAID:
        item = lexicon.items.get(item_key(source.identity.form, page.item))
        if item is not None:
            long = len(item.title) > _SHORT_TITLE and item.aliases
            steps[item.aliases[0] if long else item.title] = None
    if source.note is not None:
        steps[f"Note {source.note.number} {source.note.title}" if source.note.number else source.note.title] = None
    if heading and (source.note is None or heading != source.note.title):
        steps[heading] = None
    elif source.note is not None and not source.is_table:
        steps.update(dict.fromkeys(headings_in(source)))
    return [_line(step) for step in steps if step]


def _labels(labels: Iterable[str]) -> list[str]:
    kept: dict[str, None] = {}
    for label in labels:
        short = _line(label)[: _SHORT_TITLE * 2]
        if sum(map(str.isalpha, short)) >= _FEWEST_LETTERS:
            kept.setdefault(short)
        if len(kept) == _MOST_LABELS:
            break
    return list(kept)


def _sentence(source: PassageSource, spans: Sequence[EvidenceSpan]) -> str:
    """The sentence around the first evidence span, else the first that is one; empty where there is none."""
    text = source.passage.text
    if spans:
        at = spans[0].start
        starts = [found.end() for found in _SENTENCE_STARTS.finditer(text, max(0, at - 300), at + 1)]
        begin = starts[-1] if starts else text.find(" ", max(0, at - _SHORT_TITLE), at) + 1 or at
        sentence = _line(text[begin : begin + 3 * _SENTENCE_CHARACTERS])
        if len(sentence.split(" ", _FEWEST_WORDS)) > _FEWEST_WORDS:
            return sentence
    for found in _SENTENCE_STARTS.finditer(text, 0, _LOOKED_AT):
        ended = _ENDS.search(text, found.end(), found.end() + 600)
        if ended is None:
            continue
        sentence = _line(text[found.end() : ended.end()])
        words = sentence.split()
        if len(words) >= _FEWEST_WORDS and sum(word[0].islower() for word in words) * 2 >= len(words):
            return sentence
    return ", ".join(_labels(fact.label for fact in source.facts)) or _line(text[: 4 * _SENTENCE_CHARACTERS])


def _with_words(line: str, source: PassageSource, rarity: WordRarity) -> str:
    """`line` with the passage's rarest words that it does not hold yet, as many as there is room for."""
    room = SKETCH_CHARACTERS - len(line) - len(" · ")
    if room < _SHORT_TITLE // 2:
        return line
    low = line.lower()
    words = [word for word in rarity.telling(source.passage.ordinal) if word not in low]
    return f"{line} · {_cut(', '.join(words), room)}" if words and line else line or ", ".join(words)


def _line(text: str) -> str:
    return " ".join(text.split())


def _cut(line: str, most: int) -> str:
    """At most `most` characters, ended at a word where there is one."""
    if len(line) <= most:
        return line
    head = line[: most - 1].rpartition(" ")[0] or line[: most - 1]
    return head.rstrip(" ,;:>·") + "…"
