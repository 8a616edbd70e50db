"""Settings: secrets and addresses from the environment and `.env`, everything else from `bot.toml`.

A wrong setting is reported in one line that names its key, before anything starts.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from dotenv import dotenv_values
from dotenv.parser import parse_stream
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)
from typing_extensions import override

from bot.agent.limits import Limits
from bot.core import failpoints
from bot.core.errors import ConfigurationError
from bot.core.secret_files import odd_character, secret_folder, secret_from_file
from bot.features.clips.settings import ClipSettings
from bot.features.commands.settings import HookSettings
from bot.features.evidence.settings import ChannelEvidence, EvidenceSettings
from bot.features.programs.settings import ProgramSettings
from bot.features.reactions.settings import ChannelReactions, Instructions
from bot.features.skills.settings import ChannelSkills, SkillSettings
from bot.features.triggers.settings import ChannelTriggers, TriggerSettings
from bot.mcp import McpServer
from bot.model import Effort, ModelChoice, ModelChoices, Price, PriceList
from bot.runs.policy.access import Policy
from bot.runs.policy.budgets import Budgets
from bot.runs.policy.channels import ChannelSettings, Profile, TeamProfiles
from bot.runs.queue.engine import EngineOptions
from bot.runs.settings import DirectSettings
from bot.services.sql_databases import DatabaseConfig
from bot.settings.errors import (
    setting_error,
    unreadable,
    unset_variables,
    wrong_choices,
    wrong_names,
)
from bot.slack.settings import CatchUpSettings
from bot.store import Retention
from bot.store.pools import CLUSTER, SCHEMES
from bot.toolkit.hosted import HostedTools
from bot.web.web_search import WebSearchConfig

NO_MODEL = (
    "set it, or OPENAI_BASE_URL for another server that speaks the Responses API (docs/models.md); "
    "`bot dev` works without one, as a demo"
)

SLACK = "https://slack.com/api/"
_ENCODING = "utf-8-sig"  # of .env: some editors write a byte order mark
LOOPBACK = ("127.0.0.1", "::1")


def _env_file_values() -> dict[str, str | None]:
    return dotenv_values(".env", encoding=_ENCODING)


class ModelSettings(BaseModel):
    """How the model is called: `[model]` in bot.toml.

    `window` (tokens) and `price` (dollars per million tokens) apply to models that the price table
    lacks. Set `stateless` for services that store no responses, and `images = false` for models
    without vision. With `evaluation`, another model call judges each result: `basic` marks an
    incomplete one as partial, `full` sends it back up to twice. `choices` are models that admins may
    choose for a channel and people for themselves; `deeper` names the one for *Look deeper*.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reasoning: Effort | None = None
    reasoning_summaries: bool = False
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_output_tokens: int | None = Field(default=None, ge=256)
    window: int = Field(default=128_000, ge=4_000)
    price: Price | None = None
    stateless: bool = False
    images: bool = True
    evaluation: Literal["off", "basic", "full"] = "off"
    choices: tuple[ModelChoice, ...] = Field(default=(), max_length=9)
    deeper: str = ""

    @field_validator("choices")
    @classmethod
    def _have_names(cls, choices: tuple[ModelChoice, ...]) -> tuple[ModelChoice, ...]:
        """Refuse two choices of one name, and two prices of one model."""
        if len({each.name for each in choices}) < len(choices):
            raise PydanticCustomError("choices", "each choice must have a name of its own")
        prices = {(each.model, each.price) for each in choices if each.price}
        if len({model for model, _ in prices}) < len(prices):
            raise PydanticCustomError("choices", "a model has one price: give it once, or the same")
        return choices

    @property
    def reasoning_parameter(self) -> dict[str, str] | None:
        """The `reasoning` parameter of the Responses API; None leaves it to the service."""
        effort = {"effort": self.reasoning} if self.reasoning else {}
        summary = {"summary": "auto"} if self.reasoning_summaries else {}
        return (effort | summary) or None


