"""The financial language as data: metrics, formulas, Items, topics, companies and periods."""
