"""The entries of the lexicon, as YAML; docs/lexicon.md explains every field."""
