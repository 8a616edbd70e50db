"""Own clients of tools (22.2): opened once per worker, closed on drain, and told apart when broken."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Annotated, Any

import pytest

from bot.app.tool_loading import load_tools
from bot.app.tool_providers import bound_providers
from bot.core.check import Level
from bot.core.errors import ConfigurationError, ToolDefinitionError
from bot.dev.model import ResponsesServer, Script, call, finish, respond
from bot.dev.model.request import ModelRequest
from bot.ops.doctor.machine import examine_env_file
from bot.ops.doctor.tools import examine_tools
from bot.settings import Settings, ToolSettings, load_settings
from bot.text import redaction
from bot.text.redaction import redacted
from bot.toolkit import Provider, Secret, provider, tool_clients
from bot.toolkit.tool_clients import BoundProvider, open_tool_clients
from tests.support.crm import FILE, TOKEN, CrmServer, crm_server
from tests.support.deployment import deployed
from tests.support.runs import answer
from tests.unit.test_commands import bot

SALES, ADA = "C0SALES001", "U0ADA00001"


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failed providers are tried again soon; secrets of one test are not known to the next."""
    monkeypatch.setattr(tool_clients, "_FIRST_PAUSE", 0.05)
    monkeypatch.setattr(redaction, "_configured", {})


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Providers have a fraction of a second."""
    monkeypatch.setattr(tool_clients, "SECONDS", 0.3)
    monkeypatch.setattr(tool_clients, "_GRACE", 0.1)


@pytest.fixture
async def crm() -> AsyncGenerator[CrmServer]:
    async with crm_server() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a tool and its provider, and the token in the environment."""
    monkeypatch.setenv("CRM_TOKEN", TOKEN)
    (tmp_path / "crm").mkdir()
    (tmp_path / "crm" / "crm.py").write_text(FILE)
    return tmp_path / "crm"


def settings_for(folder: Path, **crm: Any) -> Settings:
    groups: dict[str, Any] = {"crm": crm} if crm else {}
    return Settings(_env_file=None, tools=ToolSettings(paths=(folder,), **groups))


