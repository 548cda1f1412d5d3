"""Every regular expression that sees text of others is tried against the long texts that cost it most."""

from __future__ import annotations

import re
import signal

import pytest

from tests.hostile_patterns import expressions, hostile_texts, seconds_taken

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers there")
MOST_SECONDS = 0.5


def slow_expressions(length: int) -> list[tuple[str, str]]:
    """(place, beginning of a text) of each that takes longer than it may; blanks in a row are one, as readers see."""
    slow = []
    for expression in expressions()[0]:
        for text in hostile_texts(expression, 4 * length):
            seen = re.sub(r"\s+", " ", text)[:length]
            if seconds_taken(expression, seen, MOST_SECONDS) >= MOST_SECONDS:
                slow.append((expression.place, seen[:60]))
                break
    return slow


def test_those_of_every_room_are_found() -> None:
    found = expressions()[0]
    assert len(found) > 500
    assert {"fin_agent/lexicon", "fin_agent/filings", "fin_agent/analyst", "graphs/chat"} <= {
        "/".join(each.place.split("/")[:2]) for each in found
    }


def test_an_expression_that_explodes_is_noticed() -> None:
    from tests.hostile_patterns import Expression

    bad = Expression("here", r"^(?:\*?\s*)*\w+$", 0)
    assert any(seconds_taken(bad, text, 0.2) >= 0.2 for text in hostile_texts(bad, 400))


def test_no_expression_takes_long_on_what_readers_see() -> None:
    assert slow_expressions(400) == []


@pytest.mark.skipif("not config.getoption('--nothing-skipped')", reason="takes a minute: `make test-extras`")
def test_nor_on_what_is_five_times_as_long() -> None:
    assert slow_expressions(2_000) == []
