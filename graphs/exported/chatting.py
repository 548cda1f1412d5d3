"""The context of a conversation, made of what was opened; made once and shared by the runs that follow."""

from __future__ import annotations

import threading
from collections import OrderedDict

from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.chat.state import ChatContext, ChatLimits

_MOST_KEPT = 8
_Key = tuple[int, ChatLimits, tuple[str, ...]]


def chatting(answering: AnswerContext, limits: ChatLimits, doc_ids: tuple[str, ...]) -> ChatContext:
    """A conversation over `answering`: by an assistant where its settings name a model.

    Raises FilingIndexError where a filing named is not indexed, and ModelSetupError.
    """
    key = (id(answering), limits, doc_ids)
    with _guard:
        held = _contexts.get(key)
        if held is None or held.answering is not answering:
            held = _contexts[key] = ChatContext.over(answering, doc_ids=doc_ids or None, limits=limits)
            if len(_contexts) > _MOST_KEPT:
                _contexts.popitem(last=False)
        return held


_guard = threading.Lock()
_contexts: OrderedDict[_Key, ChatContext] = OrderedDict()
