"""HTML pages: visible text laid out, and the cells of real tables."""
