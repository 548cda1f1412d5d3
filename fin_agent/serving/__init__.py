"""Servers over an index: an MCP server for assistants and an HTTP API for programs. Extras `mcp` and `serve`."""
