"""Finds what was asked while nothing listened, in the history of the bot's conversations.

Slack delivers an event again for some minutes, and then never. What is found here goes the way of
every message, through intake. What intake has seen is known by its claim or note, and is not judged
again: rules may have changed since. Where Redis is new or has lost everything, what was answered
is known by what we wrote in the thread after it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from pydantic import BaseModel, ConfigDict, Field
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.errors import BotError, LeaseLost, StoreUnavailable
from bot.slack.incoming.history import PACE, History, Message
from bot.slack.incoming.intake import Intake
from bot.slack.incoming.text import mentions
from bot.slack.reply import message_metadata
from bot.slack.reply.orphans import Orphans
from bot.slack.transport.client import TRANSPORT_ERRORS, Identity
from bot.store import CatchUpStore, CatchUpTurn

log = logging.getLogger(__name__)

LOOK_SECONDS = 15.0
"""How often a process asks whether it is its turn: one command of Redis."""

LATE_SECONDS = 60.0
"""An answer to an older message says that it comes late."""

_OVERLAP = 120.0  # seconds read again before the last mark: Slack may show a message a little late

IsKnown = Callable[[str, str, str], Awaitable[bool]]
"""Whether intake has seen a message (team, channel, ts), and done what there was to do."""


class CatchUpSettings(BaseModel):
    """`[catch_up]` in bot.toml. `every_minutes` 0 never looks; `look_back_minutes` bounds how old
    a question may be that is still answered."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    every_minutes: float = Field(default=3, ge=0, le=60)
    look_back_minutes: float = Field(default=60, gt=0, le=1440)


