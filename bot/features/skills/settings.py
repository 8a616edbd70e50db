"""Settings of skills: `[skills]` in bot.toml, and `load` in the settings of a channel."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict


class SkillSettings(BaseModel):
    """Where skills are: `paths` are folders that hold folders with a SKILL.md."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: tuple[Path, ...] = ()


class ChannelSkills(BaseModel):
    """What the settings of a channel say of the feature: `load` names the skills that each of its threads
    begins with."""

    load: tuple[str, ...] = ()
