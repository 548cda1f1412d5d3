"""What reads filings for the graphs' nodes, as plain functions, and for agents, as LangChain tools.

`FinAgentToolkit` hands out the tools. It is loaded when it is first used: the nodes need none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_agent.tools.toolkit import FinAgentToolkit as FinAgentToolkit

__all__ = ["FinAgentToolkit"]


if not TYPE_CHECKING:  # a checker that saw it would take every name to be there

    def __getattr__(name: str) -> object:
        if name == "FinAgentToolkit":
            from fin_agent.tools.toolkit import FinAgentToolkit

            return FinAgentToolkit
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
