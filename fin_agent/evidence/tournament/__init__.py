"""A tournament over cards: a first cut by words, groups that meet, rounds that settle the order (FinCards, 3.4)."""
