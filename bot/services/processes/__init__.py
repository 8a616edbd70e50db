"""Child processes with limits, for work on other people's data."""
