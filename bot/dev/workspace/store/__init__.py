"""What there is in the workspace: people, channels, messages, and the record of all changes."""
