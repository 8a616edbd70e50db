"""Jobs on untrusted data, which run inside an isolated process.

`bot.library.isolated.pool` starts such processes and talks to them. The operating system
limits them, and they can be killed at any moment. This package imports as little as it can.
"""


class Refused(Exception):
    """The job cannot be done as asked; the message tells the model why, so that it can correct it."""
