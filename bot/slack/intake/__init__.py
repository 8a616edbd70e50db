"""What people do in Slack: events, commands and presses, and the requests that come of them."""
