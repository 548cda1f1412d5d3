"""What the fields of an index are, and whether a document fits them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from datetime import date
from typing import Any

from tests.index.elastic_server.analysis import TokenFilter
from tests.index.elastic_server.refusal import RefusalError, illegal

_LONGEST_KEYWORD = 32_766
_WHOLE = {"integer": 2**31, "long": 2**63, "short": 2**15}
_KNOWN = frozenset({"keyword", "text", "token_count", "boolean", "date", "object", "binary", *_WHOLE})


class Field:
    """One field of a mapping."""

    def __init__(self, name: str, said: dict[str, Any], normalizers: dict[str, TokenFilter]) -> None:
        self.name = name
        self.kind: str = said.get("type", "object")
        if self.kind not in _KNOWN:
            raise RefusalError(400, "mapper_parsing_exception", f"No handler for type [{self.kind}] on field [{name}]")
        if self.kind == "object" and said.get("enabled", True):
            raise illegal(f"objects whose parts are indexed are more than this server knows ([{name}])")
        self.indexed: bool = said.get("index", self.kind not in ("object", "binary"))
        self.sortable: bool = said.get("doc_values", self.kind not in ("object", "binary", "text"))
        self.analyzer: str = said.get("analyzer", "standard")
        self.dims: int = said.get("dims", 0)
        self._longest: int = said.get("ignore_above", 2**31)
        named = said.get("normalizer")
        if named is not None and named not in normalizers:
            raise RefusalError(400, "mapper_parsing_exception", f"normalizer [{named}] not found for field [{name}]")
        self._normalized: TokenFilter = normalizers[named] if named else lambda text: text
        self.parts = {part: Field(f"{name}.{part}", of, normalizers) for part, of in said.get("fields", {}).items()}

    def values(self, value: object) -> Iterator[Any]:
        """What the field is found by; raises RefusalError where it cannot hold `value`."""
        for each in value if isinstance(value, list) else [value]:
            if each is None:
                continue
            yield from self._checked(each)

    def as_term(self, value: object) -> Any:
        """A value in a query as it stands in the index."""
        if self.kind == "keyword" and isinstance(value, str):
            return self._normalized(value)
        if self.kind in _WHOLE and (isinstance(value, bool) or not isinstance(value, int)):
            raise RefusalError(400, "number_format_exception", f'For input string: "{value}"')
        return value

    def _checked(self, value: object) -> Iterator[Any]:
        if self.kind == "keyword":
            if not isinstance(value, str | int | float | bool):
                raise self._unfit(value)
            text = self._normalized(str(value))
            if len(text) > self._longest:
                return
            if (self.indexed or self.sortable) and len(text.encode("utf-8", "surrogatepass")) > _LONGEST_KEYWORD:
                raise illegal(f'Document contains at least one immense term in field="{self.name}"')
            yield text
        elif self.kind in ("text", "token_count"):
            if not isinstance(value, str):
                raise self._unfit(value)
            yield value
        elif self.kind in _WHOLE:
            if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= _WHOLE[self.kind]:
                raise self._unfit(value)
            yield value
        elif self.kind == "boolean":
            if not isinstance(value, bool):
                raise self._unfit(value)
            yield value
        elif self.kind == "date":
            try:
                yield date.fromisoformat(str(value)).isoformat()
            except ValueError:
                raise self._unfit(value) from None
        elif self.kind == "binary":
            try:
                base64.b64decode(str(value), validate=True)
            except binascii.Error:
                raise self._unfit(value) from None

    def _unfit(self, value: object) -> RefusalError:
        return RefusalError(
            400,
            "document_parsing_exception",
            f"failed to parse field [{self.name}] of type [{self.kind}]: {str(value)[:80]!r}",
        )


class Mapping:
    """The fields of an index."""

    def __init__(self, said: dict[str, Any], normalizers: dict[str, TokenFilter]) -> None:
        self.said = said
        unknown = set(said) - {"dynamic", "_meta", "properties", "_routing"}
        if unknown:
            raise RefusalError(400, "mapper_parsing_exception", f"Root mapping definition has unsupported {unknown}")
        self.fields = {name: Field(name, of, normalizers) for name, of in said.get("properties", {}).items()}
        self.strict = said.get("dynamic") == "strict"

    def field(self, name: str) -> Field | None:
        """A field or a part of one (`company.folded`)."""
        first, _, part = name.partition(".")
        found = self.fields.get(first)
        return found.parts.get(part) if found is not None and part else found

    def checked(self, source: dict[str, Any]) -> None:
        """Raises RefusalError for a document that the mapping does not take."""
        for name, value in source.items():
            field = self.fields.get(name)
            if field is None:
                if not self.strict:
                    raise illegal("an index without a strict mapping is more than this server knows")
                raise RefusalError(
                    400,
                    "strict_dynamic_mapping_exception",
                    f"mapping set to strict, dynamic introduction of [{name}] within [_doc] is not allowed",
                )
            for _ in field.values(value):
                pass
