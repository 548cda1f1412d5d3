"""A file becomes pages: one reader per kind of file, behind one protocol."""
