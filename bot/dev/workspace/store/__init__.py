"""The data of the workspace: people, channels, messages, and the record of all changes."""
