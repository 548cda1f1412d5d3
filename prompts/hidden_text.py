"""Text that is hidden: in characters that no reader sees, in base64, in letters set apart."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from fin_agent.prompts.invisible import invisible_in, letter_of_tag

_FEWEST_ZERO_WIDTH = 8
_TELLING = frozenset(("tag", "direction", "variation selector", "zero-width"))
_REORDERS = frozenset("\u202d\u202e\u2066\u2067\u2068")


def invisible_text(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, what it spells) of tags, of marks that reorder a line, of runs that are too long for typesetting."""
    run: list[tuple[int, str]] = []
    for place, kind in (*((at, kind) for at, kind in invisible_in(text) if kind in _TELLING), (len(text) + 1, "")):
        if run and place == run[-1][0] + 1:
            run.append((place, kind))
            continue
        if run and _is_telling(text, run):
            start, end = run[0][0], run[-1][0] + 1
            yield start, end, "".join(letter_of_tag(mark) for mark in text[start:end]) or f"{end - start} characters"
        run = [(place, kind)]


def _is_telling(text: str, run: list[tuple[int, str]]) -> bool:
    kinds = {kind for _, kind in run}
    return "tag" in kinds or len(run) >= _FEWEST_ZERO_WIDTH or any(text[place] in _REORDERS for place, _ in run)


_BASE64 = re.compile(r"(?<![\w+/=-])(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9_-]{4}){8,}(?:[A-Za-z0-9+/_-]{2,3}={0,2})?")
_FEWEST_WORDS = 3


def encoded_text(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, what it spells) of long runs of base64 that spell words."""
    for found in _BASE64.finditer(text):
        written = found[0].rstrip("=").replace("+", "-").replace("/", "_")
        whole = written[: len(written) - (len(written) % 4 == 1)]
        try:
            spelt = base64.urlsafe_b64decode(whole + "=" * (-len(whole) % 4)).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if len(re.findall(r"[A-Za-z]{2,}", spelt)) >= _FEWEST_WORDS and spelt.replace("\n", " ").isprintable():
            yield found.start(), found.end(), spelt


_APART = re.compile(r"(?<!\w)(?:\w ){5,}\w(?:  +(?:\w ){1,20}\w(?!\w))*")


def letters_apart(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, the words) where every letter of several words stands apart: `i g n o r e  t h i s`."""
    for found in _APART.finditer(text):
        words = (word.replace(" ", "") for word in re.split(r" {2,}", found[0]))
        yield found.start(), found.end(), " ".join(words)
