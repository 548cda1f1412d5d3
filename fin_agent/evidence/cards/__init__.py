"""Cards: passages abstracted over the fields that questions ask by (FinCards, Section 3)."""
