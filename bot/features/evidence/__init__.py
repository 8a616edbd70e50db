"""Tracing answers: what a thread has read, the check of each answer, and what follows from it."""
