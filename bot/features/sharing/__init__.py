"""Private answers that their askers share in the thread."""
