"""The identity of a filing (company, form, period), determined from its content."""
