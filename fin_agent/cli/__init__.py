"""The command line, `fin-agent`. Commands are declared in `app`; only the one that runs imports the engine."""

from fin_agent.cli.app import app, main

__all__ = ["app", "main"]
