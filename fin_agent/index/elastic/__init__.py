"""The index on an Elasticsearch cluster (`index.ElasticIndex`), at an `address`, accessed through `client`.

`mapping` names and creates the indices, `documents` converts filings to documents and back, `listing` tracks which
filings are visible, `reading` searches and returns their content, and `index` writes it.
"""
