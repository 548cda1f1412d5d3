"""How strategies are written: `hybrid`, `rerank:hybrid`, `hyde:page-then-chunk:dense`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from fin_agent.errors import FinAgentError


class StrategyError(FinAgentError):
    """A strategy is not written as one, or lacks what it needs."""


class Layer(Enum):
    """What a name does, from the bottom up; each stands over some of those below it."""

    RANKER = "scores what the index holds"
    STAGED = "searches documents or pages first"
    WORDING = "searches with other words"
    WHOLE = "a search of its own"
    CURATED = "searches in rounds, as far as evidence is lacking"
    REASONED = "searches in rounds, as a model reasons"
    ORDER = "orders what was found anew"


@dataclass(frozen=True, slots=True)
class NamedStrategy:
    """A name with what it does and what it may stand over."""

    name: str
    layer: Layer
    does: str
    usually: str = ""
    """What it stands over where nothing is said; empty where it stands alone."""

    @property
    def over(self) -> tuple[Layer, ...]:
        """What it may stand over."""
        return _STANDS_OVER[self.layer]


_STANDS_OVER: Mapping[Layer, tuple[Layer, ...]] = {
    Layer.RANKER: (),
    Layer.WHOLE: (),
    Layer.STAGED: (Layer.RANKER,),
    Layer.WORDING: (Layer.RANKER, Layer.STAGED),
    Layer.CURATED: (Layer.RANKER,),
    Layer.REASONED: (Layer.RANKER, Layer.WHOLE, Layer.STAGED, Layer.WORDING),
    Layer.ORDER: (Layer.RANKER, Layer.WHOLE, Layer.STAGED, Layer.WORDING, Layer.CURATED, Layer.REASONED),
}

STRATEGIES: Mapping[str, NamedStrategy] = {
    strategy.name: strategy
    for strategy in (
        NamedStrategy("default", Layer.WHOLE, "companies, periods, statements, figures and words, in stages"),
        NamedStrategy("bm25", Layer.RANKER, "words of the question, BM25 over passages"),
        NamedStrategy("dense", Layer.RANKER, "vectors of passages"),
        NamedStrategy("splade", Layer.RANKER, "learned weights of terms"),
        NamedStrategy("hybrid", Layer.RANKER, "bm25 and dense, fused by rank (k=60)"),
        NamedStrategy("parent-child", Layer.RANKER, "vectors of small windows, their passages returned"),
        NamedStrategy("hhr", Layer.STAGED, "filings by their summaries, then passages of those", "hybrid"),
        NamedStrategy("page-then-chunk", Layer.STAGED, "pages, then passages on those", "dense"),
        NamedStrategy("query-expansion", Layer.WORDING, "also with what the lexicon calls the same", "bm25"),
        NamedStrategy("hyde", Layer.WORDING, "with a passage that a model makes up", "dense"),
        NamedStrategy("multi-hyde", Layer.WORDING, "with the mean of four such passages", "dense"),
        NamedStrategy("hirec", Layer.CURATED, "filings, passages, evidence curated, asked again", "hybrid"),
        NamedStrategy("ircot", Layer.REASONED, "again with each sentence of a model's reasoning", "bm25"),
        NamedStrategy("sub-questions", Layer.REASONED, "for each part of the question on its own", "default"),
        NamedStrategy("rerank", Layer.ORDER, "the first 50 passages, ordered by a cross-encoder", "hybrid"),
        NamedStrategy(
            "tournament", Layer.ORDER, "the first 150 passages, their cards ranked in groups and rounds", "default"
        ),
        NamedStrategy("default-dense", Layer.WHOLE, "default, its page scorer with vectors too"),
    )
}
"""Every strategy, by its name."""


def parse_strategy(written: str) -> tuple[NamedStrategy, ...]:
    """The layers of a strategy, top first, down to one that stands alone; what is left out is the usual.

    Raises StrategyError that lists the names, or what may stand over what.

    >>> [layer.name for layer in parse_strategy("rerank")]
    ['rerank', 'hybrid']
    """
    names = plainly(written).split(":")
    for name in names:
        if name not in STRATEGIES:
            raise StrategyError(
                f"there is no strategy {name!r}" if name else "a name is missing",
                subject=f"strategy {written!r}",
                remedy=f"There are: {', '.join(STRATEGIES)}; a colon puts one over another, as in `rerank:hybrid`",
            )
    layers = [STRATEGIES[name] for name in names]
    while layers[-1].usually:
        layers.append(STRATEGIES[layers[-1].usually])
    for upper, lower in pairwise(layers):
        if lower.layer not in upper.over:
            raise StrategyError(
                f"{upper.name} cannot stand over {lower.name}",
                subject=f"strategy {written!r}",
                remedy=_may_stand(upper),
            )
    return tuple(layers)


def is_default(written: str) -> bool:
    """Whether this is our own staged search and nothing over it."""
    return plainly(written) == "default"


def plainly(written: str) -> str:
    """The same without capitals, blanks and underscores.

    >>> plainly(" Rerank : query_expansion")
    'rerank:query-expansion'
    """
    return ":".join(name.strip().lower().replace("_", "-") for name in written.split(":"))


def _may_stand(upper: NamedStrategy) -> str:
    if not upper.over:
        over = [other.name for other in STRATEGIES.values() if upper.layer in other.over]
        return f"{upper.name} stands alone, under: {', '.join(over)}"
    lower = [other.name for other in STRATEGIES.values() if other.layer in upper.over]
    return f"{upper.name} stands over: {', '.join(lower)}"
