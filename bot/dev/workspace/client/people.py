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
from bot.dev.workspace.messaging.reacting import add_reaction, remove_reaction
from bot.dev.workspace.messaging.streaming import stop_by_user
from bot.dev.workspace.messaging.text import escape, rich_text
from bot.dev.workspace.messaging.uploads import attach, share_events
from bot.dev.workspace.store.messages import without_metadata
from bot.dev.workspace.store.state import Attachable, Channel, Execution, Json, Pin


class People(Core):
    """The client's side; raises CannotDo for anything the client would not let a person do."""

    def allow(self, url: str, user: str, *, organisation: str | None = None) -> str:
        """Grant the app what the page at `url` asks for; return where the browser is sent then."""
        return self.oauth.consent(self, url, user, organisation)

    def sign_in(self, url: str, user: str) -> str:
        """Sign in at the page at `url`; return where the browser is sent then."""
        return self.oauth.sign_in(self, url, user)

    def uninstall(self) -> None:
        """Uninstall the app: its tokens are revoked, and it gets two events in any order."""
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
        """Post as a person.

        Mentions `<@U…>` and links stay; other angle brackets and ampersands are escaped. A
        `broadcast` is a reply that the channel shows too.
        """
        conversation = self._conversation(user, channel)
        if not text.strip() and not files and not event_fields.get("attachments"):
            raise CannotDo("an empty message cannot be sent")
        if thread_ts is not None:
            root = self._message(conversation, thread_ts)
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
            **posting.of_app(self.people[user]),
            **event_fields,
        }
        if conversation.kind == "im" and user in self.state.beside:
            message["app_context"] = self._context(user)
        shared = [attach(self, user, conversation, file) for file in files]
        if shared:
            message |= {
                "subtype": "file_share",
                "upload": False,
                "files": shared,
                "display_as_bot": False,
            }
        if broadcast and thread_ts is not None:
            message |= {"subtype": "thread_broadcast", "root": without_metadata(root)}
        posted = posting.post(self, conversation, message)
        share_events(self, user, conversation, posted)
        posting.hint_at_absence(self, conversation, posted)
        return dict(posted)

    async def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        """Change one's own message."""
        conversation = self._conversation(user, channel)
        message = self._own(user, conversation, ts)
        blocks = rich_text(text, posting.new_block_id())
        posting.change(
            self, conversation, message, edited_by=user, text=escape(text), blocks=blocks
        )

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """Delete one's own message, or as an admin any message."""
        conversation = self._conversation(user, channel)
        admin = self.people[user].is_admin
        posting.delete(
            self,
            conversation,
            self._message(conversation, ts) if admin else self._own(user, conversation, ts),
        )

    async def react(self, user: str, channel: str, ts: str, name: str) -> None:
        """Add a reaction to a message."""
        conversation = self._conversation(user, channel)
        add_reaction(self, conversation, self._message(conversation, ts), user, name)

    async def take_reaction_back(self, user: str, channel: str, ts: str, name: str) -> None:
        """Remove one's own reaction."""
        conversation = self._conversation(user, channel)
        remove_reaction(self, conversation, self._message(conversation, ts), user, name)

    async def pin(self, user: str, channel: str, ts: str) -> None:
        """Pin a message to its channel."""
        conversation = self._conversation(user, channel)
        self._message(conversation, ts)
        if any(pin.ts == ts for pin in conversation.pins):
            raise CannotDo("that message is pinned already")
        conversation.pins.append(Pin(ts, user, int(self.clock.now())))

    async def write_canvas(
        self, user: str, channel: str, title: str, markdown: str, *, own: bool = False
    ) -> str:
        """Create a canvas in a channel, with `own` the channel's own one, and return its id."""
        conversation = self._conversation(user, channel)
        if own and conversation.canvas:
            raise CannotDo(f"#{conversation.name} has a canvas")
        canvas = make_canvas(self, user, title, markdown, [conversation]).id
        conversation.canvas = canvas if own else conversation.canvas
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
        """Use an element of a message and return the app's acknowledgement.

        `value` is what the person chose. Raises CannotDo when there is no such element, NotAnswered
        when the app did not acknowledge.
        """
        conversation = self._conversation(user, channel)
        message = self.store.ephemeral(channel, ts, user) or self._message(conversation, ts)
        where, element = elements.find(message.get("blocks", []), action_id, block_id, value)
        payload = interactivity.message_click(
            self, user, conversation, message, where, element, value
        )
        return await self.delivery.ask("interactive", payload)

    async def click_in_view(
        self,
        user: str,
        view_id: str,
        action_id: str,
        *,
        value: Any = None,
        block_id: str | None = None,
        values: Json | None = None,
    ) -> Json:
        """Use an element of the modal on top or of one's Home tab.

        `values` are what was typed into the modal meanwhile, as for `submit`.
        """
        home = self.state.homes.get(user)
        view = home if home and home["id"] == view_id else view_stacks.top_view(self, user, view_id)
        where, element = elements.find(view["blocks"], action_id, block_id, value)
        if element["type"] != "button":
            view["state"]["values"].setdefault(where, {})[action_id] = elements.state_of(
                element, value
            )
        if view["type"] == "modal":
            view["state"] = {"values": modals.fill_in(view, values or {})}
        payload = interactivity.view_click(self, user, view, where, element, value)
        return await self.delivery.ask("interactive", payload)

    async def shortcut(
        self, user: str, callback_id: str, *, channel: str | None = None, ts: str | None = None
    ) -> str:
        """Use a shortcut, on a message if `ts` is given, and return the trigger_id."""
        if channel is not None and ts is not None:
            conversation = self._conversation(user, channel)
            message = self._message(conversation, ts)
            payload = interactivity.message_action(self, user, conversation, message, callback_id)
        else:
            payload = interactivity.global_shortcut(self, user, callback_id)
        await self.delivery.ask("interactive", payload)
        return str(payload["trigger_id"])

    async def command(self, user: str, channel: str, command: str, text: str = "") -> Json:
        """Type a slash command and show the app's immediate answer to the person."""
        conversation = self._conversation(user, channel)
        payload = interactivity.slash_command(self, user, conversation, command, text)
        answer = await self.delivery.ask("slash_commands", payload)
        if answer.get("text") or answer.get("blocks"):
            modals.show_command_answer(self, user, conversation, answer)
        return answer

    async def submit(self, user: str, view_id: str, values: Json | None = None) -> Json:
        """Submit the modal on top; `values` is {block_id: {action_id: state or plain value}}.

        Returns the app's acknowledgement, or the client's own errors for inputs left empty or too
        long.
        """
        return await modals.submit(
            self, user, view_stacks.top_view(self, user, view_id), values or {}
        )

    async def close_view(self, user: str, view_id: str) -> None:
        """Close the modal on top, and all below it if it says so."""
        await modals.close(self, user, view_stacks.top_view(self, user, view_id))

    async def open_home(self, user: str, tab: str = "home") -> None:
        """Open the app's Home or Messages tab by itself, next to no channel."""
        direct = self.state.direct(user)
        if direct is None:
            raise CannotDo(f"{user} has no conversation with the app")
        self.state.beside.pop(user, None)
        event: Json = {"type": "app_home_opened", "user": user, "channel": direct.id, "tab": tab}
        home = self.home(user)
        self.emit(event | ({"view": home} if home and tab == "home" else {}))

    def be_in(self, user: str, zone: str) -> None:
        """Set a person's time zone to that of their device; an unknown zone is ignored."""
        if zone in available_timezones():
            self.people[user].tz = zone

    def choose_language(self, user: str, locale: str) -> None:
        """Choose one's language in the preferences; the app gets a `user_change`."""
        self.people[user].locale = locale
        membership.announce_change(self, user)

    async def look_at(self, user: str, channel: str | None) -> None:
        """Open a channel next to the app's pane, or none, and send the app the new context."""
        direct = self.state.direct(user)
        if channel is None:
            self.state.beside.pop(user, None)
        else:
            self.state.beside[user] = self._conversation(user, channel).id
        event = {"type": "app_context_changed", "user": user, "context": self._context(user)}
        self.emit(event | {"channel": direct.id if direct else None})

    def _context(self, user: str) -> Json:
        """Return the context for the app: the channel that is open next to its pane."""
        channel = self.state.beside.get(user)
        if channel is None:
            return {"entities": []}
        kind = "slack#/types/channel_id"
        return {"entities": [{"type": kind, "value": channel, "team_id": self.team_id}]}

    async def run_step(
        self, function: str, inputs: Json, outputs: Sequence[str], *, by: str | None = None
    ) -> str:
        """Run the app's step in a workflow that declares these `outputs`; return the execution's id.

        Slack does not tell the app who started the workflow (`by`).
        """
        return workflows.start_step(self, function, inputs, outputs, by)

    def execution(self, execution: str) -> Execution:
        """Return the state of an execution of the app's step."""
        return self.state.executions[execution]

    async def stop_session(self, user: str, channel: str, thread_ts: str | None) -> None:
        """Press Stop in a thread in which the app is working."""
        stop_by_user(self, user, self._conversation(user, channel), thread_ts)

    async def invite(self, inviter: str, channel: str, user: str) -> None:
        """Add a person or the bot to a channel."""
        membership.join(self, self._conversation(inviter, channel), user, inviter)

    async def remove(self, remover: str, channel: str, user: str) -> None:
        """Take a person or the bot out of a channel; oneself to leave it."""
        membership.leave(self, self._conversation(remover, channel), user, remover)

    async def deactivate(self, admin: str, user: str) -> None:
        """End the account of a person who has left."""
        membership.deactivate(self, user, admin)

    async def archive(self, user: str, channel: str) -> None:
        """Archive a channel."""
        membership.archive(self, self._conversation(user, channel), user)

    def _conversation(self, user: str, channel: str) -> Channel:
        if user not in self.people or self.people[user].is_deactivated:
            raise CannotDo(f"there is no {user}")
        conversation = self.channels.get(channel)
        if conversation is None or user not in conversation.members:
            raise CannotDo(f"{user} is not in {channel}")
        if conversation.archived:
            raise CannotDo("#{channel} is archived", channel=conversation.name)
        return conversation

    def _message(self, conversation: Channel, ts: str) -> Json:
        message = self.store.get(conversation.id, ts)
        if message is None:
            raise CannotDo(f"no message {ts} in {conversation.id}")
        return message

    def _own(self, user: str, conversation: Channel, ts: str) -> Json:
        message = self._message(conversation, ts)
        if message["user"] != user:
            raise CannotDo("that is somebody else's message")
        return message
