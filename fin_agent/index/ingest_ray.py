"""Ingest on a Ray cluster: tasks read filings, and one writer per shard adds them to the index.

Ray restarts tasks of a lost node elsewhere, and writers that end. Writing a filing is atomic and can be repeated, so
each filing is in the index once.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from fin_agent.errors import FinAgentError, ReadError, how_to_install
from fin_agent.filings.reader import content_hash, doc_id_of
from fin_agent.index import ingest
from fin_agent.index.ingest import IngestedFile, IngestReport, KnownFile, Manifest, OnFile, Outcome
from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.index.opening import create_index
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.index.stored_filing import StoredFiling

_AHEAD = 3
"""Files in progress per processor of the cluster: enough to keep all busy, few enough to limit memory."""
_READ_AGAIN = 3
_SECONDS_TO_WRITE = 120.0

Reading = StoredFiling | FinAgentError | None
"""The result for a file: the filing, why there is none, or None where the index has it already."""


def ingest_on_ray(
    paths: Sequence[Path | str],
    index: Path | str,
    address: str,
    *,
    writers: int = 1,
    on_file: OnFile = lambda file: None,
) -> IngestReport:
    """Add files to an index, in a folder or at an address, read by a Ray cluster whose nodes see them under one path.

    `address` is `ray://HOST:10001`, or `ray://` for the local cluster, which is started if necessary. An index on
    Elasticsearch takes any number of `writers`, a folder one. `on_file` is called with each file and its outcome.

    Raises:
        FinAgentError: Ray is not installed or cannot be reached.
        FilingIndexError: The index cannot be written.
    """
    ray = _connect(address)
    with create_index(index) as opened:
        known = {entry.doc_id: entry.content_hash for entry in opened.entries()}
        if isinstance(opened, SqliteIndex):
            known = Manifest(opened).current
            if writers > 1:
                remedy = "Leave --writers out"
                raise FinAgentError("an index in a folder accepts one writer", subject=str(index), remedy=remedy)
    report = IngestReport()

    def done(file: IngestedFile) -> None:
        report.files.append(file)
        on_file(file)

    # Restarted and retried without limit: a killed writer repeats its current write.
    made = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Writer)
    shards = [made.remote(str(index)) for _ in range(writers)]
    read = ray.remote(max_retries=_READ_AGAIN)(_read)
    at_once = max(2, int(ray.cluster_resources().get("CPU", 1))) * _AHEAD
    files: dict[str, Path] = {}
    for path in ingest.files_below(map(Path, paths)):
        doc_id = doc_id_of(path)
        if (other := files.setdefault(doc_id, path)) is not path:
            reason = f"its doc_id {doc_id!r} is already used by another file, {other}"
            done(IngestedFile(path, doc_id, Outcome.FAILED, reason, "Rename one of the two"))
    waiting = iter(files.items())
    under_way: dict[Any, Path] = {}
    while True:
        for doc_id, path in islice(waiting, at_once - len(under_way)):
            shard = shards[zlib.crc32(doc_id.encode()) % writers]
            reading = read.remote(str(path.resolve()), known.get(doc_id))
            under_way[shard.keep.remote(str(path), reading)] = path
        if not under_way:
            break
        (ended, *_), _ = ray.wait(list(under_way))
        path = under_way.pop(ended)
        try:
            done(ray.get(ended))
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, FinAgentError) and not isinstance(cause, ReadError):
                raise cause from None
            reason = f"the processes that read it ended, {_READ_AGAIN + 1} times ({type(error).__name__})"
            done(IngestedFile(path, doc_id_of(path), Outcome.FAILED, reason, "Ingest it again, by itself"))
    for shard in shards:
        ray.get(shard.close.remote())
    return report


def _connect(address: str) -> Any:
    try:
        import ray
    except ImportError:
        raise FinAgentError("Ray is not installed", subject=address, remedy=how_to_install("ray")) from None
    if not ray.is_initialized():
        try:
            ray.init(address if address.removeprefix("ray://") else None, log_to_driver=False, logging_level="error")
        except Exception as error:  # it raises what its parts raise
            what = f"the Ray cluster cannot be reached ({type(error).__name__}: {str(error).splitlines()[0][:200]})"
            remedy = "Start one with `ray start --head`, and give ray://HOST:10001"
            raise FinAgentError(what, subject=address, remedy=remedy) from None
    return ray


def _read(path: str, known: str | None) -> Reading:
    """Return the filing, or why there is none, in a Ray task; `known` is the content hash in the index."""
    try:
        if known is not None and content_hash(Path(path)) == known:
            return None
    except OSError as error:
        return ReadError(error.strerror or str(error), remedy="Check the file and its permissions")
    return ingest.read_here(Path(path), ingest.usual_reader())


class _Writer:
    """A Ray actor that writes the filings of its shard, each atomically; it repeats a write that was interrupted."""

    def __init__(self, place: str) -> None:
        self._left_open = ExitStack()
        self._index = self._left_open.enter_context(create_index(place))
        self._manifest: Manifest | None = None
        if isinstance(self._index, SqliteIndex):
            self._left_open.enter_context(ingest_lock(self._index.folder, wait=_SECONDS_TO_WRITE))
            self._manifest = Manifest(self._index)

    def keep(self, path: str, reading: Reading) -> IngestedFile:
        """Write the result of a reading, and return the result for the file."""
        file = Path(path)
        if reading is None:
            return IngestedFile(file, doc_id_of(file), Outcome.UNCHANGED)
        if isinstance(reading, FinAgentError):
            return ingest.failed_file(file, reading, self._manifest)
        if self._manifest is not None:
            self._manifest.add(KnownFile.of(file, str(reading.value("content_hash"))), reading)
        else:
            self._index.put(reading)
        return ingest.added_file(file, reading)

    def close(self) -> None:
        """Close the index."""
        self._left_open.close()
