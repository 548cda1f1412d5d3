"""Retrieval: from a question to filings, pages, passages and figures."""