class ToolSettings(BaseModel):
    """Your own tools: `[tools]` in bot.toml.

    `paths` are folders with files of tools. A table `[tools.<group>]` holds the settings of the
    providers of that group, which check them (`bot.app.tool_providers`).
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, dict[str, Any]]

    paths: tuple[Path, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _only_tables(cls, values: Any) -> Any:
        """Refuse a key besides `paths` that is no table: it is misspelt."""
        for key, value in values.items() if isinstance(values, dict) else ():
            if key not in cls.model_fields and not isinstance(value, dict):
                raise PydanticCustomError(
                    "no_such_key",
                    "there is no key {key}, only paths and tables [tools.<group>]",
                    {"key": key},
                )
        return values

    @property
    def groups(self) -> dict[str, dict[str, Any]]:
        """The tables of the groups, by name."""
        return self.__pydantic_extra__ or {}


class ChannelTable(
    ChannelSettings, ChannelEvidence, ChannelReactions, ChannelSkills, ChannelTriggers
):
    """The settings of a channel, with those of our own rooms."""


class ProfileTable(Profile, ChannelSkills):
    """A profile, with the fields of our own rooms that permit nothing."""


class StoredProfiles(TeamProfiles):
    """What the admins of a workspace have set of profiles, as it is stored."""

    profiles: Mapping[str, ProfileTable] = {}


class Tables(BaseModel):
    """The tables of bot.toml."""

    model: ModelSettings = ModelSettings()
    limits: Limits = Limits()
    budgets: Budgets = Budgets()
    access: Policy = Policy()
    channels: dict[str, ChannelTable] = {}
    profiles: dict[str, ProfileTable] = {}
    direct: DirectSettings = DirectSettings()
    clips: ClipSettings = ClipSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    programs: ProgramSettings = ProgramSettings()
    reactions: Instructions = {}
    skills: SkillSettings = SkillSettings()
    triggers: TriggerSettings = TriggerSettings()
    retention: Retention = Retention()
    catch_up: CatchUpSettings = CatchUpSettings()
    engine: EngineOptions = EngineOptions()
    databases: dict[str, DatabaseConfig] = {}
    hosted: HostedTools = HostedTools()
    web_search: WebSearchConfig | None = None
    hooks: HookSettings = HookSettings()
    tools: ToolSettings = ToolSettings()
    features: dict[str, dict[str, Any]] = {}
    mcp_servers: dict[str, McpServer] = Field(default={}, alias="mcpServers")


class Settings(BaseSettings, Tables):
    """All settings. An environment variable has the upper-case name of its field; empty means unset."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding=_ENCODING,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
    )

    slack_bot_token: SecretStr | None = None
    slack_app_token: SecretStr | None = None
    slack_signing_secret: SecretStr | None = None
    slack_client_id: str | None = None
    slack_client_secret: SecretStr | None = None
    bot_encryption_keys: SecretStr | None = None
    slack_api_url: str = SLACK
    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    openai_model: str = "gpt-6.1-sol"
    web_search_api_key: SecretStr | None = None
    openai_fallback_models: tuple[str, ...] = ()
    redis_url: str | None = None
    port: int | None = Field(default=None, ge=0, le=65535)
    bot_public_url: str | None = None
    bot_metrics_port: int | None = Field(default=None, ge=0, le=65535)
    bot_data_dir: Path = Path(".data")
    bot_log_format: Literal["text", "json"] = "text"
    bot_log_words: bool = False
    bot_log_file: Path | None = None
    otel_exporter_otlp_endpoint: str | None = None
    bot_failpoints: Path | None = None
    _env_file: dict[str, str | None] = PrivateAttr(default_factory=_env_file_values)

    @field_validator("redis_url")
    @classmethod
    def _is_redis(cls, url: str | None) -> str | None:
        if url is None:
            return url
        if url.startswith(SCHEMES):
            if _is_encoded(url):
                return url
            raise PydanticCustomError(
                "redis_url", "holds a character that must be written as %23 (#), %2F (/) or %3A (:)"
            )
        if "+cluster://" in url:
            raise PydanticCustomError("redis_url", CLUSTER)
        raise PydanticCustomError(
            "redis_url", "must begin with redis://, rediss://, unix:// or redis+sentinel://"
        )

    @field_validator("openai_base_url", "slack_api_url", "otel_exporter_otlp_endpoint")
    @classmethod
    def _is_http(cls, url: str | None) -> str | None:
        if url is None or url.startswith(("http://", "https://")):
            return url
        raise PydanticCustomError("http_url", "must begin with http:// or https://")

    @field_validator("bot_public_url")
    @classmethod
    def _is_public(cls, url: str | None) -> str | None:
        """Return the address without a slash at its end; browsers must be able to trust it."""
        at = urlsplit(url or "https://host")
        if at.query or at.fragment or at.username or not at.hostname:
            raise PydanticCustomError(
                "public_url", "must be an address such as https://bot.example.com"
            )
        if at.scheme == "https" or (at.scheme == "http" and at.hostname in LOOPBACK and at.port):
            return url.rstrip("/") if url else None
        raise PydanticCustomError(
            "public_url",
            "must begin with https://, or be http://127.0.0.1:PORT while you try the bot on your machine",
        )

    @field_validator(
        "slack_bot_token",
        "slack_app_token",
        "slack_signing_secret",
        "slack_client_secret",
        "bot_encryption_keys",
        "openai_api_key",
        "web_search_api_key",
    )
    @classmethod
    def _can_be_sent(cls, given: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        """Refuse a secret that was not copied whole, which libraries answer with tracebacks."""
        text = given.get_secret_value() if given else ""
        odd = odd_character(text)
        if not odd and " " in text and info.field_name != "bot_encryption_keys":
            odd = "a blank"
        if text[:1] in ("'", '"'):
            odd = "quotation marks"
        if odd:
            raise PydanticCustomError("secret", "holds {odd}: copy it again", {"odd": odd})
        return given

    @field_validator("slack_bot_token", "slack_app_token")
    @classmethod
    def _has_right_kind(cls, token: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        """Refuse a token in the wrong setting, which Slack's own error would not explain."""
        other = "xapp-" if info.field_name == "slack_bot_token" else "xoxb-"
        if token is None or not token.get_secret_value().startswith(other):
            return token
        raise PydanticCustomError(
            "token", "is the other token: it begins with {other}", {"other": other}
        )

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read bot.toml last and files of secrets before it; ignore tables in the environment.

        Another program's MODEL there must not be read as our `[model]`.
        """
        tables = {name.lower() for name in _table_names()}
        for source in (env_settings, dotenv_settings):
            assert isinstance(source, EnvSettingsSource)  # noqa: S101 - true by contract
            own = {key: value for key, value in source.env_vars.items() if key not in tables}
            source.env_vars = own
        path = Path(os.environ.get("BOT_CONFIG", "bot.toml"))
        toml = TomlConfigSettingsSource(settings_cls, toml_file=path)
        secrets = SecretsSettingsSource(settings_cls, secrets_dir=secret_folder())
        return (init_settings, env_settings, dotenv_settings, secrets, toml)

    def variable(self, name: str) -> str:
        """Return a secret of own tools, from where settings come from but bot.toml; "" if unset."""
        return os.environ.get(name) or self._env_file.get(name) or secret_from_file(name)

    def differing(self, other: Settings) -> list[str]:
        """Return the names of the settings that differ; `.env` stands for secrets of own tools."""
        mine, others = self.model_dump(), other.model_dump()
        names = sorted(name for name in others if others[name] != mine[name])
        return names or [".env"] * (self._env_file != other._env_file)

    @property
    def has_model(self) -> bool:
        """Whether a model service is configured."""
        return self.openai_api_key is not None or self.openai_base_url is not None

    @property
    def personal_servers(self) -> dict[str, McpServer]:
        """The MCP servers to which people connect accounts: their own, or that of the workspace."""
        return {name: each for name, each in self.mcp_servers.items() if each.is_connected}

    @property
    def account_servers(self) -> dict[str, McpServer]:
        """The MCP servers with accounts, those at which the bot signs in by itself included."""
        servers = self.mcp_servers.items()
        return {name: server for name, server in servers if server.account != "shared"}

    @property
    def without_personal_servers(self) -> Settings:
        """These settings for a place where nobody has an account."""
        shared = {name: each for name, each in self.mcp_servers.items() if not each.is_connected}
        return self.model_copy(update={"mcp_servers": shared})

    @property
    def loopback_port(self) -> int | None:
        """The port for the account pages if BOT_PUBLIC_URL is an address of this machine alone."""
        at = urlsplit(self.bot_public_url or "")
        return at.port if at.scheme == "http" else None

    @property
    def models(self) -> ModelChoices:
        """The configured model with its fallbacks, and the choices beside it."""
        configured = (self.openai_model, *self.openai_fallback_models)
        return ModelChoices(configured, self.model.choices, self.model.deeper)

    @property
    def model_names(self) -> list[str]:
        """The names of all models that runs may ask, each once."""
        models = self.models
        return list(dict.fromkeys((*models.configured, *(each.model for each in models.choices))))

    @property
    def prices(self) -> PriceList:
        """The prices and windows of all models."""
        given = {each.model: each.price for each in self.model.choices if each.price}
        return PriceList(self.model.window, self.model.price, given)


def load_settings(*, may_lack_variables: bool = False, **overrides: Any) -> Settings:
    """Load the settings. Raises ConfigurationError with one line that names the keys.

    With `may_lack_variables`, MCP servers may name environment variables that are not set.
    """
    path = os.environ.get("BOT_CONFIG")
    if path and not Path(path).is_file():
        raise ConfigurationError(f"BOT_CONFIG names {path}, where no file is.")
    _check_tables(Path(path or "bot.toml"))
    try:
        settings = Settings(**overrides)
    except ValidationError as error:
        wrong = "; ".join(setting_error(each, _table_names(), Tables) for each in error.errors())
        raise ConfigurationError(f"Wrong setting: {wrong}") from None
    except SettingsError as error:  # a list in the environment that is not JSON
        raise ConfigurationError(f"Wrong setting: {unreadable(error)}") from None
    except OSError as error:  # a secret that only another user may read
        raise ConfigurationError(f"{error.filename} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ConfigurationError(
            ".env, or a file of BOT_SECRETS_DIR, cannot be read: save it as UTF-8."
        ) from None
    if (
        wrong := "; ".join(
            wrong_names(settings.channels, settings.profiles, settings.access, settings.mcp_servers)
        )
        or "; ".join([] if may_lack_variables else unset_variables(settings.mcp_servers))
        or "; ".join(
            wrong_choices(
                settings.model.choices, settings.model.deeper, settings.channels, settings.profiles
            )
        )
    ):
        raise ConfigurationError(f"Wrong setting: {wrong}.")
    if settings.access.approval_hours >= settings.retention.thread_days * 24:
        raise ConfigurationError(
            "Wrong setting: access.approval_hours: must be less than retention.thread_days, or a "
            "call that waits for approval is deleted first."
        )
    return settings


def unread_lines() -> list[int]:
    """Return the numbers of the lines of `.env` that are no NAME=value, and are ignored."""
    try:
        with Path(".env").open(encoding=_ENCODING) as file:
            return [each.original.line for each in parse_stream(file) if each.error]
    except OSError:
        return []


def _is_encoded(url: str) -> bool:
    """Return whether what stands before the host of a URL of Redis does not end it."""
    host = urlsplit(url).netloc.rpartition("@")[2]
    return "#" not in url and all(
        not port or port.isdecimal() for port in re.findall(r":([^:,\]]*)(?:,|$)", host)
    )


def _table_names() -> list[str]:
    return [field.alias or name for name, field in Tables.model_fields.items()]


def _check_tables(path: Path) -> None:
    """Raise ConfigurationError for an unknown key of bot.toml, most likely misspelt."""
    if path.is_dir():
        raise ConfigurationError(
            f"{path} is a folder; Docker makes one where a file to mount is missing. Write the file."
        )
    if not path.is_file():
        return
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:  # not TOML
        is_encoded = isinstance(error, UnicodeDecodeError) or path.read_bytes()[:1] == b"\xef"
        why = "save it as UTF-8, without a byte order mark." if is_encoded else error
        raise ConfigurationError(f"{path} cannot be read: {why}") from None
    known_keys = {field.alias or name for name, field in Settings.model_fields.items()}
    unknown = sorted(content.keys() - known_keys)
    if unknown:
        raise ConfigurationError(
            f"{path}: unknown key {', '.join(unknown)}. Known tables: {', '.join(_table_names())}."
        )


def secret(value: SecretStr | None, key: str, why: str) -> str:
    """Return the text of a required secret. Raises ConfigurationError that names `key`."""
    if value is None or not value.get_secret_value():
        raise ConfigurationError(f"{key} is not set: {why}.")
    return value.get_secret_value()


def arm_failpoints(settings: Settings) -> None:
    """Arm the crash points that a test sets. Raises ConfigurationError against the real Slack."""
    if settings.bot_failpoints is None:
        return
    if settings.slack_api_url == SLACK:
        raise ConfigurationError("BOT_FAILPOINTS is set: it crashes a bot on purpose. Unset it.")
    failpoints.arm(settings.bot_failpoints)
