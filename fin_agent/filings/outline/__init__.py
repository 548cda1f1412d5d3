"""Where things stand in a filing: Items, statements, notes."""
