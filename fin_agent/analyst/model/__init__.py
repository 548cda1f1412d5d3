"""The roles of the analyst filled by chat models, with the same types as the rules."""
