"""Cards, intents, plans, the ledger, the audit trace."""
