"""Channels that store state as plain JSON and return it to nodes as typed values.

A checkpointer may restore only data that it knows, and all of them know plain data. So nodes write plain data
(`tagged_json`), checkpoints store it, and reading the state returns the types in its annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from functools import lru_cache
from operator import add
from typing import Any, Self, get_args, get_origin

from langgraph.channels import BinaryOperatorAggregate, LastValue
from langgraph.types import Overwrite
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from fin_agent.errors import FinAgentError

WRITTEN_BY = "left_by"
"""Key of plain data with the node that wrote it; data without it was edited from outside."""
_OUTSIDE = "update_state"


class StateError(FinAgentError):
    """A value in the state is not of the type of its key."""


class Kept(LastValue[Any]):
    """A state channel with the last value, stored as plain JSON by any checkpointer and read back as its type.

    None deletes the key from the state.

    >>> from typing import Annotated
    >>> from langgraph.graph import MessagesState
    >>> from fin_agent import Answer, Kept
    >>> class State(MessagesState):
    ...     question: str
    ...     answer: Annotated[Answer, Kept]
    """

    _made: tuple[Any, Any] | None = None

    def update(self, values: Sequence[Any]) -> bool:
        """See BaseChannel."""
        if len(values) == 1 and values[0] is None:
            gone = self.is_available()
            self.value = type(self)(self.typ, self.key).value
            return gone
        return super().update(values)

    def get(self) -> Any:
        """See BaseChannel."""
        return _typed_cached(self, super().get())

    def checkpoint(self) -> Any:
        """See BaseChannel."""
        return tagged_json(super().checkpoint(), _OUTSIDE) if self.is_available() else super().checkpoint()


class KeptList(BinaryOperatorAggregate[Any]):
    """A list channel to which nodes append; `Overwrite` resets it."""

    _made: tuple[Any, Any] | None = None

    def __init__(self, typ: Any, operator: Callable[[Any, Any], Any] = add) -> None:
        super().__init__(typ, operator)

    def copy(self) -> Self:
        """See BaseChannel."""
        same = super().copy()
        same._made = self._made
        return same

    def get(self) -> Any:
        """See BaseChannel."""
        return _typed_cached(self, super().get())

    def checkpoint(self) -> Any:
        """See BaseChannel."""
        return tagged_json(super().checkpoint(), _OUTSIDE)


def tagged_json(value: Any, node: str) -> Any:
    """Return typed values as plain JSON tagged with the node that wrote them; plain data is returned unchanged."""
    if isinstance(value, Overwrite):
        return Overwrite(tagged_json(value.value, node))
    if isinstance(value, list):
        return [tagged_json(each, node) for each in value]
    if isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
        return {**to_jsonable_python(value), WRITTEN_BY: node}
    return to_jsonable_python(value) if isinstance(value, tuple) else value


def _typed_cached(channel: Kept | KeptList, value: Any) -> Any:
    """Return the value as its type, converted once; JSON edited from outside stays JSON."""
    made = channel._made
    if made is None or made[0] is not value:
        made = channel._made = (value, _typed(value, channel.typ, channel.key))
    return made[1]


def _typed(value: Any, kind: Any, key: str) -> Any:
    if isinstance(value, list) and get_origin(kind) is list:
        return [_typed(each, get_args(kind)[0], key) for each in value]
    ours = isinstance(value, dict) and WRITTEN_BY in value
    if not (ours or isinstance(value, list)):  # an untagged list is a place: a tuple in JSON
        return value
    plain = {name: each for name, each in value.items() if name != WRITTEN_BY} if ours else value
    try:
        return _adapter(kind).validate_python(plain)
    except ValidationError as failure:
        raise StateError(
            f"the checkpoint cannot be read: {failure.errors()[0]['msg']}",
            subject=f"`{key}` of the state",
            remedy="It was written by another version of fin-agent: ask in a new thread",
        ) from None


@lru_cache(maxsize=256)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
