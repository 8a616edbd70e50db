"""The agent loop and its edges; knows nothing of Slack or Redis."""
