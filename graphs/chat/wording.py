"""A turn as the text of a message, for whoever shows messages alone."""

from __future__ import annotations

from fin_agent.analyst.rules.follow_ups import MessageKind
from fin_agent.graphs.chat.citing import place_of
from fin_agent.graphs.chat.state import Turn

_MOST_CITED = 12
_LONGEST_QUOTE = 160


def message_of(turn: Turn) -> str:
    """How a follow-up was understood, the reply, where its figures stand, what to know beside."""
    parts = []
    if turn.kind is MessageKind.FOLLOW_UP and not turn.by_model:
        parts.append(f"({turn.question})")
    parts.append(turn.said)
    if turn.citations and turn.answers:
        lines = [
            f"[{number}] {place_of(citation)}: {_short(citation.text)}"
            for number, citation in enumerate(turn.citations[:_MOST_CITED], start=1)
        ]
        more = len(turn.citations) - _MOST_CITED
        parts.append("\n".join([*lines, *([f"and {more} more"] if more > 0 else [])]))
    parts += [f"Warning: {warning}" for warning in turn.warnings]
    return "\n\n".join(parts)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[: _LONGEST_QUOTE - 1]}…"
