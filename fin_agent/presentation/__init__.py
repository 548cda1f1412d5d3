"""Rich renderables of answers, filings, searches and runs. This package only displays; it reads and decides nothing."""
