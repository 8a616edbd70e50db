"""Memories: facts that people had the bot remember, from one thread to another."""
