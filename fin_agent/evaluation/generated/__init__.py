"""Questions made from the figures of an index, each with the answer it has to get."""
