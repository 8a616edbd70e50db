"""The product as a person meets it: `bot dev` for real, its page in a real browser."""
