"""Read a file into a Filing: pages, identity, Items, statements, tables, facts, passages."""
