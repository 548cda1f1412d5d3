"""Filings from EDGAR: `fetching`, over `filing_selection`, `lists` (of companies and filings) and `connection`."""
