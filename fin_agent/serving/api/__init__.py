"""The HTTP API: questions, searches, filings and pictures of pages, as JSON and events. Extra `serve`."""
