"""Real but small implementations of our protocols, shared by tests."""
