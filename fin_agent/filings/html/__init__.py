"""HTML pages: the visible text, laid out, and the cells of real tables."""
