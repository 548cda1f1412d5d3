"""The command line, `fin-agent`: its commands are declared in `app`, and the engine is imported only by those that run."""

from fin_agent.cli.app import app, main

__all__ = ["app", "main"]
