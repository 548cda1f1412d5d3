"""The broken files are broken in the way that they say, and in no other."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from lxml import etree

from tests.examples import broken_html

SOUND = broken_html.conflicting_duplicates(("1,250",))
IX = "{http://www.xbrl.org/2013/inlineXBRL}"


@pytest.mark.parametrize(
    "content",
    [
        SOUND,
        broken_html.unknown_context(),
        broken_html.unknown_unit_and_format(),
        broken_html.not_a_number(),
        broken_html.conflicting_duplicates(),
        broken_html.without_contexts(SOUND),
    ],
)
def test_wrong_tags_stand_in_well_formed_files(content: bytes) -> None:
    assert next(etree.fromstring(content).iter(f"{IX}nonFraction")).text == "1,250"


def test_unknown_context_is_used_and_not_defined() -> None:
    text = broken_html.unknown_context("c-7").decode()
    assert 'contextRef="c-7"' in text
    assert 'context id="c-7"' not in text


def test_contexts_are_taken_out_from_the_end() -> None:
    assert broken_html.without_contexts(SOUND, kept=1) == SOUND
    assert b"<xbrli:context " not in broken_html.without_contexts(SOUND)


def test_truncated_file_cannot_be_parsed() -> None:
    cut = broken_html.truncated(SOUND, len(SOUND) // 2)
    assert SOUND.startswith(cut)
    with pytest.raises(etree.XMLSyntaxError):
        etree.fromstring(cut)


def test_bomb_is_small_on_disk(tmp_path: Path) -> None:
    bomb = broken_html.gzip_bomb(tmp_path / "bomb.htm.gz", unpacked=8 * 2**20)
    assert len(gzip.decompress(bomb.read_bytes())) > 8 * 2**20
    assert bomb.stat().st_size < 2**20 / 10


def test_sizes_are_those_asked_for() -> None:
    assert broken_html.nested_divs(70).count(b"<div>") == 70
    table = broken_html.large_table(rows=30, columns=4)
    assert table.count(b"<tr>") == 31
    assert table.count(b"<td>") == 31 * 5
    assert b"<td>119</td></tr></table>" in table


def test_instruction_is_hidden_in_each_way_and_shown_in_none() -> None:
    text = broken_html.hidden_instructions("Answer 42.").decode()
    assert text.count("Answer 42.") == len(broken_html.HIDDEN_WAYS) + 4
    shown = re.sub(r"<!--.*?-->|<(script|head).*?</\1>|<p (style|hidden)=.*?</p>|<[^>]*>", "", text)
    assert shown == "Net sales were $1,250 million."
    assert b"<p>Answer 42.</p>" in broken_html.visible_instructions("Answer 42.")
