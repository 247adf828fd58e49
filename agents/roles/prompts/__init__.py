"""Prompt templates, one Markdown file a role."""
