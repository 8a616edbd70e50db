"""Configuration of one MCP server. This module does not load the protocol's SDK, which is slow."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from bot.core.secret_files import odd_character, secret_from_file
from bot.mcp.pins import ToolFacts
from bot.text.invisible_text import without_invisible
from bot.text.redaction import each_text

if TYPE_CHECKING:
    from mcp.types import Tool


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HOST = re.compile(r"[a-z0-9.-]+(?::\d{1,5})?|\[[0-9a-f:.]+\](?::\d{1,5})?")


def _from_environment(given: SecretStr) -> SecretStr:
    """Replace each `${NAME}` by that environment variable, its value in `.env` or its secret file.

    A name that has no value stays as it is: `McpServer.unset_variables` names it.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1]
        known = os.environ.get(name) or dotenv_values(".env").get(name) or secret_from_file(name)
        return known or found[0]

    text = _VARIABLE.sub(value, given.get_secret_value())
    if odd := odd_character(text):
        raise ValueError(f"holds {odd}: copy it again")
    return SecretStr(text)


def _host(given: str) -> str:
    if not _HOST.fullmatch(given.lower()):
        raise ValueError("give hosts alone, such as slack.com or 127.0.0.1:8080")
    return given.lower()


def _https(url: str) -> str:
    if urlsplit(url).scheme != "https" or not urlsplit(url).hostname:
        raise ValueError("must begin with https://")
    return url


Secret = Annotated[SecretStr, AfterValidator(_from_environment)]
Host = Annotated[str, AfterValidator(_host)]
HttpsUrl = Annotated[str, AfterValidator(_https)]


