"""A wrong setting is one line that names its key, before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from bot.app.features import all_features, check_features
from bot.core.budgets import Cap
from bot.core.errors import ConfigurationError
from bot.mcp import McpServer
from bot.settings import Settings, load_settings

ENVIRONMENT = [name.upper() for name in Settings.model_fields]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without settings, and an environment that says nothing to us."""
    monkeypatch.chdir(tmp_path)
    for name in (*ENVIRONMENT, "BOT_CONFIG", "BOT_SECRETS_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def complaint() -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_secrets_are_read_from_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As containers have them, also those of own tools and MCP servers. The environment wins."""
    secrets = folder / "secrets"
    secrets.mkdir()
    monkeypatch.setenv("BOT_SECRETS_DIR", str(secrets))
    (secrets / "openai_api_key").write_text("sk-file\n")
    (secrets / "SLACK_SIGNING_SECRET").write_text("from-a-file\n")
    (secrets / "crm_token").write_text("crm\n")
    monkeypatch.setenv("SLACK_SIGNING_SECRET", "from-the-environment")
    (folder / "bot.toml").write_text(
        'openai_api_key = "sk-toml"\n[mcpServers.crm]\nurl = "https://crm.example.com"\n'
        'headers = {authorization = "Bearer ${CRM_TOKEN}"}\n'
    )
    settings = load_settings()
    assert settings.openai_api_key
    assert settings.openai_api_key.get_secret_value() == "sk-file"
    assert settings.slack_signing_secret
    assert settings.slack_signing_secret.get_secret_value() == "from-the-environment"
    assert settings.variable("CRM_TOKEN") == "crm"
    assert settings.variable("OTHER_TOKEN") == ""
    header = settings.mcp_servers["crm"].headers["authorization"]
    assert header.get_secret_value() == "Bearer crm"


def test_nothing_has_to_be_set() -> None:
    """The README's two commands need no file."""
    settings = load_settings()
    assert settings.port is None
    assert not settings.has_model


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("[limits]\nturn = 3", "limits.turn: there is no such key"),
        ("[limits]\nturns = 0", "limits.turns"),
        ("[limits]\ncost = -1", "limits.cost"),
        ("[model]\nreasoning = 'huge'", "model.reasoning"),
        ("[model]\ntemperature = 3", "model.temperature"),
        ("[model]\nwidow = 5", "model.widow"),
        ("[access]\nallow_guest = true", "access.allow_guest: there is no such key"),
        ("[retention]\nthreads = 5", "retention.threads: there is no such key"),
        ("[retention]\nthread_days = 0", "retention.thread_days: must be greater than 0"),
        (
            "[access]\nopen_hosts = ['*.x.com', 'https://y.com/']",
            "https://y.com/? Give hosts alone",
        ),
        (
            "[mcpServers.n]\nurl = 'http://mcp.example/mcp'\naccount = 'person'",
            'mcpServers.n: account = "person" needs a url that begins with https://',
        ),
        (
            "[mcpServers.n]\ncommand = 'x'\naccount = 'person'",
            'mcpServers.n: account = "person" needs url',
        ),
        (
            "[mcpServers.n]\nurl = 'https://n.example/'\noauth = {scopes = ['a']}",
            'mcpServers.n: oauth needs account = "person"',
        ),
        (
            "[mcpServers.n]\nurl = 'https://n.example/'\naccount = 'person'\n"
            "headers = {authorization = 'x'}",
            'mcpServers.n: account = "person" sends its own Authorization header',
        ),
        (
            "[mcpServers.n]\nurl = 'https://n.example/'\naccount = 'person'\n"
            "oauth = {client_id = 'i', client_secret = '${NOT_SET}'}",
            "mcpServers.n.oauth.client_secret: the environment variable NOT_SET is not set",
        ),
        (
            "[mcpServers.n]\nurl = 'https://n.example/'\naccount = 'person'\n"
            "oauth = {hosts = ['https://x.example/']}",
            "mcpServers.n.oauth.hosts.0: give hosts alone",
        ),
        (
            "[mcpServers.n]\nurl = 'https://n.example/'\naccount = 'person'\n"
            "oauth = {client_id = 'i', token_endpoint = 'https://n.example/t'}",
            "mcpServers.n.oauth: set authorization_endpoint and token_endpoint",
        ),
        ("[mcpServers.n]\ncommand = 'x'\npeople = ['anna']", "mcpServers.n.people: anna?"),
        ("[retention]\nthread_days = 1", "access.approval_hours: must be less than retention"),
        ("[engine]\nper_people = 5", "there is no such key; did you mean per_person?"),
        ("[access]\nadmin = []", "access.admin: there is no such key; did you mean admins?"),
        (
            "[mcpServers.url]\ncommand = 'x'\noauth = {scope = []}",
            "mcpServers.url.oauth.scope: there is no such key; did you mean scopes?",
        ),
        ("[engine]\nper_person = 0", "engine.per_person: must be greater than 0"),
        ("[databases.shop]\nurl = 3", "databases.shop.url"),
        ("[databases.shop]\ndescription = 'x'", "databases.shop.url"),
        ("[hooks]\nbefore = 1", "hooks.before"),
        ("[[hooks.after_tool]]\ntool = 'write_*'", "hooks.after_tool.0.run"),
        ("[[hooks.after_tool]]\ntool = 'w'\nrun = ['ruff']", "hooks.after_tool.0.run"),
        ("[[hooks.after_tool]]\ntool = 'w'\nrun = ['{file}']", "hooks.after_tool.0.run"),
        ("[[hooks.after_tool]]\ntool = 'w'\nrun = 'ruff {file}'", "hooks.after_tool.0.run"),
        (
            "[[hooks.after_tool]]\ntool = 'w'\nrun = ['a', '{file}']\ntimeout = 0",
            "hooks.after_tool.0.timeout",
        ),
        ("[budget]\nday = 5", "budget"),
        ("[budgets]\nuser_daily = 5", "budgets.user_daily"),
        ("[budgets]\nuser_day = 0", "budgets.user_day.cost"),
        ("[budgets]\nuser_day = true", "budgets.user_day"),
        ("[budgets]\nuser_day = {}", "budgets.user_day"),
        ("[budgets]\nuser_day = {token = 5}", "budgets.user_day.token"),
        ("[budgets]\nwarn_at = 80", "budgets.warn_at"),
        ("[model]\nprice = 3", "model.price"),
        ("[model]\nprice = {input = 1}", "model.price.output"),
        ("[model]\nchoices = [{name = 'fast'}]", "model.choices.0.model"),
        ("[model]\nchoices = [{name = '', model = 'm'}]", "model.choices.0.name"),
        ("[model]\nchoices = [{name = 'a', model = 'm', effort = 'huge'}]", "choices.0.effort"),
        (
            "[model]\nchoices = [{name = 'a', model = 'm'}, {name = 'a', model = 'n'}]",
            "model.choices: each choice must have a name of its own",
        ),
        (
            "[[model.choices]]\nname = 'a'\nmodel = 'm'\nprice = {input = 1, output = 1}\n"
            "[[model.choices]]\nname = 'b'\nmodel = 'm'\nprice = {input = 2, output = 1}",
            "model.choices: a model has one price",
        ),
        ("[model]\ndeeper = 'large'", "model.deeper: there is no choice large; model.choices is"),
        (
            "[model]\nchoices = [{name = 'a', model = 'm'}]\n[channels.C0123]\nmodel = 'b'",
            "channels.C0123.model: there is no choice b; the names in model.choices are a",
        ),
        ("[web_search]\nprovider = 'bing'", "web_search.provider"),
        ("[web_search]\nprovider = 'searxng'", "web_search: set url"),
        ("[access]\napprovers = 'U0123'", "access.approvers: must be a list"),
        ("[access]\napprovers = ['ada']", "access.approvers: ada? give their id"),
        ("[channels.C0123]\npeople = ['U0123', 'bob']", "channels.C0123.people: bob? give"),
        ("[channels.general]", "channels.general: give its id"),
        ("[channels.C0123]\nbudgets = {week = 3}", "channels.C0123.budgets.week: must be 'day'"),
        ("port = 'high'", "PORT: must be a whole number"),
        ("port = 70000", "PORT"),
        ("bot_log_format = 'xml'", "BOT_LOG_FORMAT: must be 'text' or 'json'"),
        ("limits = 3", "limits"),
        ("access = 3", "access"),
        ("[limits", "bot.toml cannot be read"),
        ("x = \xff", "bot.toml cannot be read: save it as UTF-8"),
        ("\xef\xbb\xbf[limits]", "bot.toml cannot be read: save it as UTF-8"),
    ],
)
def test_a_slip_in_bot_toml_is_named(folder: Path, content: str, names: str) -> None:
    """A misspelt limit must not be no limit."""
    (folder / "bot.toml").write_bytes(content.encode("latin-1"))
    assert names in complaint()


