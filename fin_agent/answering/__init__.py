"""Programs, the sandbox, the provenance check, the answer."""
