"""Stopping of runs: by a button, the word, a reaction, or Slack's own Stop button.

All reactions arrive here, as of several listeners to an event the first wins; features are told of
the others.

Everybody who may ask in a channel may stop its runs, without waiting in the queue. The person's own
waiting requests stop too, but not those of others. A reaction counts only from the asker, because
others may be reacting to the question itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted
from bot.runs.audit_trail import refused
from bot.slack.intake.press import Press
from bot.slack.intake.slack_part import Reaction, bug_logged
from bot.slack.ui import words
from bot.slack.ui.buttons import STOP, Stops

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

STOP_REACTIONS = frozenset(
    {"x", "octagonal_sign", "no_entry", "no_entry_sign", "black_square_for_stop"}
)


def register(app: SlackApp) -> None:
    """Listen to the Stop button of the bot, to reactions, and to Slack's own Stop button."""

    @app.button(STOP)
    async def stop(press: Press) -> str:
        stops = Stops.read(press.value)
        is_here = press.channel in (stops.channel, "")  # "" in the modal of a private question
        stopped = is_here and await app.stop.stop(
            stops.channel, stops.thread, press.user, request_id=stops.request_id
        )
        if press.is_private:  # the line of an earlier release, which only a press can take away
            press.later(_take_away(press), "taking a line away")
        return "" if stopped else words.NOTHING_RUNS()

    @app.bolt.event("reaction_added")
    async def reaction_added(event: dict[str, Any], body: dict[str, Any]) -> None:
        event_id = body["event_id"]
        if event["reaction"] in STOP_REACTIONS:
            stop = partial(app.stop.reacted, event)
            await app.retries.run_in_order(event_id, stop, line=event_id)
        else:
            await _pass_on(app, event, event_id)

    @app.bolt.event("reaction_removed")
    async def reaction_removed(event: dict[str, Any], body: dict[str, Any]) -> None:
        if event["reaction"] not in STOP_REACTIONS:
            await _pass_on(app, event, body["event_id"])

    @app.bolt.event("agent_session_stopped")
    async def session_stopped(event: dict[str, Any], body: dict[str, Any]) -> None:
        """Cancel the run: Slack stops only its own stream.

        Apps that were made from an older manifest still have Slack's Stop button.
        """
        channel, thread = event["channel"], event.get("thread_ts")
        if not (thread or channel.startswith("D")):  # would stop the runs of the whole channel
            return
        try:
            stop = partial(app.stop.stop, channel, thread, event["user"])
            await app.retries.run_in_order(body["event_id"], stop, line=body["event_id"])
        except NotPermitted as refusal:  # then only Slack's own stream has stopped
            notice = app.tell(channel, thread, event["user"], str(refusal))
            app.background.start(notice, "ephemeral reply")
        if thread:
            app.background.start(app.status.end(channel, thread), "status of a stopped session")


async def _pass_on(app: SlackApp, event: Mapping[str, Any], event_id: str) -> None:
    """Tell features of a reaction, in the order in which those on a message came."""
    item, user = event["item"], str(event["user"])
    if item["type"] != "message" or user == app.identity.user:
        return
    reaction = Reaction(
        channel=str(item["channel"]),
        ts=str(item["ts"]),
        emoji=str(event["reaction"]).partition("::")[0],
        user=user,
        removed=event["type"] == "reaction_removed",
    )

    async def tell() -> None:
        for part in app.parts:
            with bug_logged(part):
                await part.reacted(reaction)

    line = f"reactions:{reaction.channel}:{reaction.ts}"
    when = float(event.get("event_ts") or 0)
    await app.retries.run_in_order(event_id, tell, line=line, when=when)


async def _take_away(press: Press) -> None:
    await press.respond(delete_original=True)


class StopAction:
    """The stop action of one workspace. Refusals are written to the audit trail."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app

    async def stop(
        self,
        channel: str,
        thread: str | None,
        user: str,
        *,
        before: str | None = None,
        request_id: str = "",
    ) -> bool:
        """Stop the runs of a thread, or of the whole channel without `thread`.

        Requests asked after the ts `before` go on, because a stop message may arrive late or twice.
        With `request_id` only the run of that request is stopped. Returns whether anything was
        stopped. Raises NotPermitted with a sentence for the person.
        """
        team = self._app.identity.team
        try:
            await self._app.gate.asker(user, channel)
        except NotPermitted as refusal:
            await self._app.record([refused(team, user, "stop", channel=channel)])
            raise NotPermitted(words.CANNOT_STOP(why=refusal)) from None
        if thread is None:
            return await self._app.requests.cancel_in_channel(team, channel, user, before=before)
        return await self._app.requests.cancel(
            f"{team}:{channel}:{thread}", user, before=before, request_id=request_id
        )

    async def is_request(self, channel: str, ts: str) -> bool:
        """Return whether a message was stored as a request before."""
        return await self._app.requests.edit_scope(self._app.identity.team, channel, ts) is not None

    async def reacted(self, event: Mapping[str, Any]) -> None:
        """Stop a run for a stop reaction on its question or on its message."""
        item, user = event.get("item") or {}, str(event["user"])
        if event.get("reaction") not in STOP_REACTIONS or item.get("type") != "message":
            return
        channel, ts = str(item["channel"]), str(item["ts"])
        try:
            await self._app.gate.asker(user, channel)
        except NotPermitted:
            return
        team = self._app.identity.team
        if event.get("item_user") != self._app.identity.user:
            await self._app.requests.cancel_message(team, channel, ts, user)
        elif stops := await self._stop_button_in(channel, ts):
            await self._app.requests.cancel_own(stops.thread_key, user, request_id=stops.request_id)

    async def _stop_button_in(self, channel: str, ts: str) -> Stops | None:
        """Return what the Stop button of a message carries; None without one."""
        try:
            answer = await self._app.clients.reads.reactions_get(channel=channel, timestamp=ts)
        except SlackApiError:
            return None
        for block in answer["message"].get("blocks") or ():
            for element in block.get("elements") or ():
                if element.get("action_id") == STOP:
                    return Stops.read(str(element.get("value")))
        return None
