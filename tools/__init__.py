"""Tools over filings: plain functions for the nodes of graphs, LangChain tools for agents.

`FinAgentToolkit` provides the LangChain tools. It is imported on first use, since the nodes do not need it.
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
