"""A turn as JSON, for programs."""

from __future__ import annotations

from fin_agent.graphs.chat.state import Turn


def turn_fields(turn: Turn) -> dict[str, object]:
    """What was asked, as what it was read, the reply, and the whole answer; pages count from 0, as in answers."""
    answer = turn.answer
    return {
        "asked": turn.asked,
        "kind": turn.kind.value,
        "question": turn.question or None,
        "said": turn.said,
        "refused": answer.refused if answer is not None and not turn.by_model else None,
        "citations": [citation.model_dump(mode="json") for citation in turn.citations],
        "by_model": turn.by_model,
        "warnings": list(turn.warnings),
        "usage": turn.usage.model_dump(mode="json"),
        "answers": [each.model_dump(mode="json", exclude={"trace"}) for each in turn.answers],
        "seconds": turn.seconds,
    }
