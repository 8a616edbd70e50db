"""Test tools for tool authors, evals and our own tests: the services of a tool, in memory."""
