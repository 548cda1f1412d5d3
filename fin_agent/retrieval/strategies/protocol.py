"""The interface of every retrieval strategy."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

from fin_agent.errors import FinAgentError
from fin_agent.lexicon.words import load_yaml
from fin_agent.models.errors import ModelError
from fin_agent.prompts import FilledPrompt
from fin_agent.retrieval.search_query import DEFAULT_DEPTH, EVERYTHING, Depth, Query, RankedPassage, Scope, SearchResult
from fin_agent.vocabulary.ranked_group import RankedGroup

if TYPE_CHECKING:
    from fin_agent.retrieval.dense.encoder import Encoder, SparseEncoder


Search = Callable[[Query, Scope, Depth], SearchResult]
"""Returns the best filings, pages and passages for a query within a scope, as many as the depth says.

All passages that an answer is to be written from are included, even if these are more. A search that ranks only
passages lists their pages and filings in the order of their best passage. Deterministic; safe to share between threads.
"""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A search with its name."""

    name: str
    """The name as written in settings and reports: `bm25`, `rerank:hybrid`."""
    find: Search

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = DEFAULT_DEPTH) -> SearchResult:
        """Return what the search finds."""
        return self.find(query, scope, depth)


class StrategyError(FinAgentError):
    """The name of a strategy is not valid, or the strategy lacks something it needs."""


class Layer(Enum):
    """What a strategy does, from the bottom layer to the top; each may wrap some of those below it."""

    RANKER = "scores what the index holds"
    STAGED = "searches documents or pages first"
    WORDING = "searches with other words"
    WHOLE = "a search of its own"
    CURATED = "searches in rounds, as far as evidence is lacking"
    REASONED = "searches in rounds, as a model reasons"
    ORDER = "orders what was found anew"


@dataclass(frozen=True, slots=True)
class StrategyInfo:
    """A strategy's name with what it does and what it may wrap."""

    name: str
    layer: Layer
    description: str
    default_base: str = ""
    """The strategy that it wraps by default; empty where it wraps none."""
    parts: tuple[str, ...] = ()
    """Parts that can be switched off for an ablation: `hirec-no-filter`, `fingear-no-lexicon-no-question`."""
    without: frozenset[str] = frozenset()
    """Parts that are switched off."""


_MAY_WRAP: Mapping[Layer, tuple[Layer, ...]] = {
    Layer.RANKER: (),
    Layer.WHOLE: (),
    Layer.STAGED: (Layer.RANKER,),
    Layer.WORDING: (Layer.RANKER, Layer.STAGED),
    Layer.CURATED: (Layer.RANKER,),
    Layer.REASONED: (Layer.RANKER, Layer.WHOLE, Layer.STAGED, Layer.WORDING),
    Layer.ORDER: (Layer.RANKER, Layer.WHOLE, Layer.STAGED, Layer.WORDING, Layer.CURATED, Layer.REASONED),
}

STRATEGIES: Mapping[str, StrategyInfo] = {
    name: StrategyInfo(name, **{**fields, "layer": Layer[fields["layer"]], "parts": tuple(fields.get("parts", ()))})
    for name, fields in load_yaml("strategies", __package__).items()
}
"""Every strategy by name."""


def parse_strategy(written: str) -> tuple[StrategyInfo, ...]:
    """Return the layers of a strategy, top first; layers that are not named are the defaults.

    Raises StrategyError where a name is unknown, or two layers cannot be combined.

    >>> [layer.name for layer in parse_strategy("rerank")]
    ['rerank', 'hybrid']
    """
    layers = [_strategy_info(name, written) for name in normalize_name(written).split(":")]
    while layers[-1].default_base:
        layers.append(STRATEGIES[layers[-1].default_base])
    for upper, lower in pairwise(layers):
        if lower.layer not in _MAY_WRAP[upper.layer]:
            able = [each.name for each in STRATEGIES.values() if each.layer in _MAY_WRAP[upper.layer]]
            over = [each.name for each in STRATEGIES.values() if upper.layer in _MAY_WRAP[each.layer]]
            raise StrategyError(
                f"{upper.name} cannot be combined with {lower.name}",
                subject=f"strategy {written!r}",
                remedy=f"{upper.name} can wrap: {', '.join(able)}"
                if able
                else f"{upper.name} wraps no other strategy; these can wrap it: {', '.join(over)}",
            )
    return tuple(layers)


