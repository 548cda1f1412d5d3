"""Tables of a page: lines, columns, headers, labels, and figures."""
