"""App manifests: manifest.yml with the app's name, and Socket Mode or a request URL."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from bot.core.errors import ConfigurationError
from bot.slack.edge.http import EVENTS_PATH
from bot.slack.edge.install_flow import REDIRECT_PATH, SIGN_IN_PATH
from bot.slack.intake.bolt_app import UNINSTALL_EVENTS

_IN_CLONE = Path(__file__).resolve().parents[3] / "manifest.yml"
_INSTALLED = Path(sys.prefix) / "share" / "slack-answer-bot" / "manifest.yml"
MANIFEST_FILE = _IN_CLONE if _IN_CLONE.is_file() else _INSTALLED
"""The file is at the root of the checkout, where Slack's CLI expects it too; a wheel installs a
copy."""

_CREATE_APP = "https://api.slack.com/apps?new_app=1&manifest_yaml="
_MAX_NAME = 35  # characters; the manifest schema's limit for display_information.name


def manifest(
    *,
    name: str | None = None,
    socket_mode: bool = True,
    request_url: str | None = None,
    file: Path = MANIFEST_FILE,
) -> dict[str, Any]:
    """Return the manifest of an app called `name`.

    Without Socket Mode, `request_url` is the public https address that ends in /slack/events.
    Raises ConfigurationError for a wrong address or a name that is too long.
    """
    url = request_url or ""
    if not socket_mode and not (url.startswith("https://") and url.endswith(EVENTS_PATH)):
        raise ConfigurationError(
            f"{request_url or 'Nothing'} is no request URL for Slack: without Socket Mode it is the "
            f"bot's public address, https and with {EVENTS_PATH} at its end."
        )
    content = copy.deepcopy(_read(file))
    if name:
        _rename(content, name)
    settings = content["settings"]
    settings["socket_mode_enabled"] = socket_mode
    if not socket_mode:
        settings["event_subscriptions"]["request_url"] = request_url
        settings["interactivity"]["request_url"] = request_url
        for command in content["features"]["slash_commands"]:
            command["url"] = request_url
    return content


def installable_manifest(
    public_url: str, *, name: str | None = None, socket_mode: bool = False
) -> dict[str, Any]:
    """Return the manifest of an app that many workspaces install from the bot's `public_url`.

    Raises ConfigurationError unless `public_url` is an https address.
    """
    base = public_url.rstrip("/")
    if urlsplit(base).scheme != "https" or not urlsplit(base).netloc:
        raise ConfigurationError(f"Slack takes only https addresses, not {public_url!r}.")
    content = manifest(name=name, socket_mode=socket_mode, request_url=f"{base}{EVENTS_PATH}")
    content["oauth_config"]["redirect_urls"] = [f"{base}{REDIRECT_PATH}", f"{base}{SIGN_IN_PATH}"]
    content["oauth_config"]["scopes"]["user"] = ["openid"]  # Sign in with Slack
    content["settings"]["event_subscriptions"]["bot_events"] += sorted(UNINSTALL_EVENTS)
    content["settings"]["token_rotation_enabled"] = True
    return content


def as_yaml(content: dict[str, Any]) -> str:
    """Return the manifest as YAML, in the order of Slack's documentation."""
    import yaml

    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


def create_app_link(content: dict[str, Any]) -> str:
    """Return a link that opens Slack's create-app page with the manifest filled in."""
    return _CREATE_APP + quote(as_yaml(content), safe="")


def _read(file: Path) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigurationError(
            f"manifest.yml is not at {file}; run the command from a checkout of the project."
        ) from None
    return dict(content)


def _rename(content: dict[str, Any], name: str) -> None:
    if len(name) > _MAX_NAME:
        raise ConfigurationError(f"The app's name may have {_MAX_NAME} characters: {name!r}")
    content["display_information"]["name"] = name
    content["features"]["bot_user"]["display_name"] = name
