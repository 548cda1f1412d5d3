"""Extractive answers in words: the type of answer, the evidence for it, and whether that is sufficient."""
