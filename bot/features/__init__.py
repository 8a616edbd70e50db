"""Features: what the bot can do beside answering, each in a room of its own."""
