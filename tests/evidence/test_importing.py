"""An archive is not believed about its cards either, without anybody asking for that."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from fin_agent.evidence.importing import import_archive
from fin_agent.index.archive import ArchiveError, export
from fin_agent.index.sqlite import SqliteIndex


def test_cards_of_an_archive_are_looked_at(sample_index: Path, tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl.gz"
    with SqliteIndex(sample_index) as index:
        export(index, file, doc_ids=["tellurond_2024_8k"])
    assert import_archive(file, tmp_path / "index").added == ["tellurond_2024_8k"]

    lines = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    lines[1]["parts"]["cards"][0][0] = '{"no": "card"}'
    written = [json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines[:-1]]
    last = {**lines[-1], "sha256": hashlib.sha256(b"".join(written)).hexdigest()}
    file.write_bytes(gzip.compress(b"".join([*written, json.dumps(last).encode() + b"\n"])))
    with pytest.raises(ArchiveError, match="card"):
        import_archive(file, tmp_path / "another")
    assert not list((tmp_path / "another").glob("*.sqlite"))
