"""Channels of a state that is kept as plain JSON and handed to nodes as its types.

A checkpointer of whoever embeds a graph reads back what it knows: plain data it always knows. So nodes leave plain data
(`tagged_json`), checkpoints hold it, and whoever reads the state gets the types that its annotations name.
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
"""Field of plain data that names the node which left it: what has none was put in from outside."""
_OUTSIDE = "update_state"


class StateError(FinAgentError):
    """What was put into the state is not what stands there."""


class Kept(LastValue[Any]):
    """For a field of a state: its last value, kept as plain JSON by any checkpointer and read back as its type.

    None takes it away: the state then has no such key.

    >>> from typing import Annotated
    >>> from langgraph.graph import MessagesState
    >>> from fin_agent import Answer, Kept
    >>> class State(MessagesState):
    ...     question: str
    ...     answer: Annotated[Answer, Kept]
    """

    __slots__ = ("_made",)

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self._made: tuple[Any, Any] | None = None

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
    """A list that grows by what nodes leave; `Overwrite` begins it anew."""

    __slots__ = ("_made",)

    def __init__(self, typ: Any, operator: Callable[[Any, Any], Any] = add) -> None:
        super().__init__(typ, operator)
        self._made: tuple[Any, Any] | None = None

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
    """A value of ours as plain JSON that says which node left it; plain data as it is."""
    if isinstance(value, Overwrite):
        return Overwrite(tagged_json(value.value, node))
    if isinstance(value, list):
        return [tagged_json(each, node) for each in value]
    if isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
        return {**_plain(value), WRITTEN_BY: node}
    return to_jsonable_python(value) if isinstance(value, tuple) else value


def _plain(value: Any) -> Any:
    """Plain JSON with the fields of models that are shown and not written: a state is no file, it hands them on."""
    plain = to_jsonable_python(value)
    _restore(value, plain)
    return plain


def _restore(value: Any, plain: Any) -> None:
    if isinstance(value, list | tuple) and isinstance(plain, list):
        for each, written in zip(value, plain, strict=False):
            _restore(each, written)
    elif isinstance(value, BaseModel) and isinstance(plain, dict):
        for name, field in type(value).model_fields.items():
            each = getattr(value, name)
            if field.exclude and each != field.get_default():
                plain[name] = _plain(each)
            else:
                _restore(each, plain.get(name))


def _typed_cached(channel: Kept | KeptList, value: Any) -> Any:
    """The value as its type, made once; what was put in as JSON from outside stays JSON."""
    made = channel._made
    if made is None or made[0] is not value:
        made = channel._made = (value, _typed(value, channel.typ, channel.key))
    return made[1]


def _typed(value: Any, kind: Any, key: str) -> Any:
    if isinstance(value, list) and get_origin(kind) is list:
        return [_typed(each, get_args(kind)[0], key) for each in value]
    ours = isinstance(value, dict) and WRITTEN_BY in value
    if not (ours or isinstance(value, list)):  # a list that stands for none is a place: a tuple in JSON
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
