"""The feature: a setting, a hook of runs, a button under answers, a line of the doctor, a metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from prometheus_client import Counter
from pydantic import BaseModel, ConfigDict

from bot.features.door import (
    AnswerButton,
    Block,
    Check,
    Feature,
    Go,
    Hooks,
    LoopState,
    OperatorPart,
    Press,
    Run,
    RunPart,
    SlackApp,
    SlackPart,
    Stores,
    Text,
    Verdict,
    ok,
    warning,
)

SHOW = "house_style_show"
"""The id of the button. It is in messages that are posted: never change it."""

SENT_BACK = Counter("house_style_sent_back", "Answers sent back for their words.", registry=None)


class HouseStyleSettings(BaseModel):
    """`[features.house_style]` in bot.toml: what to write instead of each word."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: dict[str, str] = {}


def house_style(settings: HouseStyleSettings) -> Feature:
    """Return the feature with these settings."""
    return Feature(
        "house_style",
        run_part=partial(StyleOfRun, settings),
        slack_part=partial(StyleInSlack, settings),
        buttons=(SHOW_REASONS,),
        operator_part=StyleForOperators(settings),
    )


SHOW_REASONS = AnswerButton(
    Text("House style"),
    SHOW,
    lambda outcome, _: outcome.run_id,
    hint=Text("Which words it does without"),
)


class StyleOfRun(RunPart):
    """What the feature adds to one run: what the model is told, and a hook."""

    def __init__(self, settings: HouseStyleSettings, run: Run) -> None:
        self.instructions = _changes(settings.words, settings.words)
        self.hook = StyleHook(settings.words)


class StyleHook(Hooks):
    """Sends a result back once if it has words that the house does not use."""

    name = "house_style"
    inherited = False  # the reports of sub-agents are read by the model alone

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words

    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        text = result.model_dump_json().casefold()
        unwanted = [word for word in self._words if word.casefold() in text]
        if not unwanted or self.name in state.hooks:
            return Go()
        SENT_BACK.inc()
        changes = _changes(self._words, unwanted)
        return Block(f"{changes} Call complete_task again.", memory={"sent_back": 1})


def _changes(words: Mapping[str, str], unwanted: Iterable[str]) -> str:
    """Return what the model is told about these words, "" for none."""
    changes = "; ".join(f"{words[word]!r} instead of {word!r}" for word in unwanted)
    return f"Write {changes}." if changes else ""


class StyleInSlack(SlackPart):
    """What the feature adds to one workspace: what its button does."""

    def __init__(self, settings: HouseStyleSettings, app: SlackApp) -> None:
        self._words = settings.words

    def register(self, app: SlackApp) -> None:
        app.button(SHOW)(self._show)

    async def _show(self, press: Press) -> str:
        """Return what the person who pressed sees, and nobody else."""
        return "\n".join(f"• {better}, not _{word}_" for word, better in self._words.items())


class StyleForOperators(OperatorPart):
    """What the feature adds for operators: a line of `bot doctor`, and a metric."""

    metrics = (SENT_BACK,)

    def __init__(self, settings: HouseStyleSettings) -> None:
        self._words = settings.words

    async def checks(self, stores: Stores | None) -> Sequence[Check]:
        if self._words:
            return [ok("house style", f"{len(self._words)} words are replaced")]
        fix = "set words under [features.house_style] in bot.toml"
        return [warning("house style", "no words are replaced", fix)]
