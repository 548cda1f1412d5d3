"""Facts stated more than once: copies that agree, and copies that do not (XBRL Duplicates Guidance 1.0)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from fin_agent.filings.xbrl.contexts import Context
from fin_agent.vocabulary.fact import Tag

DUPLICATE = "duplicate"
CONFLICT = "conflict"


def duplicate_flags(tags: Sequence[Tag], contexts: Sequence[Context | None]) -> dict[int, str]:
    """Positions of the tags that repeat another, and `duplicate` or `conflict` for each.

    Two tags state the same fact where concept, unit and the content of their contexts are equal. They agree where the
    values are equal at the accuracy of the coarser (`consistent duplicates`); of tags that agree all but the first are
    duplicates, of others all are in conflict. Of texts only equal ones are told of: a policy may well be described in
    several places. Tags without a known context or a readable value are left out.
    """
    stated: dict[tuple[str, Context, str], list[int]] = {}
    for position, (tag, context) in enumerate(zip(tags, contexts, strict=True)):
        if context is not None and tag.concept and (tag.nil or tag.value is not None or not tag.numeric):
            stated.setdefault((tag.concept, context, tag.unit), []).append(position)
    flags: dict[int, str] = {}
    for positions in stated.values():
        if len(positions) == 1:
            continue
        copies = [tags[position] for position in positions]
        if not all(tag.numeric for tag in copies):
            flags.update(_repeated_texts(positions, copies))
        elif _agree(copies):
            flags.update(dict.fromkeys(positions[1:], DUPLICATE))
        else:
            flags.update(dict.fromkeys(positions, CONFLICT))
    return flags


def _repeated_texts(positions: Sequence[int], copies: Sequence[Tag]) -> dict[int, str]:
    seen: set[tuple[bool, str]] = set()
    flags: dict[int, str] = {}
    for position, tag in zip(positions, copies, strict=True):
        if (tag.nil, tag.text) in seen:
            flags[position] = DUPLICATE
        seen.add((tag.nil, tag.text))
    return flags


def _agree(copies: Sequence[Tag]) -> bool:
    if any(tag.nil for tag in copies):
        return all(tag.nil for tag in copies)
    surest = min(copies, key=lambda tag: -_EXACT if tag.decimals is None else -tag.decimals)
    return all(
        tag.value is not None and surest.value is not None and abs(tag.value - surest.value) <= _tolerance(tag)
        for tag in copies
    )


def _tolerance(tag: Tag) -> Decimal:
    """Half of the last digit that is meant."""
    return Decimal(0) if tag.decimals is None else Decimal(5).scaleb(-tag.decimals - 1)


_EXACT = 10_000
