"""Cards: passages described by the fields that questions refer to (FinCards, Section 3)."""
