"""Command line interface; `bot --help` lists the commands.

Each command imports what it needs when it runs, so that help appears at once.
"""

from __future__ import annotations

from importlib import metadata
from typing import Annotated, Any

import typer

from bot.cli import ask, backup, eval, feedback, processes, running_bot, setup
from bot.cli.output import print_lines

WRONG_USAGE = 3

_usage_error: Any = typer.BadParameter.mro()[
    1
]  # the class of all wrong usage; typer does not export it
_usage_error.exit_code = WRONG_USAGE  # 2, which it has, is a partial answer

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


for each in (
    processes.dev,
    processes.serve,
    processes.web,
    processes.worker,
    ask.ask,
    setup.doctor,
    setup.manifest,
    setup.encryption_key,
    setup.mcp,
    running_bot.usage,
    feedback.feedback,
    running_bot.pause,
    running_bot.resume,
    running_bot.erase,
    running_bot.audit,
    backup.backup,
    backup.restore,
):
    cli.command()(each)
cli.add_typer(setup.tools, name="tools")
cli.add_typer(setup.skills, name="skills")
cli.command("eval")(eval.evaluate)
