"""Events from Slack: whether they are for the bot, who sent them, and what they say."""
