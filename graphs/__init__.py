"""The LangGraph graphs; `answer` answers a question."""
