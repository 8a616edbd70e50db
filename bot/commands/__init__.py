"""The commands; `bot --help` lists them. Each imports what it needs when it runs, so that help is
there at once."""

from __future__ import annotations

import typer

from bot.commands import asking, evaluating, operations, processes, setup

cli = typer.Typer(
    no_args_is_help=True, add_completion=False, help="A Slack agent you run yourself."
)

for each in (
    processes.dev,
    processes.serve,
    processes.web,
    processes.worker,
    asking.ask,
    setup.doctor,
    setup.manifest,
    setup.encryption_key,
    setup.tools,
    setup.mcp,
    operations.usage,
    operations.feedback,
    operations.pause,
    operations.resume,
    operations.erase,
    operations.audit,
):
    cli.command()(each)
cli.command("eval")(evaluating.evaluate)
