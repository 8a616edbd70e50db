"""End-to-end tests: a real `bot dev`, with its page in a real browser."""
