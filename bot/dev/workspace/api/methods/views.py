"""views.*: modals and the Home tab."""

from bot.dev.workspace.api.arguments import JsonObject
from bot.dev.workspace.api.methods.method import method
from bot.dev.workspace.client import view_stacks
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.store.state import Json


@method("views.open", tier=4)
async def open_view(
    core: Core,
    *,
    view: JsonObject,
    trigger_id: str | None = None,
    interactivity_pointer: str | None = None,
) -> Json:
    """Open a modal for the person who just acted."""
    return {
        "view": view_stacks.open_view(
            core, _acting(core, trigger_id or interactivity_pointer), view
        )
    }


@method("views.update", tier=4)
async def update(
    core: Core,
    *,
    view: JsonObject,
    view_id: str | None = None,
    external_id: str | None = None,
    hash: str | None = None,
) -> Json:
    """Replace the content of a view."""
    user, found = view_stacks.find_view(core, view_id, external_id)
    return {"view": view_stacks.update_view(core, user, found, view, hash)}


@method("views.publish", tier=4)
async def publish(core: Core, *, user_id: str, view: JsonObject, hash: str | None = None) -> Json:
    """Set a person's Home tab."""
    if user_id not in core.people:
        raise SlackFault("user_not_found")
    return {"view": view_stacks.publish(core, user_id, view, hash)}


def _acting(core: Core, trigger: str | None) -> str:
    if trigger is None:
        raise SlackFault(
            "invalid_arguments", response_metadata={"messages": ["[ERROR] missing: trigger_id"]}
        )
    return view_stacks.take_trigger(core, trigger)
