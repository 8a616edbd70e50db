"""The methods of the Web API, one file per family."""

from bot.dev.workspace.api.methods import (
    apps,
    auth,
    canvases,
    chat,
    conversations,
    files,
    functions,
    oauth,
    pins,
    reactions,
    searching,
    streams,
    threads,
    users,
    views,
)
from bot.dev.workspace.api.methods.method import Method

FAMILIES = (
    apps,
    auth,
    canvases,
    chat,
    conversations,
    files,
    functions,
    oauth,
    pins,
    reactions,
    searching,
    streams,
    threads,
    users,
    views,
)

METHODS: dict[str, Method] = {
    found.name: found
    for family in FAMILIES
    for found in vars(family).values()
    if isinstance(found, Method)
}
