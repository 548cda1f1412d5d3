"""Filings from EDGAR: `fetching`, over `choosing` (which), `lists` (what there is) and `connection` (requests)."""
