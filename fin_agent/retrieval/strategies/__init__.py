"""Named ways to search the same index, behind one interface."""
