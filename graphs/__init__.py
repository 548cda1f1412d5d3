"""The LangGraph graphs; `answer` answers a question."""

from fin_agent.errors import require_versions

require_versions("langchain-core", "langgraph")
