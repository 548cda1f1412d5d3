"""The index on an Elasticsearch cluster: the protocol of the embedded index for those who outgrow one machine."""
