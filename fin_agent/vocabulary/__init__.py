"""The values shared by all packages: filings, pages, facts, tables, identities, dates."""
