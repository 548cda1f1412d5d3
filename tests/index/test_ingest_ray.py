"""Reading spread by Ray over processes of this machine: every filing is in the index once, whatever is killed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fin_agent.index.sqlite import SqliteIndex

with_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")


def ingested(script: str, tmp_path: Path) -> str:
    """What the script prints; Ray is started and ended in a process of its own."""
    file = tmp_path / "script.py"
    head = "from fin_agent.index.ingest_ray import ingest_on_ray\nimport ray\n"
    file.write_text(head + textwrap.dedent(script), encoding="utf-8")
    environment = {
        **os.environ,
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_raylet_start_wait_time_s": "400",
        "OF_TEST": str(tmp_path),
    }
    ran = subprocess.run([sys.executable, file], capture_output=True, text=True, env=environment, timeout=580)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@with_ray
def test_every_filing_is_there_once_though_a_reader_and_the_writer_are_killed(
    sample_html: Path, tmp_path: Path
) -> None:
    files = tmp_path / "files"
    shutil.copytree(sample_html, files)
    told = ingested(
        f"""
        import os, signal, threading, time
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
        killed = []

        def kill():
            while len(killed) < 2:
                for process in os.listdir("/proc"):
                    try:
                        name = open(f"/proc/{{process}}/cmdline").read()
                        mine = {str(tmp_path)!r} in open(f"/proc/{{process}}/environ").read()
                    except (OSError, ValueError, IndexError):
                        continue
                    for kind in ("ray::_read", "ray::_Writer"):
                        if name.startswith(kind) and kind not in killed and mine:
                            os.kill(int(process), 9)
                            killed.append(kind)
                time.sleep(0.005)

        threading.Thread(target=kill, daemon=True).start()
        report = ingest_on_ray([{str(files)!r}], {str(tmp_path / "index")!r}, "ray://")
        again = ingest_on_ray([{str(files)!r}], {str(tmp_path / "index")!r}, "ray://")
        print(sorted((file.doc_id, file.outcome.value) for file in report.files), killed)
        print({{file.outcome.value for file in again.files}})
        """,
        tmp_path,
    )
    first, second = [line for line in told.splitlines() if line.startswith(("[('", "{'"))]  # Ray tells of its own
    names = sorted(path.name.split(".")[0] for path in files.iterdir() if ".htm" in path.name)
    assert first.startswith(str([(name, "added") for name in names])), first
    assert "ray::_read" in first and "ray::_Writer" in first and second == "{'unchanged'}"
    with SqliteIndex(tmp_path / "index") as index:
        assert sorted(entry.doc_id for entry in index.entries()) == names


@with_ray
def test_several_writers_put_each_filing_onto_a_cluster_once(sample_html: Path, tmp_path: Path) -> None:
    pytest.importorskip("elasticsearch")
    from fin_agent.index.opening import open_index
    from tests.index.elastic_server.server import ElasticServer

    with ElasticServer() as server:
        place = f"{server.url}/filings"
        told = ingested(
            f"""
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
            report = ingest_on_ray([{str(sample_html)!r}], {place!r}, "ray://", writers=2)
            print([(file.doc_id, file.outcome.value) for file in sorted(report.files, key=lambda file: file.doc_id)])
            """,
            tmp_path,
        )
        with open_index(place) as index:
            names = sorted(entry.doc_id for entry in index.entries())
        assert len(names) == 3 and f"{[(name, 'added') for name in names]}" in told
        print(f"{len(server.requests)} requests")


def test_without_ray_one_line_says_how_to_install_it(sample_html: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    (hidden / "ray").mkdir(parents=True)
    (hidden / "ray" / "__init__.py").write_text("raise ImportError('no ray')", encoding="utf-8")
    command = [sys.executable, "-c", "from fin_agent.cli import main; main()", "ingest", str(sample_html)]
    done = subprocess.run(
        [*command, "--on", "ray://", "--index", str(tmp_path / "index")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(hidden)},
    )
    assert done.returncode != 0 and done.stdout == ""
    assert done.stderr.startswith("error: ray://: Ray is not installed. pip install") and done.stderr.count("\n") == 1
