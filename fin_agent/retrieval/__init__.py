"""From a question to documents, pages and passages."""
