"""Rank cards in a tournament: a cut by words, groups, and rounds that settle the order (FinCards, Section 3.4)."""
