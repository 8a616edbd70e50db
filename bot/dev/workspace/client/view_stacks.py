"""Modals and Home tabs: creating, stacking, updating and closing them."""

import secrets

from bot.dev.workspace.blocks import check_view
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import CannotDo, SlackFault
from bot.dev.workspace.messaging.posting import new_block_id
from bot.dev.workspace.store.state import Json

STACK_MAX = 3
KEPT = (
    "id",
    "root_view_id",
    "previous_view_id",
    "team_id",
    "app_id",
    "bot_id",
    "app_installed_team_id",
)


def take_trigger(core: Core, trigger_id: str) -> str:
    """Return the person whose action the trigger belongs to, and use it up.

    Raises SlackFault invalid_trigger_id, exchanged_trigger_id, expired_trigger_id.
    """
    trigger = core.state.triggers.get(trigger_id)
    if trigger is None:
        raise SlackFault("invalid_trigger_id")
    if trigger.used:
        raise SlackFault("exchanged_trigger_id")
    if core.clock.now() > trigger.created + core.trigger_lifetime:
        raise SlackFault("expired_trigger_id")
    trigger.used = True
    return trigger.user


def stack_of(core: Core, user: str) -> list[Json]:
    """Return the person's open modals themselves, the top one last."""
    return core.state.open_views.setdefault(user, [])


def find_view(core: Core, view_id: str | None, external_id: str | None = None) -> tuple[str, Json]:
    """Return (user, view) of an open modal or Home tab. Raises SlackFault not_found."""
    for user, stack in core.state.open_views.items():
        for view in stack:
            if _is(view, view_id, external_id):
                return user, view
    for user, view in core.state.homes.items():
        if _is(view, view_id, external_id):
            return user, view
    raise SlackFault("not_found")


def open_view(core: Core, user: str, given: Json) -> Json:
    """Open a modal in place of the person's open ones."""
    check_view(given, "modal")
    _check_name(core, given)
    view = _new(core, given)
    core.state.open_views[user] = [view]
    core.changed("view_opened", user=user, data=view)
    return view


def push_view(core: Core, user: str, given: Json) -> Json:
    """Put a modal on top. Raises SlackFault push_limit_reached."""
    check_view(given, "modal")
    _check_name(core, given)
    stack = stack_of(core, user)
    if not stack:
        raise SlackFault("not_found")
    if len(stack) >= STACK_MAX:
        raise SlackFault("push_limit_reached")
    view = _new(core, given)
    view |= {"root_view_id": stack[0]["id"], "previous_view_id": stack[-1]["id"]}
    stack.append(view)
    core.changed("view_opened", user=user, data=view)
    return view


def update_view(core: Core, user: str, view: Json, given: Json, hash_: str | None = None) -> Json:
    """Replace a view's content. Raises SlackFault hash_conflict."""
    check_view(given, view["type"])
    _check_name(core, given, view)
    if hash_ is not None and hash_ != view["hash"]:
        raise SlackFault("hash_conflict")
    kept = {key: view[key] for key in KEPT}
    typed = view["state"]["values"]
    view.clear()
    view |= _new(core, given) | kept
    left = {block["block_id"] for block in view["blocks"]}
    view["state"] = {"values": {where: each for where, each in typed.items() if where in left}}
    core.changed("view_updated", user=user, data=view)
    return view


def publish(core: Core, user: str, given: Json, hash_: str | None = None) -> Json:
    """Set the person's Home tab. Raises SlackFault hash_conflict."""
    check_view(given, "home")
    old = core.state.homes.get(user)
    if hash_ is not None and old is not None and hash_ != old["hash"]:
        raise SlackFault("hash_conflict")
    view = _new(core, given)
    if old is not None:
        view |= {key: old[key] for key in KEPT}
    core.state.homes[user] = view
    core.changed("home", user=user, data=view)
    return view


def close_top(core: Core, user: str, *, everything: bool = False) -> list[Json]:
    """Close the modal on top, or all of them, and return the closed ones."""
    stack = stack_of(core, user)
    closed = stack[:] if everything else stack[-1:]
    del stack[len(stack) - len(closed) :]
    for view in closed:
        core.changed("view_closed", user=user, data=view)
    return closed


def top_view(core: Core, user: str, view_id: str) -> Json:
    """Return the modal that the person sees. Raises CannotDo when it is another one."""
    stack = stack_of(core, user)
    if not stack or stack[-1]["id"] != view_id:
        raise CannotDo(f"the view {view_id} is not on top of {user}'s screen")
    return stack[-1]


def _check_name(core: Core, given: Json, view: Json | None = None) -> None:
    """Raise SlackFault duplicate_external_id where another view than `view` has the same name."""
    name = given.get("external_id")
    every = [*core.state.homes.values(), *(v for s in core.state.open_views.values() for v in s)]
    if name and any(other.get("external_id") == name and other is not view for other in every):
        raise SlackFault("duplicate_external_id")


def _is(view: Json, view_id: str | None, external_id: str | None) -> bool:
    if view_id is not None:
        return bool(view["id"] == view_id)
    return external_id is not None and view.get("external_id") == external_id


def _new(core: Core, given: Json) -> Json:
    state = core.state
    view_id = f"V{secrets.token_hex(5).upper()}"
    return {
        "private_metadata": "",
        "callback_id": "",
        "external_id": "",
        "title": {"type": "plain_text", "text": "View Title", "emoji": True},
        "close": None,
        "submit": None,
        "clear_on_close": False,
        "notify_on_close": False,
        **given,
        "blocks": [{"block_id": new_block_id(), **block} for block in given["blocks"]],
        "id": view_id,
        "team_id": state.team_id,
        "app_id": state.app_id,
        "app_installed_team_id": state.team_id,
        "bot_id": state.bot_id,
        "state": {"values": {}},
        "hash": f"{core.store.next_ts()}.{secrets.token_hex(4)}",
        "root_view_id": view_id,
        "previous_view_id": None,
    }
