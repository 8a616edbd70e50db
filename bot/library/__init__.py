"""Sealed libraries: each has an interface, its own README and tests, and imports nothing of the bot."""
