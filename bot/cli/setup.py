"""Commands for setting up: checks, manifest, tools and MCP servers."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.output import print_json, print_lines
from bot.cli.start import configured, configured_beside_dev, quiet_connections, run

if TYPE_CHECKING:
    from bot.app.tool_states import ToolStates


class Form(StrEnum):
    """The output format of `bot manifest`."""

    YAML = "yaml"
    JSON = "json"
    LINK = "link"


def doctor(
    running: Annotated[
        bool,
        typer.Option(help="Look at the running bot instead: workers, queues, runs, Redis."),
    ] = False,
) -> None:
    """Check the set-up, and say how to fix each problem.

    Tries tokens, Redis, the model, databases and servers, and changes nothing.

    Exit code: 0 the bot can work, 1 it cannot.
    """
    from bot.ops.doctor import Level, examine, examine_deployment, print_report

    settings = configured_beside_dev() if running else configured(may_lack_variables=True)
    quiet_connections()
    checks = run(examine_deployment(settings) if running else examine(settings))
    print_report(checks)
    raise typer.Exit(any(check.level is Level.PROBLEM for check in checks))


def manifest(
    form: Annotated[Form, typer.Option(help="Output format.")] = Form.YAML,
    name: Annotated[str | None, typer.Option(help="The app's name.")] = None,
    request_url: Annotated[
        str | None,
        typer.Option(help="Public address for events over HTTP; without it, Socket Mode."),
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(help="The bot's public address, for an app that many workspaces install."),
    ] = None,
) -> None:
    """Print the manifest of the Slack app, or a link to create it."""
    from bot.slack.intake import manifest as manifests

    if public_url and request_url:
        raise typer.BadParameter(
            "give --public-url or --request-url: the first includes the second"
        )
    if public_url:
        content = manifests.installable_manifest(public_url, name=name)
    else:
        content = manifests.manifest(
            name=name, socket_mode=request_url is None, request_url=request_url
        )
    match form:
        case Form.YAML:
            print_lines(manifests.as_yaml(content).split("\n"))
        case Form.JSON:
            print_json(json.dumps(content, indent=2, ensure_ascii=False))
        case Form.LINK:
            print_lines([manifests.create_app_link(content)])


def encryption_key() -> None:
    """Print a new key for BOT_ENCRYPTION_KEYS."""
    from cryptography.fernet import Fernet

    print_lines([Fernet.generate_key().decode()])


tools = typer.Typer(invoke_without_command=True)


@tools.callback()
def list_tools(context: typer.Context) -> None:
    """List the tools, or write a new one.

    Says which are off and why, and how large their definitions are.
    """
    if context.invoked_subcommand:
        return
    from bot.app.tool_states import tool_states

    settings = configured()
    quiet_connections()
    print_lines(_tool_lines(run(tool_states(settings))))


@tools.command("new")
def new_tool(
    name: Annotated[str, typer.Argument(help="A word for what it works with, such as crm.")],
) -> None:
    """Write a file with a tool and its test. Both work as they are."""
    from bot.cli.new_tool import new_tool_lines

    print_lines(new_tool_lines(name, configured().tools.paths))


skills = typer.Typer(invoke_without_command=True)


@skills.callback()
def list_skills(context: typer.Context) -> None:
    """List the skills, or check them.

    Exit 1 if one is not loaded.
    """
    if not context.invoked_subcommand:
        _print_skills()


@skills.command("check")
def check_skills(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="A skill, or a folder of skills; those of bot.toml if left out.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
) -> None:
    """Say what is wrong with skills, by the open standard too. Exit 1 if one cannot be loaded."""
    _print_skills(folder, check=True)


def _print_skills(folder: Path | None = None, *, check: bool = False) -> None:
    from bot.app.features import lines_about_skills

    lines = lines_about_skills(configured(), folder=folder, check=check)
    print_lines(lines)
    if any(line.startswith("!") for line in lines):
        raise typer.Exit(1)


def mcp(
    accept: Annotated[
        str | None,
        typer.Option(help="Accept the current tools of this server; read them here first."),
    ] = None,
) -> None:
    """List the MCP servers, and accept changes of their tools.

    Exit 1 if a server cannot be reached, or if not everything was accepted.
    """
    from bot.cli.operator import mcp_lines

    settings = configured_beside_dev()
    quiet_connections()
    lines = run(mcp_lines(settings, accept=accept))
    print_lines(lines)
    if any(line.startswith("!") for line in lines):
        raise typer.Exit(1)


def _tool_lines(states: ToolStates) -> list[str]:
    from bot.app.tool_states import names_by

    catalogue = states.catalogue
    sizes = {tool.name: len(json.dumps(tool.definition())) for tool in catalogue.tools}
    wide = max(map(len, sizes))
    lines = [f"{'name':<{wide}} {'group':<12} {'kind':<9} {'bytes':>6}  summary"]
    for tool in catalogue.tools:
        kind = "core" if tool.core else "on demand"
        kind = "off" if tool.name in states.off else kind
        kind = "broken" if tool.name in states.broken else kind
        change = "; makes changes, without approval" if tool.mutates else ""
        change = "; makes changes, after approval" if tool.sensitive else change
        lines.append(
            f"{tool.name:<{wide}} {tool.group:<12} {kind:<9} {sizes[tool.name]:>6}  "
            f"{tool.summary}{change}"
        )
    first = sum(len(json.dumps(definition)) for definition in catalogue.always)
    total = sum(sizes.values())
    lines += [
        "",
        *(f"Off: {names}: {reason}." for names, reason in names_by(states.off)),
        *(f"Broken: {names}: {reason}." for names, reason in names_by(states.broken)),
        *(f"From {origin}: {names}." for names, origin in names_by(states.origins)),
        f"A first request sends {first:,} of {total:,} bytes of definitions. "
        "Tools of MCP servers: `bot mcp`.",
    ]
    return lines
