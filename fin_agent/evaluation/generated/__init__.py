"""Questions generated from the figures of an index, each with its expected answer."""
