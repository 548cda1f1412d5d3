"""Text to terms, as the settings of an index say: the parts of Elasticsearch's analysis that are asked of it here."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

from tests.index.elastic_server.porter import porter
from tests.index.elastic_server.refusal import illegal

Analyzer = Callable[[str], list[str]]
TokenFilter = Callable[[str], str]


def analyzers(settings: dict[str, Any]) -> dict[str, Analyzer]:
    """The analyzers that `settings` (their part `analysis`) define, by name. Raises RefusalError for others."""
    tokenizers = {name: _tokenizer(name, said) for name, said in settings.get("tokenizer", {}).items()}
    found: dict[str, Analyzer] = {}
    for name, said in settings.get("analyzer", {}).items():
        if said.get("type") != "custom" or set(said) - {"type", "tokenizer", "filter"}:
            raise illegal(f"analyzer [{name}] is of a kind that this server does not know")
        if said["tokenizer"] not in tokenizers:
            raise illegal(f"failed to find tokenizer under name [{said['tokenizer']}]")
        found[name] = _analyzer(tokenizers[said["tokenizer"]], [_filter(each) for each in said.get("filter", [])])
    return found


def normalizers(settings: dict[str, Any]) -> dict[str, TokenFilter]:
    """The normalizers that `settings` define, by name."""
    found: dict[str, TokenFilter] = {}
    for name, said in settings.get("normalizer", {}).items():
        filters = [_filter(each) for each in said.get("filter", [])]

        def normalized(text: str, filters: list[TokenFilter] = filters) -> str:
            for each in filters:
                text = each(text)
            return text

        found[name] = normalized
    return found


class _Separators(dict[int, str]):
    """Code point -> itself, or a space where words end: for str.translate, filled as it is used."""

    def __init__(self, groups: set[str], characters: set[str]) -> None:
        super().__init__()
        self._groups = groups
        self._characters = characters

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        category = unicodedata.category(letter)
        splits = (
            letter in self._characters
            or ("whitespace" in self._groups and _java_whitespace(letter, category))
            or ("punctuation" in self._groups and category.startswith("P"))
            or ("symbol" in self._groups and category.startswith("S"))
        )
        self[code] = " " if splits else letter
        return self[code]


def _java_whitespace(letter: str, category: str) -> bool:
    """Character.isWhitespace: no no-break spaces, and some controls."""
    if letter in "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f":
        return True
    return category in ("Zs", "Zl", "Zp") and letter not in "\u00a0\u2007\u202f"


def _tokenizer(name: str, said: dict[str, Any]) -> Analyzer:
    if said.get("type") != "char_group":
        raise illegal(f"tokenizer [{name}] is of a kind that this server does not know")
    groups = {each for each in said["tokenize_on_chars"] if len(each) > 1}
    if groups - {"whitespace", "punctuation", "symbol"}:
        raise illegal(f"unknown groups of characters {sorted(groups)}")
    table = _Separators(groups, {each for each in said["tokenize_on_chars"] if len(each) == 1})

    def tokens(text: str) -> list[str]:
        # Only plain spaces may split: str.split() alone would split at no-break spaces, too.
        return [token for token in text.translate(table).split(" ") if token]

    return tokens


def _analyzer(tokenizer: Analyzer, filters: list[TokenFilter]) -> Analyzer:
    met: dict[str, str] = {}

    def terms(text: str) -> list[str]:
        tokens = tokenizer(text)
        try:
            return [met[token] for token in tokens]
        except KeyError:
            for token in tokens:
                if token not in met:
                    term = token
                    for each in filters:
                        term = each(term)
                    met[token] = term
            return [met[token] for token in tokens]

    return terms


def _filter(name: str) -> TokenFilter:
    known: dict[str, TokenFilter] = {"lowercase": str.lower, "asciifolding": _folded, "porter_stem": porter}
    if name not in known:
        raise illegal(f"failed to find filter under name [{name}]")
    return known[name]


def _folded(text: str) -> str:
    """Lucene's ASCIIFoldingFilter, as far as Unicode's own decomposition goes."""
    if text.isascii():
        return text
    letters = []
    for letter in text:
        plain = "".join(each for each in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(each))
        letters.append(plain if plain and plain.isascii() else letter)
    return "".join(letters)
