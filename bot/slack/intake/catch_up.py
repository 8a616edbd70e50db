"""Recovery of messages that arrived while the bot was down, from Slack's history.

Slack redelivers an event for some minutes only. A missed message goes through intake like every
other. Intake leaves a claim or a notice for each message it has seen, so that none is handled
twice, even if rules have changed since. When Redis has lost that, the bot's messages show what was
answered: they name it. Messages of older versions name nothing; a message above them counts as
answered when a conversation is searched for the first time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.errors import BotError, LeaseLost, StoreUnavailable
from bot.slack.edge.client import TRANSPORT_ERRORS, Identity
from bot.slack.edge.history import PACE, History, Message
from bot.slack.edge.text import mentions
from bot.slack.intake.intake import Intake
from bot.slack.message import message_metadata
from bot.slack.message.repair import Orphans
from bot.slack.settings import CatchUpSettings
from bot.store import CatchUpStore, CatchUpTurn

log = logging.getLogger(__name__)

LOOK_SECONDS = 15.0
"""Seconds between attempts of a process to take its turn, each one Redis command."""

LATE_SECONDS = 60.0
"""Age of a message in seconds from which the answer says that it is late."""

_OVERLAP = 120.0  # seconds read again before the last mark, as Slack may show a message late

IsKnown = Callable[[str, str, str], Awaitable[bool]]
"""Returns whether intake has handled a message, by its team, channel and ts."""

Join = Callable[[str, str], Awaitable[None]]
"""Records that the bot takes part in a thread, by its key, as a user asked it to."""


class CatchUp:
    """A periodic search of one workspace's history, in one process at a time.

    The first search is at the start of the process.
    """

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
        join: Join,
        pace: float = PACE,
    ) -> None:
        self._every = settings.every_minutes * 60
        # Claims expire, so an older message would look as if intake had never seen it.
        self._look_back = min(settings.look_back_minutes * 60, turns.remembered - _OVERLAP)
        self._client = client
        self._identity = identity
        self._intake = intake
        self._turns = turns
        self._is_known = is_known
        self._orphans = orphans
        self._join = join
        self._searched_threads: dict[tuple[str, str], str] = {}
        """Threads without unfinished messages of ours, and the latest reply that each had then."""

        self._pace = pace

    async def run(self) -> None:
        """Search until cancelled. Errors are logged, and the next turn tries again."""
        clock = asyncio.get_running_loop().time
        listening_since = clock()
        while True:
            try:
                # A turn that began after this process started listening has covered every gap.
                age = min(clock() - listening_since, self._every)
                async with self._turns.turn(self._identity.team, least_age=age) as turn:
                    if turn is not None:
                        await self._search(turn)
            except LeaseLost:
                log.info("Another process looks through the history now")
            except (BotError, SlackApiError, *TRANSPORT_ERRORS) as error:
                log.warning("The history was not looked through: %s", error)
            except Exception:
                log.exception("Looking through the history failed")  # and must not end the bot
            await asyncio.sleep(min(LOOK_SECONDS, self._every))

    async def _search(self, turn: CatchUpTurn) -> None:
        """Search all conversations, the least recently searched first.

        Conversations for which a turn has no time are then the first of the next turn.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._every
        oldest = time.time() - self._look_back
        self._searched_threads = {
            k: latest for k, latest in self._searched_threads.items() if float(latest) > oldest
        }
        history = History(self._client, turn.hold, self._pace)
        looked_until = await turn.marks()
        conversations = [each async for each in history.conversations()]
        for conversation in sorted(
            conversations, key=lambda each: looked_until.get(each["id"], 0.0)
        ):
            if clock() > deadline:
                log.info("Not all conversations were looked through; the others come next")
                break
            await self._search_conversation(
                conversation, history, turn, looked_until.get(conversation["id"], 0.0)
            )

    async def _search_conversation(
        self, conversation: Message, history: History, turn: CatchUpTurn, mark: float
    ) -> None:
        channel = conversation["id"]
        try:
            missed, unfinished, now = await self._missed(channel, history, mark)
            for message in missed:
                event = _as_event(message, conversation, self._identity.user)
                is_late = now - float(message["ts"]) > LATE_SECONDS
                await self._intake.message(
                    event,
                    f"history:{channel}:{message['ts']}",
                    late=is_late,
                    restored=turn.restored_from(float(message["ts"])),
                )
            # Only now, because a missed question makes its thread active again.
            for thread in unfinished:
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
        """Return the unseen messages, the threads that may hold orphans, and the time of the search.

        Messages are oldest first. The time is Slack's, in seconds since the epoch.
        """

        def since(now: float) -> float:
            return max(mark - _OVERLAP, now - self._look_back)

        recent, now = await history.recent(channel, since)
        recent_messages, unfinished, all_messages = list(recent), [], list(recent)
        for root in recent:
            if message_metadata.is_under_way(root) and not root.get("latest_reply"):
                unfinished.append(root["ts"])
            latest = root.get("latest_reply") or "0"
            is_active = float(latest) > since(now) and not await self._is_settled(channel, root)
            is_new = self._searched_threads.get((channel, root["ts"])) != latest
            if is_active or (is_new and float(latest) > now - self._look_back):
                replies = await history.replies(channel, root["ts"], now - self._look_back)
                all_messages += replies
                recent_messages += [reply for reply in replies if float(reply["ts"]) > since(now)]
                if any(map(message_metadata.is_under_way, replies)):
                    unfinished.append(root["ts"])
                else:
                    self._searched_threads[channel, root["ts"]] = latest
        own = [message for message in all_messages if message.get("user") == self._identity.user]
        answered = {ts for message in own for ts in message_metadata.answered_by(message)}
        if not mark:
            answered |= _above_unnamed_answers(recent_messages, own)
        begin = max(since(now), _joined(recent, self._identity.user))
        new = {each["ts"]: each for each in recent_messages if float(each["ts"]) > begin}
        unseen = [new[ts] for ts in sorted(new, key=float) if not await self._is_seen(channel, ts)]
        for message in unseen:
            if message["ts"] in answered and message.get("user"):
                thread = message.get("thread_ts") or message["ts"]
                await self._join(f"{self._identity.team}:{channel}:{thread}", str(message["user"]))
        missed = [message for message in unseen if message["ts"] not in answered]
        return missed, unfinished, now

    async def _is_settled(self, channel: str, root: Message) -> bool:
        """Return whether a thread is one question that intake has seen, and the bot's replies."""
        only_we = set(root.get("reply_users") or ()) == {self._identity.user}
        return only_we and await self._is_seen(channel, root["ts"])

    async def _is_seen(self, channel: str, ts: str) -> bool:
        return await self._is_known(self._identity.team, channel, ts)


