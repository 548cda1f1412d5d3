"""Keep filings and find them: one protocol, an index in a folder (SQLite) and one on a cluster (`elastic`).

`protocol` says what every index offers and `opening` opens one by its name. `stored_filing` is the form in which all of
them keep a filing, of the rows in `rows`, sealed with checksums. `sqlite` (over `sqlite_file`) is the
index in a folder; `ingest` brings files into it, with `workers`, `manifest` and `ingest_lock`. `verifying` and
`repairing` look after its file. `copying` carries filings to another index.
"""
