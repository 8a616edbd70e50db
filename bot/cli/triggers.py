"""`bot triggers`: rules by which the bot answers by itself."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.output import print_json, print_lines
from bot.cli.start import configured_beside_dev, run

triggers = typer.Typer(invoke_without_command=True)

Id = Annotated[str, typer.Argument(help="The id of a rule, as `bot triggers` lists it.")]


@triggers.callback()
def list_rules(
    context: typer.Context,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
) -> None:
    """List the rules of channels, or pause, resume or remove one.

    With what each has done and spent today (UTC), and failures in a row.
    """
    if context.invoked_subcommand:
        return
    lines = run(_listed(as_json=as_json))
    if as_json:
        print_json("\n".join(lines))
    else:
        print_lines(lines)


@triggers.command("pause")
def pause_rule(rule_id: Id) -> None:
    """Pause a rule."""
    from bot.features.triggers.operators import PAUSE

    print_lines([run(_changed(rule_id, PAUSE))])


@triggers.command("resume")
def resume_rule(rule_id: Id) -> None:
    """Let a paused rule go on."""
    from bot.features.triggers.operators import RESUME

    print_lines([run(_changed(rule_id, RESUME))])


@triggers.command("remove")
def remove_rule(rule_id: Id) -> None:
    """Remove a rule. Its answers stay."""
    from bot.features.triggers.operators import REMOVE

    print_lines([run(_changed(rule_id, REMOVE))])


async def _listed(*, as_json: bool) -> list[str]:
    from bot.cli.operator import open_stored
    from bot.features.triggers.operators import rule_lines
    from bot.features.triggers.store import RuleStore

    async with open_stored(configured_beside_dev()) as stores:
        return await rule_lines(RuleStore(stores), as_json=as_json)


async def _changed(rule_id: str, what: str) -> str:
    from bot.cli.operator import open_stored
    from bot.features.triggers.operators import change_rule

    async with open_stored(configured_beside_dev()) as stores:
        return await change_rule(stores, rule_id, what)
