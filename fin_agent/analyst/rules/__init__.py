"""All roles of the analyst by rules: no model, no network, deterministic."""
