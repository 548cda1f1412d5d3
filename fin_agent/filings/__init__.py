"""A file becomes a Filing: pages, identity, Items, statements, tables, facts, passages."""
