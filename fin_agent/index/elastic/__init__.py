"""The index on an Elasticsearch cluster (`index.ElasticIndex`), at an `address`, accessed through `client`.

`mapping` names and creates the indices, `documents` converts filings to documents and back, `listing` tracks which
filings are visible, and `writing` and `reading` write, search and return their content.
"""
