"""Store and search filings: one protocol, an index in a folder (SQLite) and one on a cluster (`elastic`).

`protocol` defines the interface of every index, and `opening` opens one by its location. `stored_filing` is the form in
which all of them store a filing, made of the rows in `rows` and sealed with checksums. `sqlite` (on `sqlite_file`) is
the index in a folder; `ingest` adds files to it and keeps their manifest, under `ingest_lock`. `verifying` and
`repairing` maintain its file. `copying` copies filings to another index.
"""
