"""What a chat model may say of a passage: the fields of a card that abstraction fills, and no others."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, field_validator

from fin_agent.analyst.model.lenient import plain
from fin_agent.evidence.cards.card import ClaimRole, RiskSignal, Use


class Abstraction(BaseModel):
    """A model's reply on one passage; what it leaves out stays as the rules have it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    role: ClaimRole
    uses: tuple[Use, ...] | None = None
    metrics: tuple[str, ...] | None = None
    """In words."""
    periods: tuple[str, ...] | None = None
    parts: tuple[str, ...] | None = None
    consolidated: bool | None = None
    adjusted: bool | None = None
    unaudited: bool | None = None
    risks: tuple[RiskSignal, ...] | None = None
    cues: tuple[str, ...] | None = None
    sketch: str = ""

    @field_validator("role", mode="before")
    @classmethod
    def _named(cls, written: object) -> object:
        return plain(written)

    @field_validator("uses", "risks", mode="before")
    @classmethod
    def _all_named(cls, written: object) -> object:
        listed = _listed(written)
        return [plain(each) for each in listed] if isinstance(listed, list) else listed

    @field_validator("metrics", "periods", "parts", "cues", mode="before")
    @classmethod
    def _in_a_list(cls, written: object) -> object:
        return _listed(written)

    @field_validator("sketch", mode="before")
    @classmethod
    def _said(cls, written: object) -> object:
        return "" if written is None else written


def _listed(written: object) -> object:
    """One name alone is a list of one."""
    return [written] if isinstance(written, str) else written
