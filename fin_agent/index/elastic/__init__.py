"""The index on an Elasticsearch cluster (`index.ElasticIndex`), at an `address`, accessed through `client`."""
