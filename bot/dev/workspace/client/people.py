"""What a person does in the Slack client."""

import secrets
from collections.abc import Sequence
from typing import Any
from zoneinfo import available_timezones

from bot.dev.workspace.client import modals, view_stacks, workflows
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import CannotDo
from bot.dev.workspace.events import elements, interactivity
from bot.dev.workspace.messaging import membership, posting
from bot.dev.workspace.messaging.canvas_files import make_canvas
from bot.dev.workspace.messaging.reacting import add_reaction
from bot.dev.workspace.messaging.streaming import stop_by_user
from bot.dev.workspace.messaging.text import escape, rich_text
from bot.dev.workspace.messaging.uploads import attach, share_events
from bot.dev.workspace.store.messages import without_metadata
from bot.dev.workspace.store.state import Attachable, Channel, Execution, Json, Pin


class People(Core):
    """The client's side; raises CannotDo where the client would not let a person do it."""

    def allow(self, url: str, user: str, *, organisation: str | None = None) -> str:
        """Grant the app what the page at `url` asks for; where the browser is sent then."""
        return self.oauth.consent(self, url, user, organisation)

    def uninstall(self) -> None:
        """Take the app out: its tokens end, and it hears so twice, in no order that counts."""
        self.revoke()
        self.emit({"type": "app_uninstalled"})

    async def say(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str | None = None,
        files: Sequence[Attachable] = (),
        *,
        broadcast: bool = False,
        **event_fields: Any,
    ) -> Json:
        """Post as a person. `<@U…>` mentions; other angle brackets and ampersands are escaped. A
        `broadcast` is a reply that is also sent to the channel."""
        place = self._place(user, channel)
        if not text.strip() and not files and not event_fields.get("attachments"):
            raise CannotDo("an empty message cannot be sent")
        if thread_ts is not None:
            root = self._message(place, thread_ts)
            thread_ts = root.get("thread_ts", root["ts"])
        escaped = escape(text)
        message: Json = {
            "type": "message",
            "user": user,
            "text": escaped,
            "client_msg_id": secrets.token_hex(16),
            "team": self.people[user].team_id,
            "blocks": rich_text(text, posting.new_block_id()),
            **({"thread_ts": thread_ts} if thread_ts else {}),
            **event_fields,
        }
        if place.kind == "im" and user in self.state.beside:
            message["app_context"] = self._context(user)
        shared = [attach(self, user, place, file) for file in files]
        if shared:
            message |= {
                "subtype": "file_share",
                "upload": False,
                "files": shared,
                "display_as_bot": False,
            }
        if broadcast and thread_ts is not None:
            message |= {"subtype": "thread_broadcast", "root": without_metadata(root)}
        posted = posting.post(self, place, message)
        share_events(self, user, place, posted)
        posting.hint_at_absence(self, place, posted)
        return dict(posted)

    async def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        """Change one's own message."""
        place = self._place(user, channel)
        message = self._own(user, place, ts)
        blocks = rich_text(text, posting.new_block_id())
        posting.change(self, place, message, edited_by=user, text=escape(text), blocks=blocks)

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """Delete a message: one's own, or as an admin any."""
        place = self._place(user, channel)
        admin = self.people[user].is_admin
        posting.delete(
            self, place, self._message(place, ts) if admin else self._own(user, place, ts)
        )

    async def react(self, user: str, channel: str, ts: str, name: str) -> None:
        """Add an emoji to a message."""
        place = self._place(user, channel)
        add_reaction(self, place, self._message(place, ts), user, name)

    async def pin(self, user: str, channel: str, ts: str) -> None:
        """Pin a message to its channel."""
        place = self._place(user, channel)
        self._message(place, ts)
        if any(pin.ts == ts for pin in place.pins):
            raise CannotDo("that message is pinned already")
        place.pins.append(Pin(ts, user, int(self.clock.now())))

    async def write_canvas(
        self, user: str, channel: str, title: str, markdown: str, *, own: bool = False
    ) -> str:
        """Make a canvas in a channel, with `own` the channel's own; its id."""
        place = self._place(user, channel)
        if own and place.canvas:
            raise CannotDo(f"#{place.name} has a canvas")
        canvas = make_canvas(self, user, title, markdown, [place]).id
        place.canvas = canvas if own else place.canvas
        return canvas

    async def click(
        self,
        user: str,
        channel: str,
        ts: str,
        action_id: str,
        *,
        value: Any = None,
        block_id: str | None = None,
    ) -> Json:
        """Use an element of a message (`value`: what is chosen); returns the app's acknowledgement.

        Raises CannotDo when there is no such element, NotAnswered when the app did not acknowledge.
        """
        place = self._place(user, channel)
        message = self.store.ephemeral(channel, ts, user) or self._message(place, ts)
        where, element = elements.find(message.get("blocks", []), action_id, block_id, value)
        payload = interactivity.message_click(self, user, place, message, where, element, value)
        return await self.delivery.ask("interactive", payload)

    async def click_in_view(
        self,
        user: str,
        view_id: str,
        action_id: str,
        *,
        value: Any = None,
        block_id: str | None = None,
    ) -> Json:
        """Use an element of the modal on top or of one's Home tab."""
        home = self.state.homes.get(user)
        view = home if home and home["id"] == view_id else view_stacks.top_view(self, user, view_id)
        where, element = elements.find(view["blocks"], action_id, block_id, value)
        if element["type"] != "button":
            view["state"]["values"].setdefault(where, {})[action_id] = elements.state_of(
                element, value
            )
        payload = interactivity.view_click(self, user, view, where, element, value)
        return await self.delivery.ask("interactive", payload)

    async def shortcut(
        self, user: str, callback_id: str, *, channel: str | None = None, ts: str | None = None
    ) -> str:
        """Use a shortcut, on a message when `ts` is given; returns the trigger_id."""
        if channel is not None and ts is not None:
            place = self._place(user, channel)
            message = self._message(place, ts)
            payload = interactivity.message_action(self, user, place, message, callback_id)
        else:
            payload = interactivity.global_shortcut(self, user, callback_id)
        await self.delivery.ask("interactive", payload)
        return str(payload["trigger_id"])

    async def command(self, user: str, channel: str, command: str, text: str = "") -> Json:
        """Type a slash command; what the app answers at once is shown to the person."""
        place = self._place(user, channel)
        payload = interactivity.slash_command(self, user, place, command, text)
        answer = await self.delivery.ask("slash_commands", payload)
        if answer.get("text") or answer.get("blocks"):
            modals.show_command_answer(self, user, place, answer)
        return answer

    async def submit(self, user: str, view_id: str, values: Json | None = None) -> Json:
        """Submit the modal on top; `values` as {block_id: {action_id: state or plain value}}.

        Returns the app's acknowledgement, or the client's own errors for inputs left empty or too long.
        """
        return await modals.submit(
            self, user, view_stacks.top_view(self, user, view_id), values or {}
        )

    async def close_view(self, user: str, view_id: str) -> None:
        """Close the modal on top, with all below it if it says so."""
        await modals.close(self, user, view_stacks.top_view(self, user, view_id))

    async def open_home(self, user: str, tab: str = "home") -> None:
        """Open the app's Home or Messages tab, by itself: no channel is open beside it then."""
        direct = self.state.direct(user)
        if direct is None:
            raise CannotDo(f"{user} has no conversation with the app")
        self.state.beside.pop(user, None)
        event: Json = {"type": "app_home_opened", "user": user, "channel": direct.id, "tab": tab}
        home = self.home(user)
        self.emit(event | ({"view": home} if home and tab == "home" else {}))

    def be_in(self, user: str, zone: str) -> None:
        """Have somebody's profile follow the time zone of their device, as Slack's clients do; one
        that is not known here is passed over."""
        if zone in available_timezones():
            self.people[user].tz = zone

    async def look_at(self, user: str, channel: str | None) -> None:
        """Have a channel open beside the app's pane, or none: the app is told of the context."""
        direct = self.state.direct(user)
        if channel is None:
            self.state.beside.pop(user, None)
        else:
            self.state.beside[user] = self._place(user, channel).id
        event = {"type": "app_context_changed", "user": user, "context": self._context(user)}
        self.emit(event | {"channel": direct.id if direct else None})

    def _context(self, user: str) -> Json:
        """What the app is told of the channel that somebody has open beside its pane."""
        channel = self.state.beside.get(user)
        if channel is None:
            return {"entities": []}
        kind = "slack#/types/channel_id"
        return {"entities": [{"type": kind, "value": channel, "team_id": self.team_id}]}

    async def run_step(
        self, function: str, inputs: Json, outputs: Sequence[str], *, by: str | None = None
    ) -> str:
        """Have a workflow come to the app's step, which declares these `outputs`; returns the id of
        the execution. Of who started the workflow (`by`) Slack tells the app nothing."""
        return workflows.start_step(self, function, inputs, outputs, by)

    def execution(self, execution: str) -> Execution:
        """How an execution of the app's step stands."""
        return self.state.executions[execution]

    async def stop_session(self, user: str, channel: str, thread_ts: str | None) -> None:
        """Press Stop in a thread in which the app is working."""
        stop_by_user(self, user, self._place(user, channel), thread_ts)

    async def invite(self, inviter: str, channel: str, user: str) -> None:
        """Add somebody, or the bot, to a channel."""
        membership.join(self, self._place(inviter, channel), user, inviter)

    async def remove(self, remover: str, channel: str, user: str) -> None:
        """Take somebody, or the bot, out of a channel; oneself to leave it."""
        membership.leave(self, self._place(remover, channel), user, remover)

    async def deactivate(self, admin: str, user: str) -> None:
        """End the account of somebody who has left."""
        membership.deactivate(self, user, admin)

    async def archive(self, user: str, channel: str) -> None:
        """Archive a channel."""
        membership.archive(self, self._place(user, channel), user)

    def _place(self, user: str, channel: str) -> Channel:
        if user not in self.people or self.people[user].is_deactivated:
            raise CannotDo(f"there is no {user}")
        place = self.channels.get(channel)
        if place is None or user not in place.members:
            raise CannotDo(f"{user} is not in {channel}")
        if place.archived:
            raise CannotDo(f"#{place.name} is archived")
        return place

    def _message(self, place: Channel, ts: str) -> Json:
        message = self.store.get(place.id, ts)
        if message is None:
            raise CannotDo(f"no message {ts} in {place.id}")
        return message

    def _own(self, user: str, place: Channel, ts: str) -> Json:
        message = self._message(place, ts)
        if message["user"] != user:
            raise CannotDo("that is somebody else's message")
        return message
