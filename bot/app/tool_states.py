"""States of tools, for operators: offered, switched off, or broken because a client is not open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from bot.app.features import own_features, tools_off
from bot.app.tool_loading import load_tools, tool_catalogue
from bot.app.tool_providers import bound_providers
from bot.settings import Settings
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.tool_clients import open_tool_clients


@dataclass(frozen=True, slots=True)
class ToolStates:
    """All tools with what a worker would do with them in Slack.

    `off` and `broken` say why those tools are not offered, by name. `origins` says where tools are
    from that do not come with the bot; `names_by` groups all three. `problems` are a line for each
    provider that could not open or close its client, after the group of its settings.
    """

    catalogue: Catalogue
    off: Mapping[str, str]
    broken: Mapping[str, str]
    problems: Sequence[tuple[str, str]]
    origins: Mapping[str, str]


async def tool_states(settings: Settings) -> ToolStates:
    """Load all tools, open the client of each provider as a worker does, and close it again.

    Raises ToolDefinitionError and ConfigurationError with one line.
    """
    catalogue, bound = tool_catalogue(settings), bound_providers(settings)
    async with open_tool_clients(bound) as clients:
        await clients.settle()
        opened = {*clients.open}
    providers = {each.provider.provides: each.provider for each in bound}
    lines = {
        kind: f"provider {providers[kind].name} ({providers[kind].place}) {problem}"
        for kind, problem in clients.problems.items()
    }
    broken = {kind: line for kind, line in lines.items() if kind not in opened}
    return ToolStates(
        catalogue,
        tools_off(settings, own_features(settings)),
        catalogue.needing(broken),
        [(providers[kind].group, line) for kind, line in lines.items()],
        load_tools(settings.tools.paths).origins,
    )


def names_by(facts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each fact, such as the reason why tools are off, after the names that share it."""
    ordered = sorted(facts, key=lambda name: (facts[name], name))
    return [(", ".join(names), fact) for fact, names in groupby(ordered, key=facts.__getitem__)]
