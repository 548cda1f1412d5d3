"""Recorded runs: the question, what every step did, and the answer."""
