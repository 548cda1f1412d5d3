"""Filings over a wire: an MCP server for assistants, an HTTP API for programs. Extras `mcp` and `serve`."""
