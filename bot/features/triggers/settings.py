"""Settings of rules: `[triggers]` in bot.toml, and what the settings of a channel say of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

LONGEST_AGE = 24 * 60  # minutes
Dollars = Annotated[float, Field(gt=0, le=10_000)]


class TriggerSettings(BaseModel):
    """Whether there are rules, and their limits.

    - `apps`: ids of the apps whose messages rules may answer; None for those that an admin approves.
    - `most`: rules of a channel.
    - `runs_per_hour`, `runs_per_day`, `daily_dollars`: what a rule has that sets nothing else, and the
      most that one may set.
    - `age_minutes`: how old a message may be that a rule answers, where the rule does not say it.
    - `model`: answers the question of a rule about a message; "" for the model of `[model]`.
    - `questions_per_day`: how many messages a rule may have that model look at.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    apps: tuple[str, ...] | None = None
    most: PositiveInt = 10
    runs_per_hour: PositiveInt = 10
    runs_per_day: PositiveInt = 50
    daily_dollars: Dollars = 5.0
    age_minutes: Annotated[int, Field(gt=0, le=LONGEST_AGE)] = 15
    model: str = ""
    questions_per_day: PositiveInt = 300


class ChannelTriggers(BaseModel):
    """What the settings of a channel say of the feature.

    - `rules`: whether the rules of the channel work; None for as `[triggers]` has it.
    - `rule_approvers`: ids of members who may approve and change its rules, beside the admins.
    """

    rules: Literal["on", "off"] | None = None
    rule_approvers: tuple[str, ...] = ()
