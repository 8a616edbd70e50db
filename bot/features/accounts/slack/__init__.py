"""Personal accounts in Slack: links to connect them, and what people are told about them."""
