"""Filings fetched from EDGAR, under the SEC's rules of fair access."""
