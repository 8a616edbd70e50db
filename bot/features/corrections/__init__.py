"""Answers that correct earlier ones."""
