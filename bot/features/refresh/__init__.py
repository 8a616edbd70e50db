"""Refreshing an answer: its recorded calls, made again without the model, and what has changed."""
