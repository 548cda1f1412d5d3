"""The forms of a company's name: without punctuation and legal form, shortened, in initials."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from fin_agent.lexicon.words import word_lists

_JOINED = re.compile(r"([^\W\d_])\s?(&|and|n)\s?([^\W\d_])", re.I)
_SHORT_ENDINGS = (("group", re.compile(r"[A-Z]\w{3,}group")), ("co", re.compile(r"[A-Z][a-z]{3,}Co")))
"""What people leave out of a name of one word: Citigroup, PepsiCo."""


@dataclass(frozen=True, slots=True)
class CompanyWords:
    """Word lists for names of companies; see the comments in company_words.yaml."""

    legal_forms: frozenset[str]
    generic: frozenset[str]
    everyday: frozenset[str]
    nouns_in_names: frozenset[str]
    exchanges: frozenset[str]
    not_companies: frozenset[str]


@dataclass(frozen=True, slots=True)
class NameForm:
    """One way to write a company's name. `alias` is normalised; `confidence` says how surely it means the company."""

    alias: str
    how: str
    confidence: float


@lru_cache(maxsize=1)
def company_words() -> CompanyWords:
    """The lists of company_words.yaml."""
    return CompanyWords(**word_lists("company_words"))


@lru_cache(maxsize=65_536)
def normalise_name(name: str) -> str:
    """Lower case, without punctuation, accents and legal form: `THE BOEING COMPANY` -> `boeing`."""
    words = plain_name(name).split()
    legal = company_words().legal_forms
    while len(words) > 1 and words[-1] in legal:
        words.pop()
    return " ".join(words)


def plain_name(name: str) -> str:
    """Lower case, without punctuation, accents, `The` and `and` (which a name also writes `&`); legal form kept."""
    plain = re.sub(r"\.com\b", "", _without_accents(name.casefold()))
    words = re.findall(r"[^\W_]+", plain.replace("'", "").replace("’", "").replace(".", ""))
    words = [word for word in words if word != "and"] or words
    return " ".join(words[1:] if len(words) > 1 and words[0] == "the" else words)


def bare_ticker(ticker: str) -> str:
    """`BRK.B` -> `brkb`."""
    return re.sub(r"[^a-z0-9]", "", ticker.casefold())


def joined_initials(phrase: str) -> str:
    """`j&j` for `J&J`, `J and J`, `JnJ`; empty for anything else; capitals unless an ampersand joins them."""
    found = _JOINED.fullmatch(phrase)
    if found is None or (found[2] != "&" and not (found[1] + found[3]).isupper()):
        return ""
    return f"{found[1]}&{found[3]}".casefold()


def name_forms(name: str, former: float) -> Iterator[NameForm]:
    """Ways to write `name`; `former` is taken off the confidence of a name that is not the present one."""
    words = company_words()
    full = normalise_name(name)
    if full in words.not_companies:
        full = plain_name(name)  # nothing but the legal form tells U.S. Bancorp from the country
    if len(full) < 2 or full in words.not_companies:
        return
    yield NameForm(full, "name", 1.0 - former)
    parts = full.split()
    if len(parts) == 1:
        first = name.split()[0].rstrip(",")
        for ending, printed in _SHORT_ENDINGS:
            if printed.fullmatch(first) and full.endswith(ending):
                yield NameForm(full.removesuffix(ending), "short name", 0.8 - former)
        return
    if parts[0] not in words.generic and parts[0] not in words.not_companies and len(parts[0]) > 2:
        yield NameForm(parts[0], "short name", 0.8 - former)
    if len(parts) > 2 and parts[0] not in words.not_companies:
        yield NameForm(" ".join(parts[:2]), "short name", 0.85 - former)
    yield NameForm("".join(part[0] for part in parts), "initials", 0.5)
    if len(parts) == 2 and re.search(r"&|\band\b", name, re.I):
        yield NameForm(f"{parts[0][0]}&{parts[1][0]}", "initials", 0.8 - former)


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
