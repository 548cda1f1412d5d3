"""Keep filings and find them: one protocol, an embedded SQLite index, ingest."""
