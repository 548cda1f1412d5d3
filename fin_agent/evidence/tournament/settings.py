"""How a tournament is held, and the variants that FinCards compares it with."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Aggregation(StrEnum):
    """How the places of several rounds become one order."""

    BORDA = "borda"
    """Mean over rounds of the share of a list's other cards that stand below."""
    MEAN_RANK = "mean-rank"
    VOTES = "votes"
    """In how many rounds a card is among the first `top_k`."""


class HiddenField(StrEnum):
    """Fields of a card that a judge is not shown."""

    TIME = "time"
    METRICS = "metrics"
    TABLES = "tables"
    SCOPE = "scope"


class TournamentSettings(BaseModel):
    """How a tournament is held (FinCards, Section 4; the sizes it does not give are chosen by stage 2's own recall)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    share: float = Field(default=0.5, gt=0, le=1, description="share of the passages that words let in")
    fewest: int = Field(default=60, ge=1, description="passages let in at least")
    most: int = Field(default=150, ge=1, description="passages let in at most")
    group_size: int = Field(default=25, ge=2, description="cards that meet in one group, about")
    k_min: int = Field(default=3, ge=1, description="finalists of a group at least")
    k_max: int = Field(default=10, ge=1, description="finalists of a group at most")
    near_best: float = Field(
        default=0.5, ge=0, le=1, description="between the two: those scoring this share of the best"
    )
    attempts: int = Field(default=3, ge=1, le=10, description="shufflings tried where a group or a round fails")
    rounds: int = Field(default=5, ge=1, le=50, description="rounds of ranking the finalists at most")
    list_size: int = Field(default=60, ge=2, description="finalists ranked in one list at most")
    top_k: int = Field(default=10, ge=1, description="first places that have to agree before rounds end early")
    jaccard: float = Field(default=0.9, ge=0, le=1, description="how far they have to agree")
    early_stop: bool = Field(default=True, description="whether rounds end once the first places agree")
    shuffled: bool = Field(default=True, description="whether groups and lists are shuffled")
    aggregation: Aggregation = Aggregation.BORDA
    hidden: frozenset[HiddenField] = frozenset()
    seed: int = Field(default=0, ge=0, description="of all shuffling")

    @model_validator(mode="after")
    def _bounds_in_order(self) -> TournamentSettings:
        for low, high in (("k_min", "k_max"), ("fewest", "most")):
            if getattr(self, low) > getattr(self, high):
                raise ValueError(f"{low} is greater than {high}")
        return self

    def let_in(self, passages: int) -> int:
        """How many of so many passages stage 1 lets in: clamp(0.5 L, 60, 150).

        >>> [TournamentSettings().let_in(passages) for passages in (20, 80, 200, 900)]
        [20, 60, 100, 150]
        """
        return min(passages, max(self.fewest, min(self.most, round(self.share * passages))))


ABLATIONS: Mapping[str, Mapping[str, object]] = {
    "without time": {"hidden": frozenset({HiddenField.TIME})},
    "without metrics": {"hidden": frozenset({HiddenField.METRICS})},
    "without tables": {"hidden": frozenset({HiddenField.TABLES})},
    "without scope": {"hidden": frozenset({HiddenField.SCOPE})},
    "single round": {"rounds": 1},
    "fixed groups": {"shuffled": False},
    "mean rank": {"aggregation": Aggregation.MEAN_RANK},
    "votes": {"aggregation": Aggregation.VOTES},
    "no early stop": {"early_stop": False},
}
"""Name -> the settings that differ (FinCards, Section 5: ablations)."""
