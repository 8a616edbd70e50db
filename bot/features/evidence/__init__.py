"""Tracing the figures, quotes and addresses of answers to what a thread has read."""
