"""Forty jobs that colleagues give the bot, played over the wire: see README.md."""
