"""The values that the engine speaks of: filings, pages, facts, tables, identities, dates."""
