"""Command line interface; `bot --help` lists the commands.

Each command imports what it needs when it runs, so that help appears at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from typing import Annotated, Any

import typer

from bot.cli import ask, backup, eval, feedback, processes, running_bot, setup
from bot.cli.output import print_lines
from bot.cli.triggers import triggers

WRONG_USAGE = 3

_usage_error: Any = typer.BadParameter.mro()[
    1
]  # the class of all wrong usage; typer does not export it
_usage_error.exit_code = WRONG_USAGE  # 2, which it has, is a partial answer

_told = typer.BadParameter.format_message


def _in_plain_words(self: typer.BadParameter) -> str:
    return _told(self).replace("Value error, ", "", 1)  # pydantic's, which typer checks values with


typer.BadParameter.format_message = _in_plain_words  # type: ignore[method-assign]

cli = typer.Typer(no_args_is_help=True, add_completion=False)


def _print_version(value: bool) -> None:
    if value:
        print_lines([f"bot {metadata.version('slack-answer-bot')}"])
        raise typer.Exit


@cli.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Run your own Slack agent."""


_PANELS: Mapping[str, Sequence[Callable[..., None]]] = {
    "Start here": (processes.dev, setup.doctor, processes.serve, ask.ask),
    "Set it up": (setup.manifest, setup.encryption_key, setup.mcp),
    "Run it in several processes": (processes.web, processes.worker),
    "Look after it": (
        running_bot.usage,
        feedback.feedback,
        running_bot.audit,
        running_bot.pause,
        running_bot.resume,
        running_bot.erase,
        backup.backup,
        backup.restore,
        eval.evaluate,
    ),
}
_NAMES = {eval.evaluate: "eval"}
for panel, commands in _PANELS.items():
    for command in commands:
        cli.command(_NAMES.get(command), rich_help_panel=panel)(command)
cli.add_typer(setup.tools, name="tools", rich_help_panel="Set it up")
cli.add_typer(setup.skills, name="skills", rich_help_panel="Set it up")
cli.add_typer(triggers, name="triggers", rich_help_panel="Look after it")
