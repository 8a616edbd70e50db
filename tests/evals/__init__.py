"""The cases that are shipped."""
