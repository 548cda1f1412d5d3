"""Questions that quote a row of a statement: `(Increase) decrease in inventories`, `Income taxes payable`."""

from __future__ import annotations

import re

from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.vocabulary.page import Statement

_FRAME = re.compile(
    r"^\W*(?:(?:and|so|please|tell me|give me|show me|find|state|calculate|compute|report)\s+)*"
    r"(?:(?:what|how much|how large|which)\s+(?:was|were|is|are|did|does|has|have)\s+|what's\s+)?"
    r"(?:(?:the|its|their)\s+)?(?:(?:amount|value|level|figure|balance)\s+(?:of|for)\s+)?(?:(?:the|its|their)\s+)*",
    re.I,
)
_END = re.compile(r"(?:\s+(?:in|for|of|at|as of|during|the|end|year|years|fiscal|and|on))*[\s?.!,]*$", re.I)
_MORE = re.compile(
    r"%|\b(?:as an?|percent(?:age)?|divided|ratio|margin|growth|average|between|compare\w*|than|versus|vs"
    r"|what|how|which|why|did|does|do|minus|plus|times)\b",
    re.I,
)
_MOVES = re.compile(r"^(?:net\s+)?(?:changes?|increases?|decreases?)\s+in\b", re.I)
_SIGNED = re.compile(
    r"\(?\b(?:increases?|decreases?)\)?\s*(?:/|or)?\s*\(?\b(?:increases?|decreases?)\)?\s+in\b|\((?:increase|decrease)\)\s+in\b",
    re.I,
)
"""A change with both signs, as only statements print it."""


def quoted_phrase(core: str) -> str:
    """What is left of a question without `What was the ...?`: the row that it quotes.

    Nothing where something is computed from it (`as a percent of revenue`) or more is asked.
    """
    phrase = " ".join(_END.sub("", _FRAME.sub("", core, count=1)).split())
    return "" if _MORE.search(phrase) else phrase


def row_metrics(phrase: str, lexicon: Lexicon) -> frozenset[str]:
    """Metrics of rows of primary statements that are labelled `phrase`.

    A name that a balance shares with its change in a cash flow statement (`Inventories`) is the balance.
    """
    if not phrase:
        return frozenset()
    found = {lexicon.metric_of_label(phrase, statement) for statement in Statement}
    named = {name for name in found if name and lexicon.metrics[name].statement is not None}
    balances = {name for name in named if lexicon.metrics[name].period == "instant"}
    if balances and not is_signed_change(phrase):
        named = {name for name in named if name in balances or not name.startswith("change_in_")}
    return frozenset(named)


def is_change(phrase: str) -> bool:
    """Whether a phrase is `change in ...` of something: of a balance, where no cash flow is spoken of."""
    return _MOVES.match(phrase) is not None


def is_signed_change(text: str) -> bool:
    """Whether a change is named with both its signs: `(increase) decrease in inventories`."""
    return _SIGNED.search(text) is not None
