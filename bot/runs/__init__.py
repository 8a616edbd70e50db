"""A request's life, from the mailbox to its one terminal message."""
