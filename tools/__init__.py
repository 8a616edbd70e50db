"""The tools that come with the bot; one file per family."""
