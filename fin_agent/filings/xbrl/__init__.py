"""Tags of inline XBRL: contexts, units, values."""
