"""Roles filled by a chat model, through the same types as the rules: the judge of a tournament, the maker of cards."""
