"""Translations of the bot's own words: a gettext catalogue for each language."""
