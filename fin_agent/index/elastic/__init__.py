"""The index on an Elasticsearch cluster (`index.ElasticIndex`), at an `address`, accessed through `client`.

`documents` creates the indices, and converts filings to their documents and back.
"""
