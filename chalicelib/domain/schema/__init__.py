"""Versions of the schemas of tables, what has changed between them, and what that means for what runs."""
