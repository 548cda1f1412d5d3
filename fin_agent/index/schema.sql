-- One file holds everything about the filings in it. Text is kept once: the full-text tables point at it.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE filings (
  id INTEGER PRIMARY KEY,
  doc_id TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  reader_version TEXT NOT NULL,
  company TEXT NOT NULL,
  form TEXT NOT NULL,
  fiscal_year INTEGER,
  quarter INTEGER,
  period_end TEXT,
  fiscal_year_end_month INTEGER,
  filed TEXT,
  ticker TEXT,
  cik TEXT,
  file_number TEXT,
  employer_id TEXT,
  other_names TEXT NOT NULL,
  amended INTEGER NOT NULL,
  results TEXT,
  page_count INTEGER NOT NULL,
  passage_count INTEGER NOT NULL,
  fact_count INTEGER NOT NULL,
  first_page INTEGER NOT NULL,
  last_page INTEGER NOT NULL,
  first_passage INTEGER NOT NULL,
  last_passage INTEGER NOT NULL,
  first_fact INTEGER NOT NULL DEFAULT 0,
  last_fact INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX filings_in_order ON filings (content_hash, doc_id);

-- The long columns stand apart, so that a list of very many filings is read without them. `checksums` (JSON, part -> SHA-256)
-- are of the rows that a filing has in each table, without row numbers; by them a changed byte is found.
CREATE TABLE filing_details (
  filing_id INTEGER PRIMARY KEY REFERENCES filings (id),
  sources TEXT NOT NULL,
  items TEXT NOT NULL,
  notes TEXT NOT NULL,
  warnings TEXT NOT NULL,
  summary TEXT NOT NULL,
  checksums TEXT NOT NULL DEFAULT '{}'
) STRICT;

-- A filing's pages have consecutive rowids, and so have its passages and facts: a search within it touches a range and not
-- a list, and a repair finds them without any index.
CREATE TABLE pages (
  id INTEGER PRIMARY KEY,
  filing_id INTEGER NOT NULL REFERENCES filings (id),
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  item TEXT,
  statement TEXT,
  title TEXT NOT NULL,
  kind TEXT,
  note TEXT,
  further_statements TEXT NOT NULL,
  UNIQUE (filing_id, number)
) STRICT;

CREATE VIRTUAL TABLE pages_fts USING fts5 (
  text, content = 'pages', content_rowid = 'id', tokenize = "porter unicode61 remove_diacritics 2"
);

CREATE VIRTUAL TABLE pages_vocabulary USING fts5vocab ('pages_fts', 'row');

CREATE VIRTUAL TABLE filings_fts USING fts5 (
  summary, content = 'filing_details', content_rowid = 'filing_id', tokenize = "porter unicode61 remove_diacritics 2"
);

CREATE VIRTUAL TABLE filings_vocabulary USING fts5vocab ('filings_fts', 'row');

CREATE TABLE passages (
  id INTEGER PRIMARY KEY,
  filing_id INTEGER NOT NULL REFERENCES filings (id),
  page INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  box TEXT
) STRICT;
CREATE INDEX passages_of_page ON passages (filing_id, page);

CREATE VIRTUAL TABLE passages_fts USING fts5 (
  text, content = 'passages', content_rowid = 'id', tokenize = "porter unicode61 remove_diacritics 2"
);

CREATE TABLE cards (
  passage_id INTEGER PRIMARY KEY REFERENCES passages (id),
  filing_id INTEGER NOT NULL REFERENCES filings (id),
  card TEXT NOT NULL
) STRICT;
CREATE INDEX cards_of_filing ON cards (filing_id);

-- Tables as they were read, a page at a time: JSON, compressed with zlib.
CREATE TABLE page_tables (
  filing_id INTEGER NOT NULL REFERENCES filings (id),
  page INTEGER NOT NULL,
  tables BLOB NOT NULL,
  PRIMARY KEY (filing_id, page)
) STRICT;

-- What inline XBRL says, visible or not, in the order of the file.
CREATE TABLE tags (
  filing_id INTEGER NOT NULL REFERENCES filings (id),
  ordinal INTEGER NOT NULL,
  concept TEXT NOT NULL,
  value TEXT,
  text TEXT NOT NULL,
  context TEXT NOT NULL,
  period_start TEXT,
  period_end TEXT,
  members TEXT NOT NULL,
  unit TEXT NOT NULL,
  decimals INTEGER,
  nil INTEGER NOT NULL,
  is_numeric INTEGER NOT NULL,
  page INTEGER,
  box TEXT,
  flags TEXT NOT NULL,
  PRIMARY KEY (filing_id, ordinal)
) STRICT;

CREATE TABLE facts (
  id INTEGER PRIMARY KEY,
  filing_id INTEGER NOT NULL REFERENCES filings (id),
  page INTEGER NOT NULL,
  line INTEGER NOT NULL,
  metric TEXT,
  label TEXT NOT NULL,
  section TEXT NOT NULL,
  amount TEXT NOT NULL,
  scale INTEGER NOT NULL,
  unit TEXT NOT NULL,
  fiscal_year INTEGER NOT NULL,
  quarter INTEGER,
  months INTEGER NOT NULL,
  period_end TEXT,
  column_header TEXT NOT NULL,
  statement TEXT,
  scope TEXT,
  source TEXT NOT NULL,
  tied INTEGER NOT NULL,
  inverted INTEGER NOT NULL,
  box TEXT NOT NULL,
  tag INTEGER,
  column_path TEXT NOT NULL DEFAULT '[]',
  caption TEXT NOT NULL DEFAULT '',
  note TEXT NOT NULL DEFAULT '',
  part_kind TEXT,
  proved INTEGER NOT NULL DEFAULT 0,
  doubtful INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX facts_of_metric ON facts (filing_id, metric) WHERE metric IS NOT NULL;
CREATE INDEX facts_of_page ON facts (filing_id, page);

-- What models made of a filing's units: `places` are uint32, `numbers` as FilingVectors.values says, both little-endian.
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  filing_id INTEGER NOT NULL REFERENCES filings (id),
  model TEXT NOT NULL,
  unit TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  sparse INTEGER NOT NULL,
  row_count INTEGER NOT NULL,
  places BLOB NOT NULL,
  numbers BLOB NOT NULL,
  checksum TEXT NOT NULL DEFAULT '',
  UNIQUE (filing_id, model, unit)
) STRICT;
CREATE INDEX vectors_of_model ON vectors (model, unit, filing_id, dimensions, sparse, row_count);

-- What every file given to `ingest` came to, so that a second run knows what is done, what failed and what is left.
CREATE TABLE ingested_files (
  path TEXT PRIMARY KEY,
  doc_id TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  reader_version TEXT NOT NULL,
  failure TEXT,
  remedy TEXT,
  state TEXT NOT NULL DEFAULT 'done'
) STRICT;