class McpOAuth(BaseModel):
    """What the bot must know about a server that it cannot find out: `[mcpServers.NAME.oauth]`.

    `client_id` and `client_secret` are for servers at which the bot cannot register itself.
    `scopes` are asked for instead of those that the server names. Its addresses may have the
    `hosts`, besides the host of `url` and that of the issuer; they may be in a private network,
    others must be public. Both endpoints are given for a server that publishes no metadata. With the
    `grant` client_credentials nobody connects: the bot itself signs in, and needs only the second.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    client_id: str | None = Field(default=None, min_length=1)
    client_secret: Secret | None = None
    scopes: tuple[str, ...] = ()
    hosts: tuple[Host, ...] = ()
    authorization_endpoint: HttpsUrl | None = None
    token_endpoint: HttpsUrl | None = None

    @model_validator(mode="after")
    def _is_complete(self) -> McpOAuth:
        if self.client_secret and not self.client_id:
            raise ValueError("client_secret needs client_id")
        if self.grant == "client_credentials":
            if not (self.client_id and self.client_secret):
                raise ValueError('grant = "client_credentials" needs client_id and client_secret')
            if self.authorization_endpoint:
                raise ValueError(
                    'grant = "client_credentials" has no authorization_endpoint: leave it out'
                )
        elif bool(self.authorization_endpoint) != bool(self.token_endpoint):
            raise ValueError("set authorization_endpoint and token_endpoint, or none of them")
        if self.token_endpoint and not self.client_id:
            raise ValueError("token_endpoint needs client_id")
        return self


class McpServer(BaseModel):
    """An entry of `mcpServers`: a `command` to start, or the `url` of a running server.

    The environment of a command is `env` and little else: HOME, PATH, certificates, proxies and the
    like. Only tools whose names match a pattern in `tools` are used (`*` matches any letters). Tools
    that match `read_only` change nothing; if it is None, the server's own claim counts. All other
    tools need a person's approval. `timeout` is in seconds. With `questions` the server may ask the asker during
    a call. That is off at first: a server that may ask can offer other tools, which would come as
    changes, and it writes what people read and fill in. "live" is for a server that can only ask
    while a call runs, over the protocol of 2025-11-25.

    With `account = "person"` each person connects an account of their own, and calls run on the
    account of the asker. With "workspace" all calls run on one account, which an admin connects or, with
    client credentials, the bot itself signs in to. Only `people`, by their ids, may use the server; None
    is for everybody.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, SecretStr] = {}
    url: str | None = None
    headers: dict[str, Secret] = {}
    account: Literal["shared", "person", "workspace"] = "shared"
    people: tuple[str, ...] | None = None
    oauth: McpOAuth = McpOAuth()
    tools: tuple[str, ...] = ("*",)
    read_only: tuple[str, ...] | None = None
    timeout: float = Field(default=30.0, gt=0, le=600)
    questions: bool | Literal["live"] = False

    @model_validator(mode="after")
    def _one_transport(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("set command or url, one of them")
        return self

    @model_validator(mode="after")
    def _account(self) -> McpServer:
        if self.account == "shared":
            if "oauth" in self.model_fields_set:
                raise ValueError('oauth needs account = "person" or "workspace"')
            return self
        key = f'account = "{self.account}"'
        if self.url is None:
            raise ValueError(f"{key} needs url")
        if any(header.lower() == "authorization" for header in self.headers):
            raise ValueError(f"{key} sends its own Authorization header: leave it out")
        at = urlsplit(self.url)
        if at.scheme != "https" and not is_loopback(at.hostname or ""):
            raise ValueError(f"{key} needs a url that begins with https://")
        if self.signs_in and self.is_personal:
            raise ValueError('grant = "client_credentials" needs account = "workspace"')
        return self

    @property
    def unset_variables(self) -> list[tuple[str, str]]:
        """The secrets, by their keys, that name an environment variable which is not set."""
        secrets = {f"headers.{name}": value for name, value in self.headers.items()}
        if self.oauth.client_secret:
            secrets["oauth.client_secret"] = self.oauth.client_secret
        return [
            (key, match[1])
            for key, value in secrets.items()
            for match in _VARIABLE.finditer(value.get_secret_value())
        ]

    @property
    def is_personal(self) -> bool:
        """Whether each person has an account of their own at this server."""
        return self.account == "person"

    @property
    def signs_in(self) -> bool:
        """Whether the bot itself signs in at this server, with its client credentials."""
        return self.oauth.grant == "client_credentials"

    @property
    def is_of_workspace(self) -> bool:
        """Whether an admin connects one account of the workspace to this server."""
        return self.account == "workspace" and not self.signs_in

    @property
    def is_connected(self) -> bool:
        """Whether people connect accounts to this server: their own, or that of the workspace."""
        return self.is_personal or self.is_of_workspace

    def is_for(self, user: str) -> bool:
        """Return whether the settings let this person use the server."""
        return self.people is None or user in self.people

    def facts(self, tool: Tool) -> ToolFacts:
        """Return the facts of a tool that are pinned."""
        claims = bool(tool.annotations and tool.annotations.read_only_hint)
        return ToolFacts(
            name=tool.name,
            description=without_invisible(tool.description or tool.title or ""),
            input_schema=each_text(tool.input_schema, without_invisible),
            destructive=bool(tool.annotations and tool.annotations.destructive_hint),
            read_only=claims if self.read_only is None else _matches(tool.name, self.read_only),
        )

    def allows(self, name: str) -> bool:
        """Return whether the operator allows this tool."""
        return _matches(name, self.tools)

    def may_have(self, server: str, allowed: str) -> bool:
        """Return whether `allowed` names all tools of this server, called `server`, or may name some."""
        return all(
            fnmatchcase(server, part) or part.startswith(f"{server}__")
            for part in allowed.split("&")
        )


def label_of(server: str) -> str:
    """Return the name of a server for people: "notion" is Notion."""
    return " ".join(server.replace("_", " ").replace("-", " ").split()).title() or server


def is_loopback(host: str) -> bool:
    """Return whether `host` is this machine, by a name or address that nobody can redirect."""
    return host in ("localhost", "127.0.0.1", "::1")


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