class CatchUp:
    """Looks when the process starts, then every few minutes; one process of all at a time."""

    def __init__(
        self,
        settings: CatchUpSettings,
        *,
        client: AsyncWebClient,
        identity: Identity,
        intake: Intake,
        turns: CatchUpStore,
        is_known: IsKnown,
        orphans: Orphans,
        pace: float = PACE,
    ) -> None:
        self._every = settings.every_minutes * 60
        # What was taken in longer ago than that would be taken for new.
        self._look_back = min(settings.look_back_minutes * 60, turns.remembered - _OVERLAP)
        self._client = client
        self._identity = identity
        self._intake = intake
        self._turns = turns
        self._is_known = is_known
        self._orphans = orphans
        self._looked: dict[tuple[str, str], str] = {}
        """Threads without unfinished messages of ours, and the latest reply that each had then."""

        self._pace = pace

    async def run(self) -> None:
        """Go on until cancelled. Trouble is logged, and it is tried again at the next turn."""
        clock = asyncio.get_running_loop().time
        listening_since = clock()
        while True:
            try:
                # A turn that began since we listen has seen all that we can have missed.
                age = min(clock() - listening_since, self._every)
                async with self._turns.turn(self._identity.team, least_age=age) as turn:
                    if turn is not None:
                        await self._look(turn)
            except LeaseLost:
                log.info("Another process looks through the history now")
            except (BotError, SlackApiError, *TRANSPORT_ERRORS) as error:
                log.warning("The history was not looked through: %s", error)
            except Exception:
                log.exception("Looking through the history failed")  # and must not end the bot
            await asyncio.sleep(min(LOOK_SECONDS, self._every))

    async def _look(self, turn: CatchUpTurn) -> None:
        """The conversations that were not looked at for longest come first, so that those which
        one turn has no time for are the first of the next."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._every
        oldest = time.time() - self._look_back
        self._looked = {k: latest for k, latest in self._looked.items() if float(latest) > oldest}
        history = History(self._client, turn.hold, self._pace)
        looked_until = await turn.marks()
        there = [each async for each in history.conversations()]
        for conversation in sorted(there, key=lambda each: looked_until.get(each["id"], 0.0)):
            if clock() > deadline:
                log.info("Not all conversations were looked through; the others come next")
                break
            await self._look_into(
                conversation, history, turn, looked_until.get(conversation["id"], 0.0)
            )

    async def _look_into(
        self, conversation: Message, history: History, turn: CatchUpTurn, mark: float
    ) -> None:
        channel = conversation["id"]
        try:
            missed, unfinished, now = await self._missed(channel, history, mark)
            for message in missed:
                event = _as_event(message, conversation, self._identity.user)
                is_late = now - float(message["ts"]) > LATE_SECONDS
                await self._intake.message(
                    event, f"history:{channel}:{message['ts']}", late=is_late
                )
            for (
                thread
            ) in unfinished:  # after what was missed: a thread that is asked anew is not idle
                await self._orphans.end(channel, thread, history)
        except (LeaseLost, StoreUnavailable):
            raise
        except (BotError, SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("The history of %s was not looked through: %s", channel, error)
            return
        await turn.mark(channel, now)

    async def _missed(
        self, channel: str, history: History, mark: float
    ) -> tuple[list[Message], list[str], float]:
        """What intake has not seen, oldest first; the threads that may hold orphans; and until when
        that is all."""

        def since(now: float) -> float:
            return max(mark - _OVERLAP, now - self._look_back)

        recent, now = await history.recent(channel, since)
        found, unfinished = list(recent), []
        for root in recent:
            latest = root.get("latest_reply") or "0"
            is_active = float(latest) > since(now) and not await self._is_settled(channel, root)
            is_new = self._looked.get((channel, root["ts"])) != latest
            if is_active or (is_new and float(latest) > now - self._look_back):
                replies = await history.replies(channel, root["ts"], now - self._look_back)
                found += [each for each in replies if float(each["ts"]) > since(now)]
                if any(map(message_metadata.is_under_way, replies)):
                    unfinished.append(root["ts"])
                else:
                    self._looked[channel, root["ts"]] = latest
        answered = set() if mark else _answered(found, self._identity.user)
        begin = max(since(now), _joined(recent, self._identity.user))
        new = {each["ts"]: each for each in found if float(each["ts"]) > begin}
        missed = [
            new[ts]
            for ts in sorted(new, key=float)
            if ts not in answered and not await self._is_seen(channel, ts)
        ]
        return missed, unfinished, now

    async def _is_settled(self, channel: str, root: Message) -> bool:
        """True for a thread of one question, which was taken in, and our answers to it."""
        only_we = set(root.get("reply_users") or ()) == {self._identity.user}
        return only_we and await self._is_seen(channel, root["ts"])

    async def _is_seen(self, channel: str, ts: str) -> bool:
        return await self._is_known(self._identity.team, channel, ts)


def _joined(messages: Sequence[Message], bot: str) -> float:
    """When the bot was added, if that is so recent: what was written before was not for it to see."""
    joins = (each for each in messages if each.get("subtype") == "channel_join")
    return max((float(each["ts"]) for each in joins if each.get("user") == bot), default=0.0)


def _answered(messages: Sequence[Message], bot: str) -> set[str]:
    """The messages after which the bot wrote something in their thread, other than that it works."""
    last: dict[str, float] = {}
    for each in messages:
        if each.get("user") == bot and not message_metadata.is_under_way(each):
            thread = each.get("thread_ts") or each["ts"]
            last[thread] = max(last.get(thread, 0.0), float(each["ts"]))
    return {
        each["ts"]
        for each in messages
        if float(each["ts"]) < last.get(each.get("thread_ts") or each["ts"], 0.0)
    }


def _as_event(message: Message, conversation: Message, bot: str) -> Message:
    """The event that Slack would have sent."""
    is_direct = bool(conversation.get("is_im"))
    mentioned = mentions(str(message.get("text") or ""), bot) and not is_direct
    return {
        **message,
        "type": "app_mention" if mentioned else "message",
        "channel": conversation["id"],
        **({"channel_type": "im"} if is_direct else {}),
    }
