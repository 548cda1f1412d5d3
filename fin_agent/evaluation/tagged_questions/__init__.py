"""Questions made from what inline XBRL tags say, with exact answers."""
