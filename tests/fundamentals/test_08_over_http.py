"""The same bot, with events as signed HTTP requests.

Without an app-level token the bot serves HTTP, and Slack sends each event to it as a request signed
with a shared secret. Unsigned requests are rejected unread.
"""

import aiohttp

from bot.dev.model import Script, finish
from bot.dev.workspace import ADA
from tests.support.ports import free_port
from tests.support.runs import answer
from tests.support.slack import GENERAL, bot_in_slack


async def test_a_mention_over_http(redis_url: str) -> None:
    """Slack gets its response in time, and the thread gets one answer."""
    async with bot_in_slack(
        Script([finish(answer("Hello."))]), redis_url, port=free_port()
    ) as place:
        question = await place.slack.say(ADA, GENERAL, place.mention("say hello"))
        await place.answered(question["ts"], "Hello.")

    [posted] = place.posted()
    assert posted["thread_ts"] == question["ts"]


async def test_what_is_not_signed_is_refused(redis_url: str) -> None:
    """Anybody can reach the address, but only Slack knows the secret."""
    port = free_port()
    async with (
        bot_in_slack(Script([]), redis_url, port=port) as place,
        aiohttp.ClientSession() as stranger,
    ):
        event = {"type": "event_callback", "event": {"type": "app_mention", "text": "hi"}}
        async with stranger.post(f"http://127.0.0.1:{port}/slack/events", json=event) as reply:
            assert reply.status == 401

    assert place.posted() == []
