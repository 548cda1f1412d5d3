"""A cache of replies, so that an interrupted batch pays for none of them twice."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from pydantic import ValidationError

from fin_agent.atomic_write import create_private_file
from fin_agent.models.call import Call, OutputT, Reply
from fin_agent.models.replies import schema_text

_BUSY_SECONDS = 10.0
_SCHEMA = "CREATE TABLE IF NOT EXISTS cached_replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) STRICT"
_LOG = logging.getLogger(__name__)


class ResponseCache:
    """Replies in one SQLite file. Several threads and several processes may use it at once.

    Errors of the cache never fail a call: a locked file is skipped, and a file that is damaged or cannot be written is
    no longer used, each with a warning in the log. The file contains replies, but no prompts and no keys.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ResponseCache(Path(folder) / "replies.sqlite").get("a key") is None
    True
    """

    def __init__(self, file: Path) -> None:
        """Set the file without opening it."""
        self.file = file
        self._guard = threading.Lock()
        self._given_up = False

    def get(self, key: str) -> Reply | None:
        """Return the reply cached under a key of `cache_key`, or None."""
        try:
            found = self._run("SELECT reply FROM cached_replies WHERE key = ?", key)
            return None if found is None else Reply.model_validate_json(found)
        except ValidationError:
            _LOG.warning("A cached reply in %s cannot be read and is requested again", self.file)
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Cache a reply, replacing one under the same key."""
        text = reply.model_dump_json(include={"text", "usage", "model", "finish"})
        self._run("INSERT OR REPLACE INTO cached_replies (key, reply) VALUES (?, ?)", key, text)

    def _run(self, statement: str, *values: str) -> str | None:
        """Return the value that a statement selects; None if there is none or the file cannot be used."""
        if self._given_up:
            return None
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            create_private_file(self.file)
            connection = sqlite3.connect(self.file, timeout=_BUSY_SECONDS, isolation_level=None)
            with self._guard, closing(connection):
                tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
                if tables - {"cached_replies"}:
                    raise OSError("it is another database")
                connection.execute(_SCHEMA)
                row = connection.execute(statement, values).fetchone()
                return None if row is None else str(row[0])
        except (sqlite3.Error, OSError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                _LOG.warning("Cached replies in %s are not used now: %s", self.file, error)
            else:
                self._given_up = True
                _LOG.warning("No replies are cached: %s cannot be used (%s)", self.file, error)
            return None


def cache_key(call: Call[OutputT], model: str, base_url: str | None, mode: str) -> str:
    """Return the key of a reply: a hash of everything that it depends on.

    `mode` is the configured output mode, not the one in effect, which a resumed batch does not know yet.
    """
    parts = {
        "model": model,
        "base_url": base_url,
        "prompt": list(call.prompt),
        "messages": [list(message) for message in call.messages],
        "output": None if call.output is None else schema_text(call.output),
        "temperature": call.temperature,
        "mode": mode,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
