"""Tables of a page: lines, columns, headers, labels, and the numbers in them."""
