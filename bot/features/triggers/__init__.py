"""Standing instructions: rules by which the bot looks at what is posted in a channel, and answers."""
