"""What the local workspace and the local model server hold, as JSON, and back.

Messages, views and responses are kept as Slack and the Responses API have them, so that only these
few lines know how the local services keep them.
"""

from __future__ import annotations

import base64
from copy import deepcopy
from typing import Any

from bot.dev.model import ResponsesServer
from bot.dev.model.chains import Stored
from bot.dev.workspace import File, Workspace

Json = dict[str, Any]
_SECRETS = ("bot_token", "app_token", "signing_secret", "verification_token")


def copy_workspace(ws: Workspace) -> Json:
    """Return secrets, messages, files, sessions, views and Home tabs."""
    state, store = ws.state, ws.store
    private = [
        [channel, viewer, message]
        for channel, kept in store._ephemeral.items()
        for viewer, message in kept.values()
    ]
    return {
        "secrets": {name: getattr(state, name) for name in _SECRETS},
        "client": [ws.oauth.client_id, ws.oauth.client_secret],
        "messages": {c: found for c in ws.channels if (found := store.in_channel(c))},
        "private": private,
        "files": [_file(each) for each in state.files.values() if each.content is not None],
        "sessions": [
            [channel, thread, status.session, status.text]
            for (channel, thread), status in state.statuses.items()
        ],
        "scheduled": state.scheduled,
        "views": {user: stack for user, stack in state.open_views.items() if stack},
        "homes": state.homes,
    }


def load_workspace(ws: Workspace, copied: Json) -> None:
    """Fill a fresh workspace. What is streamed has ended: no stream outlives a stopped bot by long."""
    for name, value in copied["secrets"].items():
        setattr(ws.state, name, value)
    ws.oauth.client_id, ws.oauth.client_secret = copied["client"]
    for channel, messages in deepcopy(copied["messages"]).items():
        for message in messages:
            message.pop("streaming_state", None)
            ws.store.add(channel, message)
    for channel, viewer, message in deepcopy(copied["private"]):
        ws.store.add_ephemeral(channel, viewer, message)
    for each in copied["files"]:
        shares = [(channel, ts) for channel, ts in each["shares"]]
        content = base64.b64decode(each["content"])
        ws.state.files[each["id"]] = File(**(each | {"content": content, "shares": shares}))
    for channel, thread, session, words in copied["sessions"]:
        status = ws.state.status(channel, thread)
        status.session, status.text = session, words
    ws.state.scheduled.update(copied["scheduled"])
    ws.state.open_views.update(deepcopy(copied["views"]))
    ws.state.homes.update(deepcopy(copied["homes"]))


def copy_responses(api: ResponsesServer) -> Json:
    """Return the stored responses, oldest first, and the key that seals their reasoning."""
    responses = [
        {
            "id": node.id,
            "parent": node.parent.id if node.parent else None,
            "input": node.input,
            "response": {k: v for k, v in node.response.items() if k not in _REPEATED},
            "open": node.open,
            "kept": node.kept,
            "extra_tools": [_named(tool) for tool in node.extra_tools],
            "context_tokens": node.context_tokens,
        }
        for node in api.responses.values()
        if node.status in ("completed", "incomplete")
    ]
    return {"seal": api.seal._key.hex(), "responses": responses}


def load_responses(api: ResponsesServer, copied: Json) -> None:
    """Fill a fresh model server, which then continues the conversations."""
    api.seal._key = bytes.fromhex(copied["seal"])
    for kept in deepcopy(copied["responses"]):
        parent = api.responses[kept["parent"]] if kept["parent"] else None
        tools = tuple(kept["extra_tools"])
        api.chains.add(
            node := Stored(
                id=kept["id"],
                body={},
                input=kept["input"],
                parent=parent,
                response=kept["response"],
                extra_tools=tools,
                context_tokens=kept["context_tokens"],
                kept=kept["kept"],
            )
        )
        api.chains.finish(node, kept["response"])


_REPEATED = ("tools", "instructions", "text", "usage", "metadata", "reasoning")
"""What a response repeats of its request, and nobody reads again."""


def _named(tool: Json) -> Json:
    return {name: tool[name] for name in ("type", "name") if name in tool}


def _file(file: File) -> Json:
    assert file.content is not None
    names = ("id", "name", "size", "user", "created", "title", "channels", "shares")
    kept = {name: getattr(file, name) for name in names}
    return kept | {"content": base64.b64encode(file.content).decode()}
