"""Replies that say what a text is: a filing, a section of it, a title."""

from __future__ import annotations

from fin_agent.analyst.model.lenient import PerhapsText, Text, Words
from fin_agent.analyst.model.reply import Reply


class SummaryReply(Reply):
    """What a filing is, as its cover says it (HiREC: documents are searched by such summaries)."""

    company: PerhapsText = None
    """As printed."""
    also_named: Words = ()
    form: PerhapsText = None
    """`10-K`, `10-Q`, `8-K`, `earnings release`."""
    period: PerhapsText = None
    """What it reports on: `fiscal 2023`, `second quarter of fiscal 2023`."""
    period_end: PerhapsText = None
    """`2023-06-30`."""
    summary: Text
    """Two or three sentences to search by."""


class NodeSummaryReply(Reply):
    """What a section of a filing tells."""

    summary: Text
    topics: Words = ()
    """Measures and subjects in the usual words, what matters most first."""


class TitleReply(Reply):
    """A title."""

    title: Text
