"""Several processes behind one port answer over one index, also while that index is written."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.serving.conftest import FILING, MAIN, environment

pytest.importorskip("fastapi", reason="needs the extra `serve`")

QUESTIONS = (
    "What was Harborlight's net income in FY2023?",  # of the filing that comes and goes, else of a later year's report
    "What was Harborlight's capital expenditure in FY2021?",  # in no other filing but one older
    "What was Tellurond's revenue in FY2023?",  # of another
)


@contextmanager
def served(index: Path, workers: int) -> Iterator[str]:
    """The address of a server of several processes."""
    command = [sys.executable, *MAIN, "serve", "--port", "0", "--workers", str(workers), "--index", str(index)]
    server = subprocess.Popen([*command, "--at-once", "8"], stderr=subprocess.PIPE, text=True, env=environment())
    try:
        assert server.stderr is not None
        found = re.search(r"serving at (http://[^,\s]+)", said := server.stderr.readline())
        assert found is not None, said
        yield found[1]
    finally:
        server.terminate()
        server.wait(30)


def asked(address: str, question: str) -> str:
    """The whole answer but for what is of this run alone; an answer that is an error raises."""
    body = json.dumps({"question": question}).encode()
    with urlopen(Request(f"{address}/ask", body, {"Content-Type": "application/json"}), timeout=120) as reply:
        answer: dict[str, Any] = json.load(reply)
    return json.dumps({name: value for name, value in answer.items() if name not in ("seconds", "run", "id")})


def changed(index: Path, *command: str) -> None:
    """In a process of its own, as somebody beside the server does."""
    line = [sys.executable, *MAIN, *command, "--index", str(index)]
    ran = subprocess.run(line, env=environment(), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_four_workers_answer_as_before_or_after_while_a_filing_is_written(
    sample_index: Path, sample_filings: Path, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    shutil.copytree(sample_index, index)
    with served(index, 4) as address, ThreadPoolExecutor(9) as pool:
        with_it = {question: asked(address, question) for question in QUESTIONS}
        changed(index, "remove", FILING)
        without = {question: asked(address, question) for question in QUESTIONS}
        assert FILING in with_it[QUESTIONS[0]] and FILING not in without[QUESTIONS[0]]

        def written() -> None:
            for _ in range(2):
                changed(index, "ingest", str(sample_filings / f"{FILING}.pdf"), "--workers", "0")
                changed(index, "remove", FILING)

        writing = pool.submit(written)
        told = []
        while not writing.done() or len(told) < 24:
            told += pool.map(lambda question: (question, asked(address, question)), QUESTIONS * 2)
        writing.result()
        for question, answer in told:
            assert answer in (with_it[question], without[question])
        # All of the workers read the state that was left.
        last = list(pool.map(lambda _: asked(address, QUESTIONS[0]), range(16)))
        assert set(last) == {without[QUESTIONS[0]]}
