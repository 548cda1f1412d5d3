"""A tournament over cards: first cut by words, groups that meet, rounds that settle the order (FinCards, Section 4)."""
