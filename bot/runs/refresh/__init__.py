"""Refresh: the recorded calls of an answer, made again without the model, and what changed since."""
