"""A file laid out as TAT-QA's, with contexts of our own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest


def _question(number: str, text: str, answer: object, answer_type: str, scale: str = "") -> dict[str, object]:
    return {
        "uid": number,
        "question": text,
        "answer": answer,
        "answer_type": answer_type,
        "answer_from": "table",
        "scale": scale,
    }


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    """Two contexts: all kinds of answers, one without gold, one answered wrong."""
    table = [["(in millions)", "2021", "2020"], ["Lamps", "30", "20"], ["Rugs", "8", "9"]]
    contexts = [
        {
            "table": {"uid": "one", "table": table},
            "paragraphs": [{"uid": "p", "order": 2, "text": "Lamps last."}, {"uid": "q", "order": 1, "text": "First."}],
            "questions": [
                _question("a", "What was the change in Lamps between 2020 and 2021?", 10, "arithmetic", "million"),
                _question("b", "What were Rugs in 2020?", ["9"], "span", "million"),
                _question("c", "How many years did Lamps exceed $25 million?", 1, "count"),
                _question(
                    "d", "What were Lamps in 2021 and 2020, respectively?", ["30", "20"], "multi-span", "million"
                ),
            ],
        },
        {
            "table": {"uid": "two", "table": [[], ["Odd", None, 3]]},
            "questions": [
                _question("e", "What is odd?", None, "span"),
                _question("f", "What was the change in Rugs?", 7, "arithmetic"),
            ],
        },
    ]
    path = tmp_path / "small.json.gz"
    path.write_bytes(gzip.compress(json.dumps(contexts).encode()))
    return path
