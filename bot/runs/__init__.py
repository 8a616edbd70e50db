"""The life of a request, from its thread's mailbox to its one final message."""
