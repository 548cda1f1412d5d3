"""A question becomes one Query: lexer, grammar, syntax tree."""
