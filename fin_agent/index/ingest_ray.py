"""Reading spread over a Ray cluster: tasks read filings, one writer a shard puts them into the index.

Ray does what it is made for: it starts tasks of a node that is lost again elsewhere, and a writer that ends. Writing a
filing is whole or not at all and may be repeated, so that each ends in the index once.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from fin_agent.errors import FinAgentError, ReadError, how_to_install
from fin_agent.filings.reader import content_hash, doc_id_of
from fin_agent.index.ingest import IngestedFile, IngestReport, OnFile, Outcome, added_message, files_below
from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.index.manifest import FileStamp, Manifest
from fin_agent.index.opening import AnyIndex, create_index
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.index.stored_filing import StoredFiling
from fin_agent.index.workers import read_here

_AHEAD = 3
"""Files under way per processor of the cluster: enough to keep all busy, few enough to keep memory flat."""
_READ_AGAIN = 3
_SECONDS_TO_WRITE = 120.0

Reading = StoredFiling | tuple[str, str] | None
"""What became of a file: the filing, (reason, remedy) of a failure, None where the index has it."""


def ingest_on_ray(
    paths: Sequence[Path | str],
    index: Path | str,
    address: str,
    *,
    writers: int = 1,
    on_file: OnFile = lambda file: None,
) -> IngestReport:
    """Bring the files of `paths` into `index`, a folder or a cluster's address, read by the Ray cluster at `address`.

    `ray://HOST:10001` is a cluster, `ray://` the one of this machine, or one that is started for it. Every node has to
    see the files under the same paths. An index on Elasticsearch takes any number of `writers`, a folder one. Raises
    FinAgentError where Ray is not installed or not reached, FilingIndexError where the index cannot be written.
    """
    ray = _connect(address)
    with create_index(index) as opened:  # what is wrong with it is said here
        if writers > 1 and isinstance(opened, SqliteIndex):
            raise FinAgentError("a folder takes one writer", subject=str(index), remedy="Leave --writers out")
    files = files_below(map(Path, paths))
    report = IngestReport()
    doubled = _duplicate_ids(files)
    # Restarted and asked again without end: what a killed writer was at is written anew.
    made = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Writer)
    shards = [made.remote(str(index)) for _ in range(writers)]
    known: Mapping[str, str] = ray.get(shards[0].known.remote())
    read = ray.remote(max_retries=_READ_AGAIN)(_read)
    at_once = max(2, int(ray.cluster_resources().get("CPU", 1))) * _AHEAD
    waiting = iter(files)
    under_way: dict[Any, Path] = {}
    while True:
        while len(under_way) < at_once and (path := next(waiting, None)) is not None:
            doc_id = doc_id_of(path)
            if (other := doubled.get(path)) is not None:
                reason = f"its doc_id {doc_id!r} is that of another file, {other}"
                _report_outcome(
                    report, on_file, IngestedFile(path, doc_id, Outcome.FAILED, reason, "Rename one of the two")
                )
                continue
            shard = shards[zlib.crc32(doc_id.encode()) % writers]
            reading = read.remote(str(path.resolve()), known.get(doc_id))
            under_way[shard.keep.remote(str(path), reading)] = path
        if not under_way:
            break
        (done, *_), _ = ray.wait(list(under_way))
        path = under_way.pop(done)
        try:
            file = ray.get(done)
        except (ray.exceptions.RayTaskError, ray.exceptions.WorkerCrashedError, ray.exceptions.RayError) as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, FinAgentError) and not isinstance(cause, ReadError):
                raise cause from None
            reason = f"the processes that read it ended, {_READ_AGAIN + 1} times ({type(error).__name__})"
            file = IngestedFile(path, doc_id_of(path), Outcome.FAILED, reason, "Ingest it again, by itself")
        _report_outcome(report, on_file, file)
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
            raise FinAgentError(
                f"the Ray cluster is not reached ({type(error).__name__}: {str(error).splitlines()[0][:200]})",
                subject=address,
                remedy="Start one with `ray start --head`, and give ray://HOST:10001",
            ) from None
    return ray


def _duplicate_ids(files: Sequence[Path]) -> dict[Path, Path]:
    """Files whose doc_id another one before has, and that one."""
    first: dict[str, Path] = {}
    return {path: other for path in files if (other := first.setdefault(doc_id_of(path), path)) is not path}


def _report_outcome(report: IngestReport, on_file: OnFile, file: IngestedFile) -> None:
    report.files.append(file)
    on_file(file)


def _read(path: str, known: str | None) -> Reading:
    """In a task of Ray: the filing, or why there is none. `known` is the content that the index has of it."""
    from fin_agent.evidence.filing_preparation import prepare  # a room above, which makes what is stored

    try:
        if known is not None and content_hash(Path(path)) == known:
            return None
    except OSError as error:
        return error.strerror or str(error), "Check the file and its permissions"
    ((_, outcome),) = read_here([Path(path)], prepare, 0, lambda path: None)
    return outcome if isinstance(outcome, StoredFiling) else (outcome.what, outcome.remedy)


class _Writer:
    """In an actor of Ray: writes the filings of its shard, each whole; again, where it ended before it said so."""

    def __init__(self, place: str) -> None:
        self._left_open = ExitStack()
        self._index: AnyIndex = create_index(place)
        self._left_open.callback(self._index.close)
        self._manifest: Manifest | None = None
        if isinstance(self._index, SqliteIndex):
            self._left_open.enter_context(ingest_lock(self._index.folder, wait=_SECONDS_TO_WRITE))
            self._manifest = Manifest(self._index)

    def known(self) -> dict[str, str]:
        """The content hash of each filing that need not be read again."""
        if self._manifest is not None:
            return self._manifest.current()
        return {entry.doc_id: entry.content_hash for entry in self._index.entries()}

    def keep(self, path: str, reading: Reading) -> IngestedFile:
        """Write what was read, and tell what became of the file."""
        file, doc_id = Path(path), doc_id_of(Path(path))
        if reading is None:
            return IngestedFile(file, doc_id, Outcome.UNCHANGED)
        if isinstance(reading, tuple):
            if self._manifest is not None and file.is_file():
                self._manifest.record_failure(FileStamp.of(file, ""), *reading)
            return IngestedFile(file, doc_id, Outcome.FAILED, *reading, kept=self._manifest is not None)
        if self._manifest is not None:
            self._manifest.add(FileStamp.of(file, str(reading.value("content_hash"))), reading)
        else:
            self._index.put(reading)
        return added_message(file, reading)

    def close(self) -> None:
        """Give the index back."""
        self._left_open.close()
