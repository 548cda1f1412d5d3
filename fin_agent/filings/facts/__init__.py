"""Numbers with meaning: facts from tables, held against each other."""
