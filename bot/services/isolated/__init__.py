"""Jobs on other people's data, done in a process that has limits of the operating system and can
be killed at any moment. `bot.services.processes.isolation` starts such processes and talks to them; this
package is what runs inside, and imports as little as it can."""


class Refused(Exception):
    """The job cannot be done as asked. The message says why, for the model to repair."""
