"""What an answer carries: unpacked within a limit, whole, kept where it breaks off, written whole or not at all."""

from __future__ import annotations

import json
import os
import uuid
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fin_agent.downloads import refusals
from fin_agent.downloads.asking import BrokenOffError, EdgarConnection

if TYPE_CHECKING:
    import httpx

MOST_BYTES = 128 * 2**20
"""Of a document, packed and unpacked; larger ones are not read either."""


def whole_body(response: httpx.Response, url: str, most: int = MOST_BYTES) -> bytes:
    """The answer's content, unpacked. Raises DownloadError where it is larger than `most`, BrokenOffError where it ends
    early."""
    packed = bytearray()
    for chunk in response.iter_raw():
        packed += chunk
        if len(packed) > most:
            raise refusals.too_large(url, most)
    _check_length(response, len(packed))
    return unpacked(bytes(packed), response.headers.get("Content-Encoding", ""), url, most)


def unpacked(packed: bytes, encoding: str, url: str, most: int = MOST_BYTES) -> bytes:
    """Content as it was before it was packed for transfer. Raises as `whole_body`."""
    if encoding.strip().lower() not in ("gzip", "x-gzip"):
        return packed
    unpacker = zlib.decompressobj(wbits=31)
    try:
        content = unpacker.decompress(packed, most + 1)
    except zlib.error as error:
        raise BrokenOffError(f"what came is damaged: {error}") from error
    if len(content) > most:
        raise refusals.too_large(url, most)
    if not unpacker.eof:
        raise BrokenOffError("what came is not whole")
    return content


class PartialFile:
    """What came of a document so far, beside where it is going: as it was sent, with what says that it is the same."""

    def __init__(self, target: Path, url: str) -> None:
        self._target = target
        self._url = url
        self._part = target.with_name(f".{target.name}.part")
        self._about = target.with_name(f".{target.name}.part.json")

    def fetch(
        self,
        connection: EdgarConnection,
        most: int = MOST_BYTES,
        *,
        check: Callable[[bytes], None] = lambda content: None,
    ) -> bytes:
        """Fetch the rest, write the document whole, and return its content. Raises DownloadError.

        `check` raises DownloadError for content that is not to be kept.
        """
        try:
            content = connection.get(self._url, lambda response: self._take(response, most), self._wanted)
            try:
                check(content)
            except refusals.DownloadError:
                self._drop()
                raise
            write_whole(self._target, content)
            self._drop()
        except OSError as error:
            raise refusals.not_writable(str(self._target), error.strerror or str(error)) from error
        return content

    def _wanted(self) -> Mapping[str, str]:
        """Headers that ask for the rest only, as long as it is of the same document."""
        about, held = self._known(), self._held()
        return {"Range": f"bytes={held}-", "If-Range": about["validator"]} if held and about is not None else {}

    def _take(self, response: httpx.Response, most: int) -> bytes:
        encoding = response.headers.get("Content-Encoding", "")
        if response.status_code == 200:
            self._begin(encoding, _validator(response))
        elif not self._goes_on(response, encoding):
            self._drop()
            raise BrokenOffError("another part of the file came than was asked for")
        with self._part.open("a+b") as part:
            held, came = part.seek(0, os.SEEK_END), 0
            for chunk in response.iter_raw():
                came += part.write(chunk)
                if held + came > most:
                    self._drop()
                    raise refusals.too_large(self._url, most)
            _check_length(response, came)
            part.seek(0)
            packed = part.read()
        try:
            if len(packed) != held + came:
                raise BrokenOffError("another process fetched it at the same time")
            return unpacked(packed, encoding, self._url, most)
        except BaseException:
            self._drop()  # whole and yet wrong: it has to come again from its beginning
            raise

    def _goes_on(self, response: httpx.Response, encoding: str) -> bool:
        """Whether what comes begins where the part ends, of the same document."""
        about = self._known()
        begins = response.headers.get("Content-Range", "").startswith(f"bytes {self._held()}-")
        return response.status_code == 206 and about is not None and about["encoding"] == encoding and begins

    def _held(self) -> int:
        return self._part.stat().st_size if self._part.is_file() else 0

    def _begin(self, encoding: str, validator: str | None) -> None:
        self._drop()
        self._target.parent.mkdir(parents=True, exist_ok=True)
        if validator is not None:
            about = {"url": self._url, "encoding": encoding, "validator": validator}
            write_whole(self._about, json.dumps(about).encode())

    def _known(self) -> dict[str, str] | None:
        try:
            about = json.loads(self._about.read_bytes())
        except (OSError, ValueError):
            return None
        known = isinstance(about, dict) and about.get("url") == self._url
        return about if known and all(isinstance(about.get(name), str) for name in ("encoding", "validator")) else None

    def _drop(self) -> None:
        self._about.unlink(missing_ok=True)
        self._part.unlink(missing_ok=True)


def write_whole(target: Path, content: bytes) -> None:
    """Write the file so that it is there whole, or as it was before."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name[:80]}.{uuid.uuid4().hex}.new")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _validator(response: httpx.Response) -> str | None:
    """What tells one version of a document from another, byte by byte (RFC 9110, 13.1.5): no weak tags."""
    tag = response.headers.get("ETag", "")
    if tag.startswith('"'):
        return str(tag)
    modified = response.headers.get("Last-Modified")
    return str(modified) if modified else None


def _check_length(response: httpx.Response, came: int) -> None:
    said = response.headers.get("Content-Length", "")
    if said.isdigit() and int(said) != came:
        raise BrokenOffError(f"{came:,} of {int(said):,} bytes came")
