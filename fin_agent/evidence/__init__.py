"""Evidence for answers: cards, intents, plans, the ledger and the audit trace."""
