"""A text cut into stretches that a model reads whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

OVERLAP = 30
"""Tokens that a window shares with the one before it."""
_USUAL_LENGTH = 512


def windows_of(text: str, tokenizer: PreTrainedTokenizerBase, most: int | None, overlap: int = OVERLAP) -> list[str]:
    """Stretches of `text` of at most `most` tokens each, the model's own marks included; the whole where it fits.

    Each begins `overlap` tokens before the last one ended, or half a window where the window is that short.
    """
    room = max(1, (most or _USUAL_LENGTH) - tokenizer.num_special_tokens_to_add())
    step = max(1, room - min(overlap, room // 2))
    taken = tokenizer(text, add_special_tokens=False, return_offsets_mapping=tokenizer.is_fast, verbose=False)
    tokens: list[int] = taken["input_ids"]
    if len(tokens) <= room:
        return [text]
    starts = range(0, len(tokens) - (room - step), step)
    if tokenizer.is_fast:
        offsets: list[tuple[int, int]] = taken["offset_mapping"]
        return [text[offsets[at][0] : offsets[min(at + room, len(tokens)) - 1][1]] for at in starts]
    return [str(tokenizer.decode(tokens[at : at + room])) for at in starts]
