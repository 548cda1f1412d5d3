"""Vectors: encoders, and searching with what they make."""