@pytest.mark.parametrize(
    ("name", "value", "names"),
    [
        ("PORT", "high", "PORT"),
        ("BOT_LOG_FORMAT", "xml", "BOT_LOG_FORMAT"),
        ("OPENAI_FALLBACK_MODELS", "a,b", "OPENAI_FALLBACK_MODELS: must be a list"),
        ("BOT_CONFIG", "/nowhere/bot.toml", "BOT_CONFIG"),
        ("REDIS_URL", "localhost:6379", "REDIS_URL: must begin with redis://"),
        (
            "REDIS_URL",
            "redis+cluster://h:1",
            "REDIS_URL: a Redis Cluster cannot run the bot's scripts",
        ),
        ("OPENAI_BASE_URL", "localhost:8000/v1", "OPENAI_BASE_URL: must begin with http:// or"),
        ("SLACK_BOT_TOKEN", "xapp-1-A", "SLACK_BOT_TOKEN: is the other token"),
        ("SLACK_APP_TOKEN", "xoxb-1", "SLACK_APP_TOKEN: is the other token"),
        ("OPENAI_API_KEY", "sk-ab\u2026yz", "OPENAI_API_KEY: holds horizontal ellipsis (U+2026)"),
        (
            "SLACK_BOT_TOKEN",
            "xoxb-1\n2",
            "SLACK_BOT_TOKEN: holds an unprintable character (U+000A)",
        ),
        ("SLACK_SIGNING_SECRET", "ab cd", "SLACK_SIGNING_SECRET: holds a blank"),
        ("WEB_SEARCH_API_KEY", "k\u200b", "WEB_SEARCH_API_KEY: holds zero width space (U+200B)"),
        (
            "BOT_ENCRYPTION_KEYS",
            "\udcff",
            "BOT_ENCRYPTION_KEYS: holds an unprintable character (U+DCFF)",
        ),
    ],
)
def test_a_slip_in_the_environment_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, names: str
) -> None:
    """And what is wrong with it is not said of another file."""
    monkeypatch.setenv(name, value)
    said = complaint()
    assert names in said
    assert "bot.toml cannot be read" not in said


