"""A Slack agent you run yourself."""
