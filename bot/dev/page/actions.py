"""What a person does on the page. Each action takes the decoded request and answers JSON."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from bot.dev.page.compose import as_slack_text
from bot.dev.page.render.text import clean
from bot.dev.page.sending import SentMessage, read_form
from bot.dev.page.sidebar import LANGUAGES
from bot.dev.page.words import WORDS, worded
from bot.dev.workspace import CannotDo, NotAnswered, Workspace

Json = dict[str, Any]

_MEMBERS = ("/invite", "/remove")  # commands of Slack itself
_MENTIONED = re.compile(r"<@(\w+)>")
TOO_LATE = "The app did not answer in time. Is the bot running? Its log says more."


class BadRequest(Exception):
    """The page never sends such a request; the message says what is wrong with it."""


class Actions:
    """The actions by name.

    `commands` are the app's slash commands, `functions` its workflow steps by callback id.
    """

    def __init__(self, ws: Workspace, commands: list[str], functions: Mapping[str, Json]) -> None:
        self._ws = ws
        self._commands = commands
        self._functions = functions
        self._actions: dict[str, Callable[[Json], Awaitable[Json | None]]] = {
            "edit": self._edit,
            "delete": self._delete,
            "react": self._react,
            "click": self._click,
            "shortcut": self._shortcut,
            "submit": self._submit,
            "close": self._close,
            "home": self._home,
            "beside": self._beside,
            "language": self._language,
            "step": self._step,
            "stop": self._stop,
        }

    async def say(self, request: web.Request) -> web.Response:
        """Send a message or slash command: multipart with user, channel, text, thread_ts and files."""
        try:
            sent = await read_form(request)
        except ValueError:
            raise web.HTTPBadRequest(text="a multipart form is expected") from None
        return await self._answer(self._say(sent), sent.user)

    async def do(self, request: web.Request) -> web.Response:
        """Do any other action; the request is JSON `{"do": name, "user": …, …}`."""
        body = await _read_json(request)
        return await self._answer(self._dispatch(body), body.get("user"))

    async def _dispatch(self, body: Json) -> Json | None:
        if wrong := [name for name in body if not _has_valid_type(name, body[name])]:
            raise BadRequest(f"{wrong[0]} is of the wrong kind")
        action = self._actions.get(str(body.get("do")))
        if action is None or body.get("user") not in self._ws.people:
            raise BadRequest("unknown action or user")
        try:
            return await action(body)
        except KeyError as missing:
            raise BadRequest(f"{missing} is missing") from None

    async def _say(self, sent: SentMessage) -> Json:
        self._require_member(sent.user, sent.channel)
        command, _, rest = sent.text.strip().partition(" ")
        if sent.thread_ts and command in (*self._commands, *_MEMBERS):
            text = "{command} is not supported in threads, as in Slack"
            raise CannotDo(text, command=command)
        if command in self._commands and not sent.files:
            await self._ws.command(sent.user, sent.channel, command, rest.strip())
            return {}
        if command in _MEMBERS and not sent.files:
            await self._change_members(sent, command, rest)
            return {}
        if command[1:].isalpha() and sent.text.startswith("/"):
            text = "{command} is no command here. A space before it sends it as a message"
            raise CannotDo(text, command=command)
        if not sent.text.strip() and not sent.files:
            raise CannotDo("There is nothing to send yet.")
        text = self._as_slack_text(sent.user, sent.text.strip())
        posted = await self._ws.say(sent.user, sent.channel, text, sent.thread_ts, sent.files)
        return {"ts": posted["ts"]}

    async def _change_members(self, sent: SentMessage, command: str, named: str) -> None:
        people = _MENTIONED.findall(self._as_slack_text(sent.user, named))
        if not people:
            text = "Write {command} and a name, such as {command} @{name}"
            raise CannotDo(text, command=command, name=self._bot_name)
        change = self._ws.invite if command == "/invite" else self._ws.remove
        for person in people:
            await change(sent.user, sent.channel, person)

    @property
    def _bot_name(self) -> str:
        return self._ws.state.everyone()[self._ws.bot_user_id].real_name

    async def _edit(self, body: Json) -> None:
        text = self._as_slack_text(body["user"], str(body["text"]))
        await self._ws.edit(body["user"], body["channel"], body["ts"], text)

    async def _delete(self, body: Json) -> None:
        await self._ws.delete(body["user"], body["channel"], body["ts"])

    async def _react(self, body: Json) -> None:
        """Add the reaction, or take it back if the person added it before."""
        user, name = body["user"], body["name"]
        message = self._ws.store.get(body["channel"], body["ts"]) or {}
        has_reacted = any(
            r["name"] == name and user in r["users"] for r in message.get("reactions", [])
        )
        if has_reacted:
            await self._ws.take_reaction_back(user, body["channel"], body["ts"], name)
        else:
            await self._ws.react(user, body["channel"], body["ts"], name)

    async def _click(self, body: Json) -> None:
        user, action, value = body["user"], body["action_id"], body.get("value")
        block = body.get("block_id") or None
        if view := body.get("view_id"):
            values = body.get("values")
            await self._ws.click_in_view(
                user, view, action, value=value, block_id=block, values=values
            )
        else:
            channel, ts = body["channel"], body["ts"]
            await self._ws.click(user, channel, ts, action, value=value, block_id=block)

    async def _shortcut(self, body: Json) -> None:
        await self._ws.shortcut(
            body["user"], body["callback_id"], channel=body.get("channel"), ts=body.get("ts")
        )

    async def _submit(self, body: Json) -> Json:
        ack = await self._ws.submit(body["user"], body["view_id"], body["values"])
        return {"errors": ack["errors"]} if ack.get("errors") else {}

    async def _close(self, body: Json) -> None:
        await self._ws.close_view(body["user"], body["view_id"])

    async def _home(self, body: Json) -> None:
        await self._ws.open_home(body["user"], body["tab"])

    async def _beside(self, body: Json) -> None:
        await self._ws.look_at(body["user"], body["channel"] or None)

    async def _language(self, body: Json) -> None:
        if body["locale"] not in LANGUAGES:
            raise BadRequest("no such language")
        self._ws.choose_language(body["user"], body["locale"])

    async def _step(self, body: Json) -> Json:
        function, inputs = str(body["function"]), body["inputs"]
        if function not in self._functions or not isinstance(inputs, dict):
            raise BadRequest("no such step")
        outputs = list(self._functions[function]["output_parameters"]["properties"])
        given = {name: value for name, value in inputs.items() if value}
        return {"execution": await self._ws.run_step(function, given, outputs, by=body["user"])}

    async def _stop(self, body: Json) -> None:
        thread_ts = body.get("thread_ts") or None
        await self._ws.stop_session(body["user"], body["channel"], thread_ts)

    async def _answer(self, action: Awaitable[Json | None], user: object) -> web.Response:
        """Return the action's result, or `{"error": a sentence for the person}` in their language.

        An action that Slack does not offer has status 200, as in Slack's API: browsers log other statuses
        as errors.
        """
        person = self._ws.people.get(str(user))
        locale = person.locale if person else "en-US"
        try:
            return web.json_response(await action or {})
        except CannotDo as problem:
            said = worded(problem.text, locale, **problem.values) if problem.text in WORDS else ""
            return web.json_response({"error": _sentence(said or str(problem))})
        except NotAnswered:
            return web.json_response({"error": worded(TOO_LATE, locale)}, status=504)
        except BadRequest as problem:
            return web.json_response(
                {"error": f"The page sent a wrong request: {problem}."}, status=400
            )

    def _require_member(self, user: str, channel_id: str) -> None:
        channel = self._ws.channels.get(channel_id)
        if channel is None or user not in channel.members:
            raise CannotDo("You are not in this conversation")

    def _as_slack_text(self, user: str, typed: str) -> str:
        """Return what Slack's composer would send.

        Only the person's own channels become links: otherwise a name typed at random would show
        whether there is a private channel of that name.
        """
        people = {person.real_name: person.id for person in self._ws.state.everyone().values()}
        people |= {person.name: person.id for person in self._ws.state.everyone().values()}
        channels = {
            channel.name: channel.id
            for channel in self._ws.channels.values()
            if user in channel.members and not channel.is_direct
        }
        return as_slack_text(typed.replace("\r\n", "\n"), people, channels)


def _has_valid_type(name: str, value: object) -> bool:
    """Whether a field holds text or nothing, except the fields that carry the values of a form."""
    if name == "values":
        return isinstance(value, dict) and all(isinstance(each, dict) for each in value.values())
    return name in ("value", "inputs") or value is None or isinstance(value, str)


def _sentence(problem: str) -> str:
    text = clean(problem).rstrip(".")
    end = "" if text.endswith("。") else "."
    return f"{text[:1].upper()}{text[1:]}{end}"


async def _read_json(request: web.Request) -> Json:
    try:
        body = await request.json()
    except (ValueError, LookupError):  # not JSON, or an unknown encoding
        body = None
    if not isinstance(body, dict):
        raise web.HTTPBadRequest(text="a JSON object is expected")
    return body
