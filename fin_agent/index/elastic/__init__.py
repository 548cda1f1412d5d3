"""The index on an Elasticsearch cluster (`index.ElasticIndex`), asked through `client`, at an `address`.

`mapping` names and makes the indices, `documents` turns filings into documents and back, `listing` knows which filings
are visible, `writing` and `reading` write, find and hand out what they hold.
"""
