"""Word lists that reading questions needs; see the comments in each file."""
