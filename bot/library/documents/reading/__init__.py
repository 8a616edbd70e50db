"""Readers of untrusted files, which run in a process of their own (see `bot.services.artifact_documents`).

The readers import nothing else of `bot`, so that the process starts quickly and holds no secrets.
"""