async def test_one_client_serves_a_worker_until_its_end(folder: Path, crm: CrmServer) -> None:
    """Also when the worker is cancelled, the CRM sees the connection closed."""
    bound = bound_providers(settings_for(folder, port=crm.port))
    async with open_tool_clients(bound) as clients:
        await clients.settle()
        [client] = clients.open.values()
        replies = [await client.ask(word) for word in ("a", "b")]  # type: ignore[attr-defined]
        assert replies == ["ticket 17 about a", "ticket 17 about b"]
        assert (crm.connected, crm.logins) == (1, [TOKEN])
    await crm.until(connected=0)

    async def worker() -> None:
        async with open_tool_clients(bound) as clients:
            await clients.settle()
            await asyncio.Event().wait()

    task = asyncio.create_task(worker())
    await crm.until(connected=1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await crm.until(connected=0)


class Client:
    """What the providers below yield."""


class Other(Client):
    """What another provider yields, which works."""


@provider(group="other")
async def open_other() -> AsyncGenerator[Other]:
    yield Other()


async def hangs() -> AsyncGenerator[Client]:
    await asyncio.sleep(600)
    yield Client()


async def cannot_be_cancelled() -> AsyncGenerator[Client]:
    while True:
        try:
            await asyncio.sleep(0.5)
            break
        except asyncio.CancelledError:
            pass
    yield Client()


async def raises() -> AsyncGenerator[Client]:
    raise ConnectionError(f"no\nroute with {TOKEN}")
    yield Client()


async def exits() -> AsyncGenerator[Client]:
    raise SystemExit(2)
    yield Client()


async def yields_nothing() -> AsyncGenerator[Client]:
    if False:
        yield Client()


async def cancels_itself() -> AsyncGenerator[Client]:
    raise asyncio.CancelledError
    yield Client()


@pytest.mark.parametrize(
    ("opening", "said"),
    [
        (hangs, "did not open its client within 0.3 s"),
        (cannot_be_cancelled, "did not open its client within 0.3 s"),
        (
            raises,
            r"could not open its client: ConnectionError: no route with \[redacted CRM\] \(line",
        ),
        (exits, "could not open its client: ToolCrashed: it raised SystemExit"),
        (yields_nothing, "could not open its client: RuntimeError: generator didn't yield"),
        (cancels_itself, "could not open its client: it cancelled its own task"),
    ],
)
async def test_a_provider_in_trouble_is_one_error_and_the_rest_works(
    quick: None,
    caplog: pytest.LogCaptureFixture,
    opening: Callable[[], AsyncGenerator[Client]],
    said: str,
) -> None:
    """However often it is tried again. Its tools are off, others are there."""
    redaction.redact_setting(TOKEN, "CRM")
    bound = [BoundProvider(provider(group="crm")(opening)), BoundProvider(open_other)]
    with caplog.at_level(logging.ERROR):
        async with open_tool_clients(bound) as clients:
            await clients.settle()
            assert {*clients.open} == {Other}
            await asyncio.sleep(0.3)
    [problem] = clients.problems.values()
    errors = [each for each in caplog.messages if "goes on although" not in each]
    assert len(errors) == 1, caplog.messages
    assert problem in errors[0]
    assert f"Provider {opening.__name__} (tests/unit/test_tool_clients.py, line " in errors[0]
    assert len(errors[0].splitlines()) == 1
    assert re.match(said, problem)


async def fails_to_close() -> AsyncGenerator[Client]:
    yield Client()
    raise OSError("already gone")


async def never_closes() -> AsyncGenerator[Client]:
    yield Client()
    await asyncio.sleep(600)


async def yields_twice() -> AsyncGenerator[Client]:
    yield Client()
    yield Client()


@pytest.mark.parametrize(
    ("opening", "said"),
    [
        (fails_to_close, "could not close its client: OSError: already gone"),
        (never_closes, "did not close its client within 0.3 s"),
        (yields_twice, "could not close its client: RuntimeError: generator didn't stop"),
    ],
)
async def test_a_client_that_does_not_close_is_one_error(
    quick: None,
    caplog: pytest.LogCaptureFixture,
    opening: Callable[[], AsyncGenerator[Client]],
    said: str,
) -> None:
    """And does not keep the worker."""
    bound = [BoundProvider(provider(group="crm")(opening)), BoundProvider(open_other)]
    async with asyncio.timeout(2):
        async with open_tool_clients(bound) as clients:
            await clients.settle()
            assert {*clients.open} == {Client, Other}
            assert clients.problems == {}
    assert clients.problems[Client].startswith(said)
    assert [each for each in caplog.messages if said in each]
    assert len(caplog.messages) == 1


async def test_a_worker_that_ends_does_not_wait_for_a_client_that_opens() -> None:
    """And nothing went wrong with that client."""
    async with asyncio.timeout(5):
        async with open_tool_clients([BoundProvider(provider(group="crm")(hangs))]) as clients:
            await asyncio.sleep(0.05)
    assert clients.problems == {}


async def test_a_client_that_ends_by_itself_is_opened_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its tools are off in between, as with a connection that a background task has lost."""
    lost, opened = asyncio.Event(), [asyncio.Event(), asyncio.Event()]

    async def lose_connection() -> None:
        await lost.wait()
        lost.clear()
        raise ConnectionError("connection lost")

    async def with_task() -> AsyncGenerator[Client]:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(lose_connection())
            next(each for each in opened if not each.is_set()).set()
            yield Client()
            task.cancel()

    async with open_tool_clients([BoundProvider(provider(group="crm")(with_task))]) as clients:
        await clients.settle()
        first = clients.open[Client]
        lost.set()
        async with asyncio.timeout(5):
            await opened[1].wait()
        await asyncio.sleep(0)
        assert clients.open[Client] is not first
    assert clients.problems == {}
    assert "could not keep its client: ConnectionError: connection lost" in caplog.messages[0]
    assert len(caplog.messages) == 2  # the second says that it is open again


async def test_a_client_comes_back_when_its_service_does(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody restarts the bot; the log says both."""
    async with crm_server() as before:
        port = before.port
    bound = bound_providers(settings_for(folder, port=port))
    async with open_tool_clients(bound) as clients:
        await clients.settle()
        assert not clients.open
        assert clients.missing(load_tools((folder,)).catalogue.tools) == ("crm",)
        async with crm_server(port) as crm, asyncio.timeout(10):
            await crm.until(connected=1)
            for _ in range(500):
                if clients.open:
                    break
                await asyncio.sleep(0.01)
            assert clients.problems == {}
            assert clients.missing(load_tools((folder,)).catalogue.tools) == ()
    assert "ConnectionRefusedError" in caplog.messages[0]
    assert "has opened its client now" in caplog.messages[-1]


async def test_tools_of_a_slow_client_are_offered_once_it_is_open(
    folder: Path, crm: CrmServer, redis_url: str
) -> None:
    """The bot starts meanwhile, its first run waits, and the client is closed on drain."""

    def reply(request: ModelRequest) -> Any:
        assert "find_tickets" in {tool.get("name") for tool in request.tools}
        return call("find_tickets", {"words": f"lamps {TOKEN}"})

    def read(request: ModelRequest) -> Any:
        assert "ticket 17 about lamps [redacted CRM_TOKEN]" in str(request.body["input"])
        return finish(answer("Ticket 17."))

    settings = settings_for(folder, port=crm.port)
    script = Script([respond(reply), respond(read)])
    crm.greets.clear()
    async with deployed(script, redis_url, tools=settings.tools) as bot:
        await crm.until(connected=1)
        thread = await bot.ask(ADA, SALES, "Which tickets are about lamps?")
        await bot.ws.until(lambda: bot.own(SALES, thread), 10)
        assert not bot.api.requests
        crm.greets.set()
        [said] = await bot.answered(SALES, thread)
        assert "Ticket 17." in str(said)
        assert crm.connected == 1
    await crm.until(connected=0)


def write_erp(folder: Path, decorator: str) -> None:
    """Write a second file with a tool and its provider, which go by other names."""
    erp = FILE.replace('provider(group="crm")', decorator).replace(
        'tool(group="crm"', 'tool(group="erp"'
    )
    for crm_name, name in (("tickets", "orders"), ("_crm", "_erp"), ("CRM", "ERP"), ("Crm", "Erp")):
        erp = erp.replace(crm_name, name)
    (folder / "erp.py").write_text(erp)


async def test_bot_ask_uses_providers_too(folder: Path, crm: CrmServer, tmp_path: Path) -> None:
    """Its first request has the tools, and says which are missing because a service is not there."""
    write_erp(folder, 'provider(group="erp")')
    ports = f"[tools.crm]\nport = {crm.port}\n[tools.erp]\nport = {crm.port}\n"
    (tmp_path / "bot.toml").write_text(f'[tools]\npaths = ["crm"]\n{ports}')
    script = Script([call("find_tickets", {"words": "lamps"}), finish(answer())])
    async with ResponsesServer.open(script) as api:
        model = {"OPENAI_BASE_URL": api.url, "OPENAI_API_KEY": api.api_key}
        secrets = {"CRM_TOKEN": TOKEN, "ERP_TOKEN": "let me in please"}
        done = await bot(tmp_path, "ask", "Lamps?", **secrets, **model)
    assert done.code == 0, done.err
    assert "ticket 17 about lamps" in str(api.requests[-1].body["input"])
    assert "The tools of erp" in api.requests[0].body["instructions"]
    assert "PermissionError: the ERP does not know [redacted ERP_TOKEN] (line " in done.err
    assert "let me in please" not in done.out + done.err


async def test_doctor_and_tools_tell_off_and_broken_apart(
    folder: Path, crm: CrmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason, and which tools it concerns."""
    write_erp(folder, 'provider(group="erp", optional=True)')
    settings = settings_for(folder, port=crm.port)
    [check] = await examine_tools(settings)
    assert check.level is Level.OK
    assert "off: find_orders (set [tools.erp] in bot.toml)" in check.text
    assert "off: search_web (set [web_search] in bot.toml)" in check.text
    monkeypatch.setenv("CRM_TOKEN", "something else")
    _, check = await examine_tools(settings)
    assert (check.level, check.subject) == (Level.WARNING, "tools crm")
    assert "could not open its client: PermissionError" in check.text
    assert check.text.endswith("off: find_tickets")
    assert "something else" not in check.text
    toml = f'[tools]\npaths = ["crm"]\n[tools.crm]\nport = {crm.port}\n'
    (tmp_path / "bot.toml").write_text(toml)
    done = await bot(tmp_path, "tools", CRM_TOKEN="something else")
    assert re.search("^find_tickets +crm +broken ", done.out, re.MULTILINE)
    assert re.search("^find_orders +erp +off ", done.out, re.MULTILINE)
    assert "Off: find_orders: set [tools.erp] in bot.toml." in done.out
    assert "Broken: find_tickets: provider open_crm (crm/crm.py, line " in done.out
    assert f"From {folder}: find_tickets" in done.out.replace("find_orders, ", "")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("", "tools.crm.port: is missing"),
        ("[tools.crm]\nport = 'x'", "tools.crm.port: must be a whole number"),
        ("[tools.crm]\nport = 1\nhots = 'x'", "tools.crm.hots: there is no such key; there are host, port"),
        ("[tools.crm]\nport = 1\ntoken = 'x'", "tools.crm.token: there is no such key"),
        ("[tools.crm]\nport = 1\n[tools.erp]\na = 1", "tools.erp: no provider has this group; there are crm. Is its package installed"),
        ("[tools]\npath = ['crm']", "tools: there is no key path, only paths and tables"),
        ("tools = 3", "tools: must be a table"),
    ],
)  # fmt: skip
def test_a_wrong_setting_of_a_provider_is_one_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toml: str, said: str
) -> None:
    """As for all other settings."""
    given = toml if toml.startswith(("[tools]", "tools")) else f"tools.paths = ['{folder}']\n{toml}"
    (tmp_path / "bot.toml").write_text(given)
    monkeypatch.setenv("BOT_CONFIG", str(tmp_path / "bot.toml"))
    with pytest.raises(ConfigurationError, match=f"^Wrong setting: {said}") as caught:
        bound_providers(load_settings(_env_file=None))
    assert "\n" not in str(caught.value)


def test_a_secret_is_read_from_the_environment_or_the_file_beside_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is redacted in every form, and shown by nothing that prints a provider."""
    settings = settings_for(folder, port=1)
    [bound] = bound_providers(settings)
    assert bound.arguments["token"] == TOKEN
    assert TOKEN not in repr(bound)
    assert redacted(f"GET /?t=correct%20horse%20battery {TOKEN}!") == (
        "GET /?t=[redacted CRM_TOKEN] [redacted CRM_TOKEN]!"
    )
    monkeypatch.setenv("CRM_TOKEN", "")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ConfigurationError, match=r"^Wrong setting: CRM_TOKEN is not set, which .*open_crm"
    ):
        bound_providers(settings)
    (tmp_path / ".env").write_text("CRM_TOKEN=from the file\n")
    changed = settings_for(folder, port=1)
    assert settings.differing(changed) == [".env"]  # so that SIGHUP takes it up
    [bound] = bound_providers(changed)
    assert bound.arguments["token"] == "from the file"
    (tmp_path / ".env").write_text("SLACK_BOT_TOKEN_2=of a provider\n")
    assert len(examine_env_file()) == 1  # almost a setting of the bot
    assert examine_env_file(["SLACK_BOT_TOKEN_2"]) == []


def test_a_client_that_nobody_provides_stops_the_start(folder: Path) -> None:
    """The line names the file, the tool and the type; so does one that two provide."""
    file = folder / "crm.py"
    file.write_text(FILE.replace('@provider(group="crm")\n', ""))
    with pytest.raises(
        ToolDefinitionError, match=rf"{file}, line \d+: tool find_tickets: nobody provides Crm"
    ):
        load_tools((folder,))
    other = folder.parent / "two"
    other.mkdir()
    (other / "crm.py").write_text(FILE)
    more = FILE.split("@provider")[1].split("@tool")[0].replace("open_crm", "open_again")
    (other / "again.py").write_text(
        f"{FILE.split('class Crm')[0]}from .crm import Crm\n@provider{more}"
    )
    with pytest.raises(
        ToolDefinitionError, match=r"Two providers yield Crm: open_again .* and open_crm in"
    ):
        load_tools((other,))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("async def p() -> Client: ...", "must be an async generator function"),
        ("def p() -> AsyncGenerator[Client]:\n    yield Client()", "must be an async generator function"),
        ("async def p():\n    yield Client()", "must say what it yields"),
        ("async def p() -> AsyncGenerator:\n    yield Client()", "must say what it yields"),
        ("async def p(a) -> AsyncGenerator[Client]:\n    yield Client()", "parameter a needs a name and an annotation"),
        ("async def p(*a: int) -> AsyncGenerator[Client]:\n    yield Client()", "needs a name and an annotation"),
        ("async def p(a: object()) -> AsyncGenerator[Client]:\n    yield Client()", "a parameter is not data"),
        ("async def p(t: str = Secret('T')) -> AsyncGenerator[Client]:\n    yield Client()", r"write `t: Annotated\[str, Secret"),
    ],
)  # fmt: skip
def test_a_function_that_cannot_be_a_provider_is_refused(code: str, said: str) -> None:
    """Where it is defined, in words."""
    scope: dict[str, Any] = {"Client": Client, "AsyncGenerator": AsyncGenerator, "Secret": Secret}
    scope["Annotated"] = Annotated
    exec(code, scope)
    with pytest.raises(ToolDefinitionError, match=f"^Provider p.*{said}"):
        provider(group="crm")(scope["p"])
    with pytest.raises(ToolDefinitionError, match="'paths' cannot be the name of a group"):
        provider(group="paths")(hangs)


def test_a_provider_names_itself() -> None:
    """For logs and errors."""
    made: Provider[Client] = provider(group="crm")(hangs)
    assert (made.name, made.type_name, made.settings.model_fields) == ("hangs", "Client", {})


def test_of_a_secret_that_begins_like_another_nothing_is_left() -> None:
    """S10: as keys of one service often do, or a key and its second version."""
    redaction.redact_setting("crm-live-key", "CRM_KEY")
    redaction.redact_setting("crm-live-key-v2-of-sales", "SALES_KEY")
    assert redaction.redacted("with crm-live-key-v2-of-sales") == "with [redacted SALES_KEY]"
    assert redaction.redacted("with crm-live-key") == "with [redacted CRM_KEY]"
