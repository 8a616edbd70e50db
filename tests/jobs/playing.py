"""Plays jobs: the whole bot in a local workspace, with a local model service and a real Redis."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr
from redis.asyncio import Redis

from bot.app.process import bot
from bot.dev.model import ResponsesServer
from bot.dev.workspace import ADA, BEN, CHLOE, EVE, GUS, Workspace
from bot.evals.cases import Fact
from bot.evals.trials import run_trial_case
from bot.services.sql_databases import DatabaseConfig
from bot.slack.intake.manifest import manifest
from bot.store import Stores, open_stores
from tests.jobs.job import Act, Job
from tests.jobs.player import ACQUIRE, COMPLETE, Player
from tests.jobs.shown import masked, words_of
from tests.support.deployment import configured
from tests.support.sdk_server import library, served
from tests.support.web_search import provider

USERS = {"ada": ADA, "ben": BEN, "chloe": CHLOE, "gus": GUS, "eve": EVE}
STEP = "answer_question"
_SECONDS = 60.0
"""Seconds that anything may take on a busy machine."""


@dataclass
class Played:
    """What came of a job: what did not fit, what the model was sent, and what people saw."""

    name: str
    stateless: bool
    problems: list[str] = field(default_factory=list)
    calls: int = 0
    only_acquiring: int = 0
    guessed: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    tools: list[str] = field(default_factory=list)
    first: dict[str, int] = field(default_factory=dict)
    slack: Counter[str] = field(default_factory=Counter)
    transcript: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """The number of requests to Slack."""
        return self.slack.total()


@dataclass
class Scene:
    """One job under way."""

    job: Job
    ws: Workspace
    api: ResponsesServer
    stores: Stores
    played: Played
    player: Player = field(init=False)
    thread: str | None = None
    place: str = ""
    told: int = 0
    """How many requests to the model the transcript has."""
    execution: str = ""

    def __post_init__(self) -> None:
        self.player = Player(self.do, [act.model for act in self.job.acts])
        self.place = self.job.place

    def channel(self, place: str, user: str) -> str:
        """Return the id of a channel by its name, or of somebody's direct messages with the bot."""
        if place == "dm":
            direct = self.ws.state.direct(user)
            assert direct is not None
            return direct.id
        return next(c.id for c in self.ws.channels.values() if c.name == place)

    @property
    def names(self) -> dict[str, str]:
        """People by id."""
        return {user: name for name, user in USERS.items()} | {self.ws.bot_user_id: "bot"}

    # --- what people do

    async def play(self, act: Act) -> None:
        """Have an act done, the model play its turns, and look what people see."""
        self.player.begin_act()
        self._tell(f"● {act.by}: {_gist(act)}")
        if act.optional and act.press and not self._has_button(USERS[act.by], act.press):
            self.player.skip_act()
        else:
            await self.do(act)
        await self._settled(act)
        await self._look(act)

    async def do(self, act: Act) -> None:
        """Do what an act says, until the bot has taken it in."""
        user = USERS[act.by]
        if act.say is not None:
            await self._say(act, user)
        elif act.press is not None:
            channel, ts, button = self._find_button(user, act.press)
            await self.ws.click(
                user,
                channel,
                ts,
                button["action_id"],
                block_id=button.get("_block"),
                value=button.get("_option"),
            )
        elif act.shortcut is not None:
            channel = self.channel(act.place or self.place, user)
            newest = (
                self.ws.messages(channel, self.thread)[-1]
                if self.thread
                else self.ws.messages(channel)[-1]
            )
            await self.ws.shortcut(user, act.shortcut, channel=channel, ts=newest["ts"])
            self.thread = newest.get("thread_ts", newest["ts"])
        elif act.submit is not None:
            view = (await self.ws.until(lambda: self.ws.views(user), _SECONDS))[-1]
            await self.ws.submit(user, view["id"], act.submit)
        elif act.command is not None:
            await self.ws.command(
                user, self.channel(act.place or self.place, user), "/ask", act.command
            )
        elif act.step is not None:
            outputs = list(manifest()["functions"][STEP]["output_parameters"]["properties"])
            self.execution = await self.ws.run_step(STEP, act.step, outputs, by=user)
        elif act.home:
            await self.ws.open_home(user)
        elif act.edit is not None or act.delete or act.react is not None:
            await self._change(act, user)
        await self.ws.until(lambda: not self.ws.delivery.under_way, _SECONDS)

    async def _say(self, act: Act, user: str) -> None:
        if act.place and act.place != self.place:
            self.place, self.thread = act.place, None
        channel = self.channel(self.place, user)
        thread = None if act.fresh or self.place == "dm" else self.thread
        mention = act.mention if act.mention is not None else thread is None and self.place != "dm"
        text = f"<@{self.ws.bot_user_id}> {act.say}" if mention else act.say or ""
        for name, somebody in USERS.items():
            text = text.replace(f"@{name}", f"<@{somebody}>")
        files = [(path.name, path.read_bytes()) for path in act.files]
        message = await self.ws.say(user, channel, text, thread, files)
        if thread is None and self.place != "dm":
            self.thread = message["ts"]

    async def _change(self, act: Act, user: str) -> None:
        channel = self.channel(act.place or self.place, user)
        messages = self.ws.messages(channel, self.thread, user)
        own = [m for m in messages if m.get("user") == (self.ws.bot_user_id if act.react else user)]
        ts = own[-1]["ts"]
        if act.edit is not None:
            await self.ws.edit(
                user,
                channel,
                ts,
                f"<@{self.ws.bot_user_id}> {act.edit}" if self.place != "dm" else act.edit,
            )
        elif act.delete:
            await self.ws.delete(user, channel, ts)
        else:
            await self.ws.react(user, channel, ts, act.react or "")

    def _find_button(self, user: str, label: str) -> tuple[str, str, dict[str, Any]]:
        """Return the channel and ts of the newest message with a button or menu entry, and that."""
        for channel, message in sorted(
            self._messages(user), key=lambda pair: float(pair[1]["ts"]), reverse=True
        ):
            for button in _buttons(message.get("blocks") or []):
                if button["_label"] == label:
                    return channel, message["ts"], button
        raise AssertionError(f"{user} sees no button {label!r}")

    # --- what people see

    def _messages(self, user: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the bot's messages that somebody can see, with their channels."""
        for channel in self.ws.channels.values():
            if user not in channel.members:
                continue
            for root in self.ws.messages(channel.id, None, user):
                replies = self.ws.messages(channel.id, root["ts"], user)
                for message in [root, *replies[1:]] if replies else [root]:
                    if message.get("user") == self.ws.bot_user_id or message.get("bot_id"):
                        yield channel.id, message

    def shown(self, user: str) -> str:
        """Return all that the bot shows to somebody now."""
        messages = sorted(self._messages(user), key=lambda pair: float(pair[1]["ts"]))
        shown = [
            "(in a thread)\n" * (message.get("thread_ts", message["ts"]) != message["ts"])
            + words_of(message.get("blocks") or message.get("text", ""), self.names)
            + "".join(f"\n(file {file['name']})" for file in message.get("files") or ())
            for _, message in messages
        ]
        shown += [words_of([v.get("title"), v["blocks"]], self.names) for v in self.ws.views(user)]
        if home := self.ws.home(user):
            shown.append(words_of(home["blocks"], self.names))
        if self.execution:
            shown.append(json.dumps(self.ws.execution(self.execution).outputs, ensure_ascii=False))
        return "\n―――\n".join(shown)

    async def _until_seen(self, act: Act) -> list[Fact]:
        """Wait until a person sees what they must see; return what they do not see after all."""

        def unseen() -> list[Fact]:
            shown = _flat(self.shown(USERS[act.who or act.by]))
            return [fact for fact in act.sees if not fact.is_in(shown)]

        with suppress(TimeoutError):
            await self.ws.until(lambda: not unseen(), 5)
        return unseen()

    async def _look(self, act: Act) -> None:
        user = USERS[act.who or act.by]
        if unseen := await self._until_seen(act):
            self._problem(f"{act.who or act.by} does not see {', '.join(map(str, unseen))}")
        shown = self.shown(user)
        for fact in act.never:
            if fact.is_in(_flat(shown)):
                self._problem(f"{act.who or act.by} sees {fact}")
        messages = self.ws.messages(self.channel(self.place, user), self.thread, user)
        if act.below and messages[-1].get("user") != self.ws.bot_user_id:
            self._problem("the answer stands above the newest message")
        self.tell_requests()
        self._tell(f"── {act.who or act.by} sees\n{shown}\n")

    def _has_button(self, user: str, label: str) -> bool:
        try:
            self._find_button(user, label)
        except AssertionError:
            return False
        return True

    async def _settled(self, act: Act) -> None:
        """Wait until the model has played its turns, and every run has ended or waits for a person."""
        if act.optional and act.sees:
            await self._until_seen(act)
        if act.optional and not await self._busy():
            self.player.skip_act()
        try:
            async with asyncio.timeout(_SECONDS):
                while self.player.waits or await self._busy() or self.ws.delivery.under_way:  # noqa: ASYNC110 - the bot does it
                    await asyncio.sleep(0.01)
        except TimeoutError:
            left = [turn.model_dump(exclude_defaults=True) for turn in self.player.skip_act()]
            self._problem(f"nothing more happens; the model had still to play {left}")

    async def _busy(self) -> bool:
        for thread in await self.stores.mailbox.threads():
            if not await self.stores.mailbox.is_parked(thread):
                return True
        return False

    # --- what is noted

    def _problem(self, text: str) -> None:
        self.played.problems.append(text)
        self._tell(f"✘ {text}")

    def _tell(self, text: str) -> None:
        self.played.transcript.append(masked(text))

    def tell_requests(self) -> None:
        """Note what the model was sent and what it returned since the last look."""
        for received in self.api.requests[self.told :]:
            body = received.body
            tools = [tool.get("name") or tool["type"] for tool in body.get("tools") or ()]
            size = {
                key: len(json.dumps(body.get(key) or "", ensure_ascii=False))
                for key in ("instructions", "tools", "input")
            }
            self._tell(f"→ model {size}: offers {', '.join(tools)}")
            for item in body["input"] if isinstance(body["input"], list) else [body["input"]]:
                self._tell(f"   {_item(item)}")
            response = self.api.responses.get(received.response_id or "")
            for item in response.output if response else ():
                self._tell(f"← {_item(item)}")
            if received.error:
                self._tell(f"← error {received.error}")
        self.told = len(self.api.requests)

    def measure(self, effects: int) -> None:
        """Count what the job took; `effects` are the requests to Slack before its first act."""
        played = self.played
        played.problems += self.player.problems
        played.guessed = self.player.guessed
        for received in self.api.requests:
            response = self.api.responses.get(received.response_id or "")
            played.calls += 1
            if response is None:
                continue
            usage = response.response.get("usage") or {}
            played.input_tokens += usage.get("input_tokens", 0)
            played.cached_tokens += (usage.get("input_tokens_details") or {}).get(
                "cached_tokens", 0
            )
            played.output_tokens += usage.get("output_tokens", 0)
            called = [item["name"] for item in response.output if item["type"] == "function_call"]
            played.only_acquiring += called == [ACQUIRE]
            played.tools += [name for name in called if name not in (ACQUIRE, COMPLETE)]
        if self.api.requests:
            played.first = parts(self.api.requests[0].body)
        played.slack.update(effect.method for effect in self.ws.effects[effects:])
        played.problems += list(_beyond(self.job, played))


def _beyond(job: Job, played: Played) -> Iterator[str]:
    """Yield where a job took more than it may."""
    expect = job.expect
    for what, most, took in (
        ("model calls", expect.calls, played.calls),
        ("input tokens", expect.tokens, played.input_tokens),
        ("requests to Slack", expect.slack, played.requests),
    ):
        if most is not None and took > most:
            yield f"{took:,} {what}, {most:,} at most"
    if expect.tools is not None and played.tools != list(expect.tools):
        yield f"ran {', '.join(played.tools) or 'nothing'}, not {', '.join(expect.tools)}"


def parts(body: dict[str, Any]) -> dict[str, int]:
    """Return the size of a request and of its parts, in bytes of JSON."""

    def size(value: Any) -> int:
        return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())

    tools = {f"tool {t.get('name') or t['type']}": size(t) for t in body.get("tools") or ()}
    sizes = {
        "instructions": size(body.get("instructions") or ""),
        **tools,
        "input": size(body["input"]),
    }
    return {"request": size(body), **sizes}


