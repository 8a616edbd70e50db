"""The manifest and the code say the same: what is subscribed is listened to, and the reverse."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from slack_bolt.async_app import AsyncApp
from slack_bolt.listener.async_listener import AsyncListener
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.core.errors import ConfigurationError
from bot.dev.workspace.store.state import BOT_SCOPES
from bot.slack.intake.manifest import (
    MANIFEST_FILE,
    as_yaml,
    create_app_link,
    installable_manifest,
    manifest,
)
from tests.unit.slack.rig import wired


def listened_to(app: AsyncApp) -> list[AsyncListener]:
    return app._async_listeners


async def matches(app: AsyncApp, listener: AsyncListener, body: dict[str, Any]) -> bool:
    request = AsyncBoltRequest(body=body, mode="socket_mode")
    app._init_context(request)
    return await listener.async_matches(req=request, resp=BoltResponse(status=200))


async def reaches_a_listener(app: AsyncApp, body: dict[str, Any]) -> bool:
    return any([await matches(app, listener, body) for listener in listened_to(app)])


def payloads(content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(what the manifest promises, a payload of it)."""
    for event in content["settings"]["event_subscriptions"]["bot_events"]:
        kind = event.partition(".")[0]
        yield event, {"type": "event_callback", "event": {"type": kind}}
    for function in content["functions"]:
        event = {
            "type": "function_executed",
            "function": {"callback_id": function},
            "function_execution_id": "Fx1",
        }
        yield function, {"type": "event_callback", "event": event}
    for shortcut in content["features"]["shortcuts"]:
        kind = "message_action" if shortcut["type"] == "message" else "shortcut"
        yield shortcut["name"], {"type": kind, "callback_id": shortcut["callback_id"]}
    for command in content["features"]["slash_commands"]:
        yield command["command"], {"command": command["command"]}


@pytest.fixture
async def app(ws):
    async with wired(ws) as rig:
        yield rig.app


async def test_everything_in_the_manifest_is_listened_to(app):
    for name, payload in payloads(manifest()):
        assert await reaches_a_listener(app.bolt, payload), name


def test_names_of_shortcuts_fit():
    """Slack's limit for them is 24 characters (manifest reference)."""
    shortcuts = manifest()["features"]["shortcuts"]
    assert all(len(each["name"]) <= 24 for each in shortcuts)
    assert len(shortcuts) <= 10


async def test_everything_listened_to_is_in_the_manifest(app):
    """Each listener matches one of the manifest's payloads, or belongs to a modal or a button.

    Apps that were made from an older manifest still send what Slack's own Stop button does.
    """
    ours = [payload for _, payload in payloads(manifest())]
    ours += [{"type": "event_callback", "event": {"type": "agent_session_stopped"}}]
    ours += [
        {"type": "event_callback", "event": {"type": "message", "subtype": subtype}}
        for subtype in ("message_changed", "message_deleted")
    ]
    pressed = [id_ for kind, id_ in app._claimed if kind == "button" and isinstance(id_, str)]
    ours += [
        {"type": "block_actions", "actions": [{"action_id": action, "type": "button"}]}
        for action in (
            *pressed,
            "follow_up_0",
            "raise_budget_half",
            "evidence_page_next",
            "instructions_instead:1",
        )
    ]
    ours += [
        {"type": "view_submission", "view": {"type": "modal", "callback_id": callback}}
        for kind, callback in app._claimed
        if kind == "modal"
    ]
    for listener in listened_to(app.bolt):
        matched = [await matches(app.bolt, listener, body) for body in ours]
        assert any(matched), listener.ack_function


def test_the_stand_in_grants_what_the_manifest_asks_for_and_nothing_else():
    """So that a call whose scope is missing in the manifest fails in every test that makes it."""
    assert set(manifest()["oauth_config"]["scopes"]["bot"]) == BOT_SCOPES


async def test_slacks_command_line_gets_the_manifest_from_its_hook():
    """`slack run` asks the program that .slack/hooks.json names, once config.json says that the
    manifest is kept here."""
    folder = MANIFEST_FILE.parent / ".slack"
    config = json.loads((folder / "config.json").read_text())
    assert config["manifest"]["source"] == "local"
    python, *rest = json.loads((folder / "hooks.json").read_text())["hooks"]["get-manifest"].split()
    assert python == "python3"
    made = await asyncio.create_subprocess_exec(sys.executable, *rest, stdout=PIPE)
    said, _ = await made.communicate()
    assert json.loads(said) == manifest()


def test_over_http_it_says_where_to_send_things():
    url = "https://bot.example/slack/events"
    content = manifest(name="Oracle", socket_mode=False, request_url=url)
    assert content["display_information"]["name"] == "Oracle"
    assert content["settings"]["event_subscriptions"]["request_url"] == url
    assert content["settings"]["interactivity"]["request_url"] == url
    assert content["features"]["slash_commands"][0]["url"] == url
    assert content["settings"]["socket_mode_enabled"] is False


def test_without_a_request_url_or_with_too_long_a_name_it_says_what_is_wrong():
    with pytest.raises(ConfigurationError, match="request URL"):
        manifest(socket_mode=False)
    with pytest.raises(ConfigurationError, match="no request URL"):
        manifest(socket_mode=False, request_url="http://bot.example/slack/events")
    with pytest.raises(ConfigurationError, match="35 characters"):
        manifest(name="x" * 36)


def test_the_link_carries_the_whole_manifest():
    content = manifest()
    query = parse_qs(urlsplit(create_app_link(content)).query)
    assert yaml.safe_load(query["manifest_yaml"][0]) == content
    assert yaml.safe_load(as_yaml(content)) == content


def test_an_app_for_many_workspaces_comes_back_to_the_bot():
    """Where Slack sends browsers and events, and that tokens rotate, is filled in."""
    content = installable_manifest("https://bot.example.com/")
    assert content["oauth_config"]["redirect_urls"] == [
        "https://bot.example.com/slack/oauth_redirect",
        "https://bot.example.com/accounts/proof",
    ]
    assert content["oauth_config"]["scopes"]["user"] == ["openid"]
    settings = content["settings"]
    events = settings["event_subscriptions"]
    assert events["request_url"] == "https://bot.example.com/slack/events"
    assert {"app_uninstalled", "tokens_revoked"} <= set(events["bot_events"])
    assert (settings["token_rotation_enabled"], settings["socket_mode_enabled"]) == (True, False)
    filled_in = parse_qs(urlsplit(create_app_link(content)).query)["manifest_yaml"][0]
    assert yaml.safe_load(filled_in) == content
    with pytest.raises(ConfigurationError, match="https"):
        installable_manifest("http://bot.example.com")
