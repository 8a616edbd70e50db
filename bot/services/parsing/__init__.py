"""Readers of untrusted files. They run in a process of their own; see `bot.services.documents`.

Imports nothing else of bot, so that the process starts quickly and holds no secrets.
"""
