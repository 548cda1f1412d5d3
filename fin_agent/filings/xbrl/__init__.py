"""Inline XBRL: contexts, units, tags and their values."""
