"""A user's own lexicon files, named by a variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent.index.rows import reader_fingerprint
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.page import Statement


def test_the_variable_lays_a_folder_over_the_lexicon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_lexicon().metric_of_label("Takings from turnstiles", Statement.INCOME) is None
    before = reader_fingerprint()
    (tmp_path / "own.yaml").write_text("metrics:\n  revenue:\n    labels: + Takings from turnstiles\n")
    monkeypatch.setenv("FIN_AGENT_LEXICON", str(tmp_path))
    assert load_lexicon().metric_of_label("Takings from turnstiles", Statement.INCOME) == "revenue"
    with_own = reader_fingerprint()
    assert with_own != before  # so that filings are read again
    (tmp_path / "own.yaml").write_text("metrics:\n  revenue:\n    labels: + Takings\n")
    assert reader_fingerprint() not in (before, with_own)
