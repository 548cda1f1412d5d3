"""Calls and tokens that strategies take of a chat model which is never content: the most that each can take.

    python -m benchmarks.strategy_calls INDEX QUESTIONS [--limit 20] [--strategies hyde:bm25,ircot ...]

The model is a script, so that what is found means nothing: it always finds the first two passages relevant and the
evidence too little, asks on, and chooses and ranks cards as they are listed. Prompts are the real ones, over the
passages of INDEX, and tokens are counted as for a server that tells none.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from fin_agent.analyst.model.llm_judges import ModelJudge
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import first_query, strategy_for
from fin_agent.config import settings_from
from fin_agent.evaluation.financebench import load_questions
from fin_agent.models.call import Role
from fin_agent.models.caller import Callers
from fin_agent.models.metering import Budget, Meter, metered
from fin_agent.testing import ModelCall, ScriptedChatModel
from fin_agent.workspace import Workspace

STRATEGIES = (
    "hyde,multi-hyde,ircot,sub-questions,self-rag,rq-rag,hirec-no-document-reranker-no-passage-reranker,tournament"
)
NEVER_CONTENT = count()


def replied(call: ModelCall) -> str | Mapping[str, object]:
    """By its role; no two thoughts or questions are the same."""
    asked = f"What else does the report say, in its part {next(NEVER_CONTENT)}?"
    by_role: dict[str, str | Mapping[str, object]] = {
        "curation": {"kept": [1, 2], "answerable": False, "complementary_question": asked},
        "query_rewrite": {"query": asked},
        "sub_questions": {"questions": [asked, f"And {asked}"]},
        "group_selection": {"chosen": [1, 2, 3]},
        "judge": {"ranking": list(range(1, 26))},
    }
    return by_role.get(call.role or "", f"{asked} The company reports it in a note of some sixty words. " * 4)


def main() -> None:
    """Print a line a strategy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--strategies", default=STRATEGIES)
    given = parser.parse_args()
    asked = load_questions(given.questions)[: given.limit]
    workspace = Workspace.open(given.index)
    analyst = RulesAnalyst(workspace)
    for name in given.strategies.split(","):
        callers = Callers.with_model(ScriptedChatModel(replied, tells_usage=False), name="a script")
        judge = ModelJudge(callers.of(Role.LISTWISE), choosing=callers.of(Role.GROUP))
        strategy = strategy_for(settings_from(strategy=name), workspace, callers=callers, judge=judge)
        meter = Meter(Budget(), of="run")
        with metered(meter):
            for question in asked:
                strategy.search(first_query(question.question, analyst))
        spent = meter.spent()
        print(f"{name}: {spent.calls / len(asked):.1f} calls, {spent.tokens / len(asked):,.0f} tokens a question")


if __name__ == "__main__":
    main()
