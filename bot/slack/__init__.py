"""Everything Slack-shaped: what comes in becomes a request, what a run does becomes messages."""
