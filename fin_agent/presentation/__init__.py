"""What people see: answers, filings and searches as rich renderables. Nothing here reads or decides."""
