"""The language of finance as data: metrics, formulas, Items, topics, companies and periods."""