def _buttons(node: Any, block: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield buttons, and entries of menus, with their labels, blocks and options."""
    if isinstance(node, list):
        for item in node:
            yield from _buttons(item, block)
    elif isinstance(node, dict):
        block = node.get("block_id", block)
        if node.get("type") == "button":
            yield {**node, "_label": node["text"]["text"], "_block": block}
        elif "options" in node and "action_id" in node:
            for option in node["options"]:
                yield {**node, "_label": option["text"]["text"], "_block": block, "_option": option}
        else:
            for value in node.values():
                yield from _buttons(value, block)


def _flat(text: str) -> str:
    return text.replace("\u202f", " ").replace("\u00a0", " ")


def _gist(act: Act) -> str:
    return json.dumps(
        act.model_dump(
            exclude_defaults=True,
            exclude={"model", "sees", "never", "by", "who", "below"},
            mode="json",
        ),
        ensure_ascii=False,
    )


def _item(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    kind = item.get("type") or item.get("role")
    if kind == "function_call":
        return f"{item['name']} {item['arguments']}"
    if kind == "function_call_output":
        return f"output: {item['output']}"
    if kind == "reasoning":
        return "(reasoning)"
    content = item.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", f"({part.get('type')})")) for part in content)
    return f"{item.get('role', kind)}: {content}"


@asynccontextmanager
async def _scene(job: Job, stores: Stores, url: str, played: Played) -> AsyncGenerator[Scene]:
    async with AsyncExitStack() as stack:
        ws = await stack.enter_async_context(Workspace.open())
        scene: Scene
        api = await stack.enter_async_context(
            ResponsesServer.open(brain=lambda request: scene.player(request))
        )
        scene = Scene(job, ws, api, stores, played)
        for name, changes in job.people.items():
            for key, value in changes.items():
                setattr(ws.people[USERS[name]], key, value)
        for channel, text in job.canvases.items():
            await ws.write_canvas(ADA, scene.channel(channel, ADA), channel, text, own=True)
        settings: dict[str, Any] = {"model": {"stateless": played.stateless}, **job.settings}
        if job.databases:
            settings["databases"] = {
                name: DatabaseConfig(url=SecretStr(f"sqlite:///{path.absolute()}"))
                for name, path in job.databases.items()
            }
        settings |= await _servers(job, stack)
        await stack.enter_async_context(
            bot(configured(ws, api, url, **settings), run_case=run_trial_case)
        )
        for act in job.before:
            channel = scene.channel(act.place or job.place, USERS[act.by])
            thread = None if act.fresh or not scene.thread else scene.thread
            files = [(path.name, path.read_bytes()) for path in act.files]
            said = await ws.say(USERS[act.by], channel, act.say or "", thread, files)
            if not act.fresh:
                scene.thread = scene.thread or said["ts"]
        await ws.until(lambda: not ws.delivery.under_way, _SECONDS)
        yield scene


async def _servers(job: Job, stack: AsyncExitStack) -> dict[str, Any]:
    """Start the servers beside the bot, and return the settings for them."""
    settings: dict[str, Any] = {}
    if "library" in job.beside:
        url = await stack.enter_async_context(served(library()))
        settings["mcpServers"] = {"books": {"url": url}}
    if "searches" in job.beside:
        there = await stack.enter_async_context(provider("searxng"))
        settings["web_search"] = there.config()
    return settings


async def play(job: Job, url: str, *, stateless: bool = False) -> Played:
    """Play a job with an empty Redis at `url`."""
    played = Played(job.name, stateless)
    async with Redis.from_url(url) as client:
        await client.flushall()
    async with open_stores(url) as stores, _scene(job, stores, url, played) as scene:
        effects = len(scene.ws.effects)
        try:
            for act in job.acts:
                await scene.play(act)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what came of the job
            played.problems.append(f"{type(error).__name__}: {error}")
            scene.tell_requests()
        scene.measure(effects)
    return played
