"""Shortcuts on messages and from anywhere, and the forms that they open."""
