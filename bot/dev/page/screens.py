"""The workspace as one viewer sees it, as values for the templates."""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.dev.page.address import TABS, Address
from bot.dev.page.canvases import canvas_markdown, find_canvas
from bot.dev.page.examples import EXAMPLES, SAMPLES
from bot.dev.page.render import Renderer, Scene
from bot.dev.page.sidebar import sidebar, title, visible
from bot.dev.workspace import Channel, Workspace

Json = dict[str, Any]


class Screens:
    """Renders the page and its fragments from the current state of the workspace."""

    def __init__(
        self,
        ws: Workspace,
        *,
        notice: str,
        shortcuts: Sequence[Json],
        functions: Mapping[str, Json],
    ) -> None:
        self._ws = ws
        self._renderer = Renderer()
        self._notice = notice
        self._shortcuts = shortcuts
        self._functions = functions

    def address(self, query: Mapping[str, str]) -> Address:
        """Return the place a query leads to; an unknown or forbidden one becomes the nearest visible one.

        The bot's direct message with somebody else becomes the viewer's own.
        """
        ws = self._ws
        user = query.get("user", "")
        people = [each.id for each in ws.people.values() if not each.is_deactivated]
        user = user if user in people else people[0]
        channel = query.get("channel", "")
        if self._is_bot_dm(channel) and (own := ws.state.direct(user)):
            channel = own.id
        if channel not in ws.channels or user not in ws.channels[channel].members:
            own_channels = visible(ws, user)
            return Address(user, own_channels[0].id if own_channels else "")
        thread = query.get("thread", "")
        known = bool(thread) and ws.store.get(channel, thread) is not None
        tab = query.get("tab", "")
        if tab not in TABS or (tab == "home" and not self._is_bot_dm(channel)):
            tab = "messages"
        return Address(user, channel, thread if known else "", tab)

    def scene(self, user: str) -> Scene:
        """Return the names for the renderers."""
        everyone = self._ws.state.everyone()
        return Scene(
            viewer=user,
            bot=self._ws.bot_user_id,
            locale=self._locale(user),
            is_admin=everyone[user].is_admin if user in everyone else False,
            people={person.id: person.real_name for person in everyone.values()},
            channels={
                c.id: c.name
                for c in self._ws.channels.values()
                if user in c.members and not c.is_direct
            },
            archived=frozenset(c.id for c in self._ws.channels.values() if c.archived),
        )

    def page(self, at: Address) -> str:
        """Return the whole document."""
        values = self._pane(at) | self._sidebar(at)
        if at.thread_ts:
            values |= self._thread(at)
        return self._render(
            "index.html",
            at,
            **values,
            notice=self._notice,
            global_shortcuts=[s for s in self._shortcuts if s.get("type") == "global"],
            message_shortcuts=[s for s in self._shortcuts if s.get("type") == "message"],
            functions=self._functions,
            samples=SAMPLES,
        )

    def sidebar(self, at: Address) -> str:
        """Return the sidebar."""
        return self._render("sidebar.html", at, **self._sidebar(at))

    def pane(self, at: Address) -> str:
        """Return the channel, direct message or Home tab."""
        return self._render("pane.html", at, **self._pane(at))

    def thread(self, at: Address) -> str:
        """Return the thread panel, "" without a thread."""
        return self._render("thread.html", at, **self._thread(at)) if at.thread_ts else ""

    def canvas(self, key: str, user: str) -> str | None:
        """Return a canvas as a document of its own, None if this person has no such canvas."""
        found = find_canvas(self._ws, key, user)
        if found is None:
            return None
        file, viewer = found
        text = canvas_markdown(file)
        return self._render("canvas.html", Address(viewer, ""), file=file, text=text)

    def modals(self, user: str) -> str:
        """Return the modal on top, "" without one."""
        views = self._ws.views(user)[-1:]
        return self._render("modals.html", Address(user, ""), views=views).strip()

    def home(self, user: str) -> str:
        """Return the content of the Home tab."""
        return self._render("home.html", Address(user, ""), home=self._ws.home(user))

    def step(self, user: str, execution: str) -> str:
        """Return the end of a workflow step: its outputs under their titles, or its error."""
        ended = self._ws.execution(execution)
        declared = self._functions[ended.function]["output_parameters"]["properties"]
        return self._render("outputs.html", Address(user, ""), ended=ended, declared=declared)

    def message(self, at: Address, message: Json, place: str) -> str:
        """Return one message as it looks in the "channel" or in the "thread"."""
        return self._render(
            "message.html",
            at,
            place=place,
            message=self._shown(at, [message])[0],
            **self._conversation_values(at),
        )

    def status(self, at: Address, thread_ts: str, *, inline: bool) -> str:
        """Return the status line of a thread ("" for the conversation itself)."""
        status = self._status(at.channel, thread_ts)
        return self._render("status.html", at, status=status, inline=inline).strip()

    def prompts(self, at: Address, thread_ts: str) -> str:
        """Return the suggested prompts of a thread or conversation."""
        return self._render(
            "prompts.html", at, prompts=self._prompts(at.channel, thread_ts)
        ).strip()

    def _render(self, template: str, at: Address, **values: Any) -> str:
        return self._renderer.render(template, self.scene(at.user), **values)

    def _sidebar(self, at: Address) -> Json:
        return {"channel": at.channel, **sidebar(self._ws, at.user)}

    def _conversation_values(self, at: Address) -> Json:
        """Return the values that messages and composers need of their conversation."""
        channel = self._ws.channels.get(at.channel)
        members = channel.members if channel else []
        return {
            "channel": at.channel,
            "title": title(self._ws, channel, at.user),
            "has_bot": self._ws.bot_user_id in members,
            "is_bot_dm": self._is_bot_dm(at.channel),
            "is_direct": channel is not None and channel.is_direct,
            "read_only": _read_only(channel),
            "status_of": lambda thread_ts: self._status(at.channel, thread_ts),
        }

    def _pane(self, at: Address) -> Json:
        channel = self._ws.channels.get(at.channel)
        values = self._conversation_values(at) | {
            "tab": at.tab,
            "topic": channel.topic if channel else "",
            "place_icon": "lock" if channel and channel.kind == "private" else "",
            "examples": EXAMPLES.get(self._locale(at.user)[:2], EXAMPLES["en"]),
            "thread": at.thread_ts,
            "beside": self._ws.state.beside.get(at.user, ""),
            "channel_names": {c.id: c.name for c in visible(self._ws, at.user) if not c.is_direct},
        }
        if at.tab == "home":
            return values | {"home": self._ws.home(at.user)}
        messages = self._ws.messages(at.channel, viewer=at.user) if channel else []
        return values | {
            "messages": self._shown(at, messages),
            "status": self._status(at.channel, ""),
            "prompts": self._prompts(at.channel, ""),
        }

    def _thread(self, at: Address) -> Json:
        replies = self._ws.messages(at.channel, at.thread_ts, at.user)
        return self._conversation_values(at) | {
            "thread_ts": at.thread_ts,
            "replies": self._shown(at, replies),
            "thread_status": self._status(at.channel, at.thread_ts),
            "thread_prompts": self._prompts(at.channel, at.thread_ts),
        }

    def _shown(self, at: Address, messages: list[Json]) -> list[Json]:
        return [self._with_state(at.channel, message) for message in messages]

    def _with_state(self, channel: str, message: Json) -> Json:
        """Return a message with `streaming` set.

        A person's message loses its blocks: the page renders its text, which says the same.
        """
        stream = self._ws.state.streams.get((channel, message["ts"]))
        shown = message | {"streaming": stream is not None and stream.state == "live"}
        if not message.get("bot_id"):
            shown.pop("blocks", None)
        return shown

    def _status(self, channel: str, thread_ts: str) -> Json | None:
        """Return the status line; after the time `until` its text becomes `otherwise`."""
        status = self._ws.status(channel, thread_ts or None)
        working = status.session == "processing"
        has_stop = "agent_session_stopped" not in self._ws.state.not_subscribed
        otherwise = "is working…" if working else ""
        if not status.text and not working:
            return None
        return {
            "text": status.text or otherwise,
            "loading_messages": list(status.loading_messages),
            "until": status.until,
            "otherwise": otherwise,
            "waiting": status.session == "suspended",
            "stoppable": working and has_stop,
            "channel": channel,
            "thread_ts": thread_ts,
        }

    def _locale(self, user: str) -> str:
        return self._ws.people[user].locale if user in self._ws.people else "en-US"

    def _prompts(self, channel: str, thread_ts: str) -> Json | None:
        prompts = self._ws.status(channel, thread_ts or None).prompts
        return {"prompts": prompts} if prompts else None

    def _is_bot_dm(self, channel_id: str) -> bool:
        channel = self._ws.channels.get(channel_id)
        return (
            channel is not None and channel.kind == "im" and self._ws.bot_user_id in channel.members
        )


def _read_only(channel: Channel | None) -> str:
    """Return why nobody can write in the channel; "" where people can."""
    if channel is None:
        return "There is no conversation to write in."
    return (
        f"#{channel.name} is archived: it can be read, not written in." if channel.archived else ""
    )
