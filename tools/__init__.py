"""What the graphs' nodes call: document search, page search, card extraction, Python execution."""