def _joined(messages: Sequence[Message], bot: str) -> float:
    """Return when the bot joined the channel, as older messages were not for it; 0.0 if unknown."""
    joins = (message for message in messages if message.get("subtype") == "channel_join")
    return max((float(join["ts"]) for join in joins if join.get("user") == bot), default=0.0)


def _above_unnamed_answers(messages: Sequence[Message], own: Sequence[Message]) -> set[str]:
    """Return the ts of messages above an answer of an older version in their thread."""
    last: dict[str, float] = {}
    for message in own:
        if message_metadata.is_unnamed_answer(message):
            thread = message.get("thread_ts") or message["ts"]
            last[thread] = max(last.get(thread, 0.0), float(message["ts"]))
    return {
        message["ts"]
        for message in messages
        if float(message["ts"]) < last.get(message.get("thread_ts") or message["ts"], 0.0)
    }


def _as_event(message: Message, conversation: Message, bot: str) -> Message:
    """Return the event that Slack would have sent for a message of the history."""
    is_direct = bool(conversation.get("is_im"))
    mentioned = mentions(str(message.get("text") or ""), bot) and not is_direct
    return {
        **message,
        "type": "app_mention" if mentioned else "message",
        "channel": conversation["id"],
        **({"channel_type": "im"} if is_direct else {}),
    }
