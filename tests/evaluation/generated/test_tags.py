"""What a tagged file states."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from fin_agent.errors import ReadError
from fin_agent.evaluation.xbrl_truth import TaggedFiling, read_tagged, tagged_files


def test_cover_and_tags(tagged: dict[str, TaggedFiling]) -> None:
    annual, quarterly = tagged["harborlight_2025_10k"], tagged["quillmark_2025q2_10q"]
    assert (annual.form, annual.fiscal_year, annual.quarter, annual.end) == ("10-K", 2025, None, date(2025, 12, 31))
    assert (quarterly.form, quarterly.quarter, quarterly.end) == ("10-Q", 2, date(2025, 8, 2))
    sales = [tag for tag in annual.tags if tag.row == "Net sales" and not tag.members and tag.end == annual.end]
    assert {(tag.value, tag.unit, tag.step) for tag in sales} == {(Decimal(4_025_000_000), "USD", Decimal(1_000_000))}
    diluted = next(tag for tag in annual.tags if tag.name == "EarningsPerShareDiluted" and tag.end == annual.end)
    assert (diluted.value, diluted.unit) == (Decimal("4.42"), "USD per share")
    assert diluted.concept == "us-gaap:EarningsPerShareDiluted" and not diluted.nil
    assert diluted.table is not None and "Net sales" in annual.words[diluted.table]


def test_a_file_without_tags_is_none(sample_html: Path) -> None:
    names = {path.name: read_tagged(path) is not None for path in tagged_files(sample_html)}
    assert names == {
        "harborlight_2025_10k.htm.gz": True,
        "ottermere_2025q2_8k.htm": False,
        "quillmark_2025q2_10q.htm": True,
    }


def test_a_broken_file_is_named_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "broken.htm").write_text(
        '<html xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><p></html>', encoding="utf-8"
    )
    with pytest.raises(ReadError, match=r"broken\.htm.*not well-formed.*remove it from the folder"):
        read_tagged(tmp_path / "broken.htm")


def test_words_of_tables_stand_apart_and_without_marks(tmp_path: Path, sample_html: Path) -> None:
    text = (sample_html / "quillmark_2025q2_10q.htm").read_text(encoding="utf-8")
    assert text.count(">Little Quill<") > 0
    changed = text.replace(">Little Quill<", ">Little<br/>Quill\u00ae (1)<")
    (tmp_path / "changed.htm").write_text(changed, encoding="utf-8")
    read = read_tagged(tmp_path / "changed.htm")
    assert read is not None and any("Little Quill" in words for words in read.words.values())