def test_the_environment_wins_over_the_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environment, then .env, then bot.toml."""
    (folder / "bot.toml").write_text("port = 1\nopenai_model = 'a'\nredis_url = 'redis://a'")
    (folder / ".env").write_text("PORT=2\nOPENAI_MODEL=b\n")
    monkeypatch.setenv("PORT", "3")
    settings = load_settings()
    assert (settings.port, settings.openai_model, settings.redis_url) == (3, "b", "redis://a")


def test_another_file_can_be_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BOT_CONFIG."""
    (folder / "other.toml").write_text("[limits]\nturns = 7")
    monkeypatch.setenv("BOT_CONFIG", "other.toml")
    assert load_settings().limits.turns == 7


def test_an_example_copied_as_it_is_sets_nothing(folder: Path) -> None:
    """`cp .env.example .env`, then `bot dev`: an empty key is no key."""
    example = Path(__file__).parents[2] / ".env.example"
    (folder / ".env").write_text(example.read_text("utf-8"))
    assert load_settings() == Settings()
    assert not load_settings().has_model


def test_budgets_are_dollars_or_tokens_or_both(folder: Path) -> None:
    """G6: a bare number is dollars; what is not set is not bounded."""
    (folder / "bot.toml").write_text(
        "[budgets]\nuser_day = 2\nthread = {tokens = 500_000}\n"
        "workspace_month = {cost = 300.5, tokens = 9_000_000}\n"
    )
    budgets = load_settings().budgets
    assert budgets.user_day == Cap(cost=2)
    assert budgets.thread == Cap(tokens=500_000)
    assert budgets.workspace_month == Cap(cost=300.5, tokens=9_000_000)
    assert budgets.channel_day is None
    assert budgets.bound_money == ["workspace_month", "user_day"]


