"""The message of a run: open, write, stream, finish, repair."""
