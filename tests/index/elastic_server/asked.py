"""A request as it came over HTTP, and an answer as it goes back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.index.elastic_server.refusal import RefusalError


@dataclass(frozen=True)
class Asked:
    """A request: method, path in its parts, parameters, body."""

    method: str
    path: tuple[str, ...]
    parameters: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body; an empty object where there is none."""
        if not self.body:
            return {}
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise RefusalError(400, "x_content_parse_exception", str(error)) from None

    def lines(self) -> list[bytes]:
        """The body of requests that hold an object on each line."""
        if not self.body.endswith(b"\n"):
            raise RefusalError(
                400, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]"
            )
        return self.body.split(b"\n")[:-1]

    def flag(self, name: str) -> bool:
        """A parameter that is true or false; given without a value it is true."""
        return self.parameters.get(name, "false") in ("true", "")

    def number(self, name: str) -> int | None:
        """A parameter that is a number."""
        return int(self.parameters[name]) if name in self.parameters else None


@dataclass(frozen=True)
class Answer:
    """A status and a body to be written as JSON."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