def _strategy_info(name: str, written: str) -> StrategyInfo:
    named, *switched_off = name.split("-no-")
    if named not in STRATEGIES:
        raise StrategyError(
            f"there is no strategy {name!r}" if name else "a name is missing",
            subject=f"strategy {written!r}",
            remedy=f"There are: {', '.join(STRATEGIES)}; combine two with a colon, as in `rerank:hybrid`",
        )
    found, without = STRATEGIES[named], frozenset(switched_off)
    if odd := sorted(without.difference(found.parts)):
        raise StrategyError(
            f"{named} has no part {odd[0]!r} that could be switched off",
            subject=f"strategy {written!r}",
            remedy=f"It has: {', '.join(found.parts) or 'none'}",
        )
    return replace(found, without=without) if without else found


def is_default(written: str) -> bool:
    """Return whether this is the package's own staged search, not wrapped."""
    return normalize_name(written) == "default"


def normalize_name(written: str) -> str:
    """Return the name in lower case, without blanks and with hyphens instead of underscores.

    >>> normalize_name(" Rerank : query_expansion")
    'rerank:query-expansion'
    """
    return ":".join(name.strip().lower().replace("_", "-") for name in written.split(":"))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of a curation after a round (HiREC: filter, answerability, complementary question in one step)."""

    kept: tuple[RankedPassage, ...]
    """The passages that an answer may be written from, best first."""
    answerable: bool
    """Whether they are sufficient."""
    complementary: Query | None = None
    """What to search for next; None where nothing is missing, or nothing else can be asked."""


# What models or rules do for strategies: safe to share between threads, deterministic unless a model is called.
Curator = Callable[[Query, Sequence[RankedPassage], Sequence[str]], Verdict]
"""Returns which of the passages, new and kept, help to answer a question; with the filings searched, best first."""
Rewriter = Callable[[Query], str]
"""Returns what a query asks for in the words of filings: company, form, period, line items; never empty."""
Decomposer = Callable[[Query], Sequence[Query]]
"""Returns queries that each search for one part of a query; empty where it cannot be split."""
Writer = Callable[[FilledPrompt], str]
"""Returns the text that a prompt asks for. Raises ModelError if the model gives no reply."""
PassageScorer = Callable[[str, Sequence[str]], list[float]]
"""Returns how well each text answers a query, reading query and text together; higher is better."""
PassageOrder = Callable[[Query, Sequence[RankedPassage]], tuple[Sequence[RankedPassage], tuple[RankedGroup, ...]]]
"""Returns the same passages in a new order, best first, with the groups of the tournament that produced it."""
Notify = Callable[[str], None]

_WORD = re.compile(r"[^\W\d_]{2,}")
_MIN_WORDS = 3
_MAX_CHARACTERS = 4000


def generated_text(writer: Writer, prompt: FilledPrompt, notify: Notify) -> str:
    """Return the writer's text; empty, with a notification, where it cannot be used to search."""
    try:
        text = writer(prompt).strip()
    except ModelError as failure:
        notify(f"{failure.subject or 'the chat model'}: {failure.what}; the search uses the question itself")
        return ""
    if len(_WORD.findall(text)) < _MIN_WORDS:
        notify(f"the chat model wrote {text[:40]!r}, which is not text; the search uses the question itself")
        return ""
    return text[:_MAX_CHARACTERS]


def log_warning(note: str) -> None:
    """Log a note as a warning of the logger `fin_agent`."""
    logging.getLogger("fin_agent").warning(note)


@dataclass(frozen=True, slots=True)
class Models:
    """Models passed to a strategy rather than loaded by name; None where one is loaded or not needed."""

    writer: Writer | None = None
    curator: Curator | None = None
    arena: PassageOrder | None = None
    """Ranks the cards of passages, for `tournament`."""
    decomposer: Decomposer | None = None
    rewriter: Rewriter | None = None
    scorer: PassageScorer | None = None
    encoder: Encoder | None = None
    sparse_encoder: SparseEncoder | None = None
    notify: Notify = log_warning
