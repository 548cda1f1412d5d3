"""Prompts of the chat-model analyst: one Markdown file per role. The rules analyst, the default, needs none."""
