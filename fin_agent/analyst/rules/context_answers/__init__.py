"""Answer a question from one table and the paragraphs around it, by rules."""
