"""Skills: procedures for one kind of question, whose text the model acquires as it acquires a tool."""

from __future__ import annotations

from dataclasses import dataclass

from bot.toolkit.acquired_text import AcquiredText

GROUP = "skills"
"""The group of all skills, as the `tools` of a channel name it."""

_LISTED = 200  # characters of the description in the list


@dataclass(frozen=True, kw_only=True)
class Skill:
    """A procedure, which the model is told once it has acquired it; it has no function.

    Features bring skills to a run (`RunPart.skills`). They are listed, searched and allowed in a
    channel as tools are, and their names are kept with those of tools for the thread.

    - `description`: what it is for, and when to use it: all that the model sees before.
    - `text`: what the model is told, in the bot's own voice. `digest`: SHA-256, in hex, of all of the
      skill: another one means that a conversation has an older text.
    - `tools`: names of tools that are acquired with it, as far as they exist; that replaces no
      approval. `brings`: those that are offered with such skills alone, wherever one of them is.
    - `title`: its name for people. `origin`: where it is from, and its version, for operators.
    """

    name: str
    description: str
    text: str
    digest: str
    title: str
    origin: str
    tools: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()

    @property
    def acquired_text(self) -> AcquiredText:
        """The text that it brings into the conversation."""

        async def text(_services: object) -> str:
            return self.text

        return AcquiredText(text, is_data=False, digest=self.digest)

    @property
    def listed(self) -> str:
        """The line of this skill in `acquire_tools`."""
        flat = " ".join(self.description.split())
        return f"- {self.name}: {flat if len(flat) <= _LISTED else flat[:_LISTED].rstrip() + '…'}"

    @property
    def line(self) -> str:
        """The line of this skill among search results."""
        return f"- {self.name} (skill): {' '.join(self.description.split())}"

    @property
    def words(self) -> tuple[tuple[str, float], ...]:
        """The texts by which a search finds it, each with its weight."""
        return ((self.name, 3.0), (self.description, 2.0))
