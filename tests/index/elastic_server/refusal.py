"""How the server says no: status, type and reason, as Elasticsearch does."""

from __future__ import annotations


class RefusalError(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        self.status = status
        self.kind = kind
        self.reason = reason
        super().__init__(f"{status} {kind}: {reason}")

    @property
    def error(self) -> dict[str, object]:
        """The error as an item of a bulk tells it."""
        return {"type": self.kind, "reason": self.reason}

    @property
    def body(self) -> dict[str, object]:
        """The whole answer."""
        return {"error": {"root_cause": [self.error], **self.error}, "status": self.status}


def illegal(reason: str) -> RefusalError:
    """What a request asks for cannot be."""
    return RefusalError(400, "illegal_argument_exception", reason)