def test_servers_that_are_asked_without_a_yes_are_named(folder: Path) -> None:
    """S7: in bot.toml, by their names, nothing by default."""
    assert load_settings().access.open_servers == ()
    (folder / "bot.toml").write_text("[access]\nopen_servers = ['crm', 'docs-*']\n")
    assert load_settings().access.open_servers == ("crm", "docs-*")


@pytest.mark.parametrize("name", ["BUDGETS", "MODEL", "LIMITS", "ACCESS", "RETENTION", "DATABASES"])
def test_what_others_keep_in_the_environment_is_not_ours(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Tables stand in bot.toml only; MODEL=… of another program does no harm."""
    monkeypatch.setenv(name, "gpt-5")
    assert load_settings().limits.turns == 20


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings get into logs and traces."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-very-secret")
    assert "very-secret" not in repr(load_settings())


@pytest.mark.parametrize(
    ("url", "complains"),
    [
        ("https://bot.example.com/", False),
        ("https://example.com/slack-bot", False),
        ("http://127.0.0.1:8085", False),
        ("http://127.0.0.1", True),
        ("http://bot.example.com", True),
        ("https://user@bot.example.com", True),
        ("https://bot.example.com/?a=b", True),
        ("bot.example.com", True),
    ],
)
def test_the_public_address_is_one_that_browsers_can_trust(
    monkeypatch: pytest.MonkeyPatch, url: str, complains: bool
) -> None:
    """Issuers send people back to it with a code: it is https, or this very machine."""
    monkeypatch.setenv("BOT_PUBLIC_URL", url)
    if complains:
        assert "BOT_PUBLIC_URL" in complaint()
    else:
        assert load_settings().bot_public_url == url.rstrip("/")


def test_secrets_of_servers_come_from_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `${NAME}`, which other programs with `mcpServers` read too; `.env` counts as well."""
    monkeypatch.setenv("SECRET_OF_N", "s3cret")
    (folder / ".env").write_text("TOKEN_OF_M=t0ken\n")
    (folder / "bot.toml").write_text(
        "[mcpServers.n]\nurl = 'https://n.example/mcp'\naccount = 'person'\n"
        "oauth = {client_id = 'i', client_secret = '${SECRET_OF_N}'}\n"
        "[mcpServers.m]\nurl = 'https://m.example/mcp'\n"
        "headers = {Authorization = 'Bearer ${TOKEN_OF_M}'}\n"
    )
    servers = load_settings().mcp_servers
    secret = servers["n"].oauth.client_secret
    assert secret is not None
    assert secret.get_secret_value() == "s3cret"
    assert servers["m"].headers["Authorization"].get_secret_value() == "Bearer t0ken"
    assert "s3cret" not in repr(servers)


@pytest.mark.parametrize("missing", ["BOT_ENCRYPTION_KEYS", "BOT_PUBLIC_URL"])
def test_personal_accounts_need_a_key_and_an_address(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    """The bot does not start where nobody could connect, and says which setting is missing."""
    monkeypatch.setenv("BOT_ENCRYPTION_KEYS", Fernet.generate_key().decode())
    monkeypatch.setenv("BOT_PUBLIC_URL", "https://bot.example.com")
    servers = {"n": McpServer(url="https://n.example/mcp", account="person")}
    check_features(all_features(load_settings(mcpServers=servers)))
    monkeypatch.delenv(missing)
    with pytest.raises(ConfigurationError, match=missing):
        check_features(all_features(load_settings(mcpServers=servers)))
