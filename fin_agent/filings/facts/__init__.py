"""Facts: figures from tables, labels, sentences and tags, reconciled with each other."""
