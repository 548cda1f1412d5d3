"""Parse a question into a Query: lexer, grammar, syntax tree."""
