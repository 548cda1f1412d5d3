"""Readers, which extract the pages of a file: one per kind of file, with one protocol."""
