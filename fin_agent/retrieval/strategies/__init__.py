"""Named search strategies over the same index, with one interface."""
