"""Every role by rules: no model, no network, deterministic."""
