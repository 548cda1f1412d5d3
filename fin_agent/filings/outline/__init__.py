"""The outline of a filing: the pages of its Items, statements and notes."""
