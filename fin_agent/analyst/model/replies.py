"""What a chat model replies in each role: few fields, read leniently, held to a strict schema where a server can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fin_agent.analyst.model.abstraction import Abstraction
from fin_agent.analyst.model.answer_replies import (
    CurationReply,
    ProgramReply,
    ReasoningReply,
    TextJudgeReply,
)
from fin_agent.analyst.model.question_replies import (
    IntentReply,
    QueryReply,
    SubQuestionsReply,
)
from fin_agent.analyst.model.ranking_replies import GroupReply, ListwiseReply
from fin_agent.analyst.model.summary_replies import NodeSummaryReply, SummaryReply, TitleReply

if TYPE_CHECKING:
    from pydantic import BaseModel

REPLIES: Mapping[str, type[BaseModel]] = {
    reply.__name__: reply
    for reply in (
        Abstraction,
        CurationReply,
        GroupReply,
        IntentReply,
        ListwiseReply,
        NodeSummaryReply,
        ProgramReply,
        QueryReply,
        ReasoningReply,
        SubQuestionsReply,
        SummaryReply,
        TextJudgeReply,
        TitleReply,
    )
}
"""Name of an output, as the heads of prompts give it -> its type."""

__all__ = ["REPLIES", *sorted(REPLIES)]
