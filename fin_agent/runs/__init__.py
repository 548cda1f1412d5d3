"""Runs as they are kept: what was asked, what every step did, what came out."""
