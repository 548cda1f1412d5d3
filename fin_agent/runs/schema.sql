-- Columns of lists are apart from the large contents; `packed` is JSON, deflated.
CREATE TABLE runs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  started TEXT NOT NULL,
  question TEXT NOT NULL,
  question_id TEXT,
  strategy TEXT NOT NULL,
  refused INTEGER NOT NULL,
  value REAL,
  unit TEXT,
  said TEXT NOT NULL,
  rounds INTEGER NOT NULL,
  seconds REAL NOT NULL,
  bytes INTEGER NOT NULL
);
CREATE TABLE contents (
  number INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
  packed BLOB NOT NULL
);
