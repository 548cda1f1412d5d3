"""The assistant: an agent of LangChain with the tools over filings, within limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from fin_agent.analyst.model.role_models import callers_of
from fin_agent.errors import how_to_install
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import unkept
from fin_agent.graphs.chat.context import ChatLimits
from fin_agent.graphs.chat.overview import filings_there
from fin_agent.models.call import Role
from fin_agent.models.callers import Callers
from fin_agent.models.errors import ModelSetupError
from fin_agent.models.settings import ModelSettings
from fin_agent.models.tokens import TokenCounter
from fin_agent.prompts import load_prompt
from fin_agent.prompts.prompt import FilledPrompt, Prompt
from fin_agent.tools.toolkit import FinAgentToolkit
from fin_agent.workspace import Workspace

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware

_STEPS_PER_CALL = 6
"""Of the agent's graph: the model, what stands before and after it, its tools."""


@dataclass(frozen=True)
class Assistant:
    """An agent that calls tools, and how its calls are counted and told."""

    agent: CompiledStateGraph[Any, Any, Any, Any]
    prompt: Prompt
    workspace: Workspace
    counter: TokenCounter
    settings: ModelSettings
    limits: ChatLimits
    doc_ids: tuple[str, ...] | None

    def opening(self, earlier: str) -> FilledPrompt:
        """What stands before the conversation: what is indexed, and what was said in turns that are left out."""
        return self.prompt.filled(filings=filings_there(self.workspace, self.doc_ids), earlier=earlier or "nothing")

    def went_on(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """What the agent adds to these messages. Raises ModelError where a call of the model fails."""
        given = list(messages)
        # Sync: nodes run in threads. `messages` come back in their order, the new ones behind.
        steps = _STEPS_PER_CALL * (self.limits.model_calls + 2)
        config: RunnableConfig = {**unkept(), "recursion_limit": steps}
        result: dict[str, list[BaseMessage]] = self.agent.invoke({"messages": given}, config)
        return result["messages"][len(given) :]


def assistant_of(
    answering: AnswerContext,
    doc_ids: tuple[str, ...] | None,
    limits: ChatLimits,
    *,
    callers: Callers | None = None,
) -> Assistant:
    """The assistant over what `answering` works with, by the model of the role `assistant`.

    Raises ModelSetupError where langchain is not installed or the model cannot be set up, and PromptError.
    """
    try:
        from langchain.agents import create_agent
        from langchain.agents.middleware import ModelCallLimitMiddleware, ToolCallLimitMiddleware
    except ImportError:
        raise ModelSetupError(
            "a chat by a model needs langchain, which is not installed",
            subject="chat",
            remedy=f"Install it: {how_to_install('chat')}; or chat by rules, without a model",
        ) from None
    from fin_agent.graphs.chat.accounted_calls import AccountedCalls

    settings = answering.settings
    callers = callers or callers_of(settings)
    caller = callers.of(Role.ASSISTANT)
    prompt = load_prompt("assistant", folder=settings.prompts)
    filled = prompt.filled(filings="", earlier="")
    toolkit = FinAgentToolkit(
        workspace=answering.workspace,
        settings=settings,
        doc_ids=doc_ids,
        callers=callers,
        counted_as=caller.model.name,
    )
    middleware: list[AgentMiddleware[Any, Any]] = [
        ModelCallLimitMiddleware(run_limit=limits.model_calls, exit_behavior="end"),
        ToolCallLimitMiddleware(run_limit=limits.tool_calls, exit_behavior="continue"),
        AccountedCalls(caller, filled.name, filled.version),
    ]
    agent = create_agent(
        caller.model.model,
        toolkit.get_tools(),
        system_prompt=filled.system,
        middleware=middleware,
        name="assistant",
        checkpointer=False,
    )
    return Assistant(agent, prompt, answering.workspace, caller.counter, callers.settings, limits, doc_ids)
