"""Fetch filings from EDGAR: requests, lists of companies and filings, selection of filings, and downloads."""
