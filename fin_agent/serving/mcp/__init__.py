"""The Model Context Protocol: the tools of the toolkit, pages as pictures, filings as resources. Extra `mcp`."""
