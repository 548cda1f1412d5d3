"""The command line, `fin-agent`: commands are declared in `app`, and only those that run import the engine."""

from fin_agent.cli.app import app, main

__all__ = ["app", "main"]
