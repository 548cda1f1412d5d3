"""The state machines: `answer` is the one that answers a question."""
