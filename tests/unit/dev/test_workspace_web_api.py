"""The local workspace answers calls as Slack does: tokens, arguments, limits, and ordered faults."""

import asyncio

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.dev.workspace import ADA, BEN, EVE, GUS
from bot.dev.workspace.messaging.text import has_words
from tests.unit.dev.refusals import error_of

GENERAL, RANDOM, ARCHIVE, FINANCE = "C0GENERAL1", "C0RANDOM01", "C0ARCHIVE1", "C0FINANCE1"


async def test_a_token_says_who_it_is(ws, client):
    answer = await client.auth_test()
    assert (answer["user_id"], answer["bot_id"], answer["team_id"]) == (
        ws.bot_user_id,
        ws.bot_id,
        ws.team_id,
    )


@pytest.mark.parametrize(
    ("kind", "error"),
    [("none", "not_authed"), ("wrong", "invalid_auth"), ("app", "not_allowed_token_type")],
)
async def test_a_bad_token_is_refused(ws, session, kind, error):
    token = {"none": None, "wrong": "xoxb-no", "app": ws.app_token}[kind]
    client = AsyncWebClient(token=token, base_url=ws.api_url, session=session)
    assert await error_of(client.chat_postMessage(channel=GENERAL, text="hi")) == error


async def test_a_bot_token_opens_no_socket(ws, client):
    assert (
        await error_of(client.apps_connections_open(app_token=ws.bot_token))
        == "not_allowed_token_type"
    )


async def test_a_missing_scope_is_named(ws, client):
    ws.state.missing_scopes.add("users:read")
    with pytest.raises(SlackApiError) as raised:
        await client.users_info(user=ADA)
    assert raised.value.response["needed"] == "users:read"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"text": "hi"}, "invalid_arguments"),
        ({"channel": GENERAL, "text": "hi", "chanel": "typo"}, "invalid_arguments"),
        ({"channel": GENERAL, "text": 7}, "invalid_arguments"),
        ({"channel": GENERAL, "blocks": "not json"}, "invalid_blocks_format"),
        ({"channel": GENERAL, "text": "hi", "metadata": "not json"}, "invalid_metadata_format"),
        (
            {"channel": GENERAL, "text": "hi", "metadata": {"event_type": 1}},
            "invalid_metadata_schema",
        ),
        ({"channel": GENERAL}, "no_text"),
        ({"channel": GENERAL, "text": " "}, "no_text"),
        ({"channel": GENERAL, "markdown_text": "a", "text": "b"}, "markdown_text_conflict"),
        ({"channel": GENERAL, "markdown_text": "a" * 12_001}, "msg_too_long"),
        ({"channel": "C0NOWHERE", "text": "hi"}, "channel_not_found"),
        ({"channel": RANDOM, "text": "hi"}, "not_in_channel"),
        ({"channel": ARCHIVE, "text": "hi"}, "is_archived"),
        ({"channel": FINANCE, "text": "hi"}, "channel_not_found"),
        ({"channel": GENERAL, "text": "hi", "thread_ts": "1.000001"}, "thread_not_found"),
    ],
)
async def test_wrong_arguments_get_slacks_own_error(client, ws, arguments, error):
    assert await error_of(client.api_call("chat.postMessage", json=arguments)) == error
    assert ws.effects[-1].error == error
    assert not ws.effects[-1].ok


async def test_an_unknown_method_is_unknown(client):
    assert await error_of(client.api_call("chat.postMesage")) == "unknown_method"


async def test_a_form_serves_as_well_as_json(ws, client):
    form = {
        "channel": "#general",
        "text": "x",
        "blocks": '[{"type": "divider"}]',
        "reply_broadcast": "false",
    }
    answer = await client.api_call("chat.postMessage", data=form)
    assert answer["channel"] == GENERAL
    assert ws.messages(GENERAL)[0]["blocks"][0]["type"] == "divider"


async def test_only_ones_own_message_can_be_changed(ws, client):
    theirs = await ws.say(ADA, GENERAL, "mine")
    own = await client.chat_postMessage(channel=GENERAL, text="a", blocks=[{"type": "divider"}])
    assert (
        await error_of(client.chat_update(channel=GENERAL, ts=theirs["ts"], text="b"))
        == "cant_update_message"
    )
    assert (
        await error_of(client.chat_delete(channel=GENERAL, ts=theirs["ts"]))
        == "cant_delete_message"
    )
    assert (
        await error_of(client.chat_update(channel=GENERAL, ts="1.000001", text="b"))
        == "message_not_found"
    )
    assert (
        await error_of(client.chat_update(channel=GENERAL, ts=own["ts"], text="b" * 4001))
        == "msg_too_long"
    )


async def test_an_update_keeps_blocks_that_are_not_given(ws, client):
    own = await client.chat_postMessage(channel=GENERAL, text="a", blocks=[{"type": "divider"}])
    await client.chat_update(channel=GENERAL, ts=own["ts"], text="b")
    assert [b["type"] for b in ws.messages(GENERAL)[0]["blocks"]] == ["divider"]
    await client.chat_update(channel=GENERAL, ts=own["ts"], text="b", blocks=[])
    assert ws.messages(GENERAL)[0]["blocks"] == []


async def test_overlong_text_is_cut(ws, client):
    await client.chat_postMessage(channel=GENERAL, text="a" * 50_000)
    assert len(ws.messages(GENERAL)[0]["text"]) == 40_000


async def test_an_ephemeral_message_is_seen_by_one(ws, client):
    await client.chat_postEphemeral(channel=GENERAL, user=ADA, text="psst")
    assert [m["text"] for m in ws.messages(GENERAL, viewer=ADA)] == ["psst"]
    assert ws.messages(GENERAL, viewer=BEN) == []
    assert (
        await error_of(client.chat_postEphemeral(channel=GENERAL, user=EVE, text="x"))
        == "user_not_in_channel"
    )


async def test_a_scheduled_message_comes_when_its_time_has_come(ws, client):
    now = int(ws.clock.now())
    scheduled = await client.chat_scheduleMessage(channel=GENERAL, text="later", post_at=now + 3600)
    dropped = await client.chat_scheduleMessage(channel=GENERAL, text="never", post_at=now + 3600)
    await client.chat_deleteScheduledMessage(
        channel=GENERAL, scheduled_message_id=dropped["scheduled_message_id"]
    )
    assert [
        m["id"] for m in (await client.chat_scheduledMessages_list())["scheduled_messages"]
    ] == [scheduled["scheduled_message_id"]]
    ws.clock.advance(3600)
    await ws.until(lambda: [m["text"] for m in ws.messages(GENERAL)] == ["later"])
    too_far = client.chat_scheduleMessage(channel=GENERAL, text="x", post_at=now + 130 * 86_400)
    assert await error_of(too_far) == "time_too_far"
    assert (
        await error_of(client.chat_scheduleMessage(channel=GENERAL, text="x", post_at=now))
        == "time_in_past"
    )


async def test_people_are_what_they_are(client):
    assert (await client.users_info(user=GUS))["user"]["is_restricted"]
    eve = (await client.users_info(user=EVE))["user"]
    assert eve["is_stranger"]
    assert eve["team_id"] != (await client.auth_test())["team_id"]
    ada = (await client.users_info(user=ADA, include_locale=True))["user"]
    assert (ada["is_admin"], ada["is_restricted"], ada["locale"]) == (True, False, "en-GB")
    assert await error_of(client.users_info(user="U0NOBODY")) == "user_not_found"


async def test_tiers_hold_when_enforced(ws, client):
    ws.rates.enforce_tiers = True
    for _ in range(20):
        await client.users_list(limit=1)
    assert await error_of(client.users_list(limit=1)) == "ratelimited"


async def test_too_many_calls_are_told_when_to_come_back(ws, client):
    ws.rates.per_minute["users.info"] = 1
    await client.users_info(user=ADA)
    with pytest.raises(SlackApiError) as raised:
        await client.users_info(user=ADA)
    assert raised.value.response.status_code == 429
    assert 1 <= int(raised.value.response.headers["Retry-After"]) <= 60
    ws.clock.advance(60)
    await client.users_info(user=ADA)


async def test_a_channel_takes_one_message_a_second_when_asked_to(ws, client):
    ws.rates.posts_per_second = 1
    await client.chat_postMessage(channel=GENERAL, text="1")
    assert await error_of(client.chat_postMessage(channel=GENERAL, text="2")) == "ratelimited"
    await client.chat_postMessage(channel="C0SALES001", text="other channel")


async def test_a_lost_reply_leaves_its_effect(ws, client):
    ws.faults.fail("chat.postMessage", after_effect=True)
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=GENERAL, text="once")
    assert [m["text"] for m in ws.messages(GENERAL)] == ["once"]
    assert (ws.effects[-1].ok, ws.effects[-1].error) == (True, "reply_lost")


async def test_ordered_faults_happen_as_often_as_ordered(ws, client):
    ws.faults.fail("chat.postMessage", "internal_error")
    ws.faults.fail("chat.postMessage", 503)
    ws.faults.fail("chat.postMessage", "ratelimited", retry_after=7)
    assert await error_of(client.chat_postMessage(channel=GENERAL, text="x")) == "internal_error"
    with pytest.raises(SlackApiError) as raised:
        await client.chat_postMessage(channel=GENERAL, text="x")
    assert raised.value.response.status_code == 503
    with pytest.raises(SlackApiError) as raised:
        await client.chat_postMessage(channel=GENERAL, text="x")
    assert raised.value.response.headers["Retry-After"] == "7"
    await client.chat_postMessage(channel=GENERAL, text="x")
    assert len(ws.messages(GENERAL)) == 1


async def test_history_comes_in_pages_newest_first(ws, client):
    said = [await ws.say(ADA, GENERAL, f"{n}") for n in range(5)]
    first = await client.conversations_history(channel=GENERAL, limit=2)
    assert [m["text"] for m in first["messages"]] == ["4", "3"]
    second = await client.conversations_history(
        channel=GENERAL, limit=2, cursor=first["response_metadata"]["next_cursor"]
    )
    assert [m["text"] for m in second["messages"]] == ["2", "1"]
    span = {"oldest": said[1]["ts"], "latest": said[3]["ts"]}
    assert len((await client.conversations_history(channel=GENERAL, **span))["messages"]) == 1
    assert (
        len(
            (await client.conversations_history(channel=GENERAL, inclusive=True, **span))[
                "messages"
            ]
        )
        == 3
    )
    assert (
        await error_of(client.conversations_history(channel=GENERAL, cursor="junk"))
        == "invalid_cursor"
    )
    assert await error_of(client.conversations_history(channel=RANDOM)) == "not_in_channel"


async def test_a_thread_can_be_searched_for_ones_own_key(ws, client):
    """The outbox finds its message after an ambiguous post (reliability 4)."""
    root = await ws.say(ADA, GENERAL, "question")
    key = {"event_type": "bot_reply", "event_payload": {"key": "k1"}}
    await client.chat_postMessage(
        channel=GENERAL, thread_ts=root["ts"], text="answer", metadata=key
    )
    found = await client.conversations_replies(
        channel=GENERAL, ts=root["ts"], include_all_metadata=True
    )
    assert found["messages"][0]["reply_count"] == 1
    assert found["messages"][1]["metadata"] == key
    plain = await client.conversations_replies(channel=GENERAL, ts=root["ts"])
    assert "metadata" not in plain["messages"][1]


async def test_a_deleted_root_leaves_a_tombstone_until_its_last_reply_goes(ws, client):
    root = await ws.say(ADA, GENERAL, "question")
    answers = [
        await client.chat_postMessage(channel=GENERAL, thread_ts=root["ts"], text="answer")
        for _ in range(2)
    ]
    await ws.delete(ADA, GENERAL, root["ts"])
    thread = ws.messages(GENERAL, root["ts"])
    assert (thread[0]["subtype"], thread[1]["text"]) == ("tombstone", "answer")
    await client.chat_delete(channel=GENERAL, ts=answers[0]["ts"])
    assert ws.messages(GENERAL)[-1]["subtype"] == "tombstone"
    await client.chat_delete(channel=GENERAL, ts=answers[1]["ts"])
    assert root["ts"] not in [m["ts"] for m in ws.messages(GENERAL)]


async def test_channels_are_listed_as_far_as_the_bot_sees_them(client):
    public = await client.conversations_list(exclude_archived=True)
    assert {c["name"] for c in public["channels"]} == {"general", "sales", "random", "partners"}
    both = await client.conversations_list(types="public_channel,private_channel")
    assert "finance" not in {c["name"] for c in both["channels"]}
    joined = await client.users_conversations(types="public_channel")
    assert "random" not in {c["name"] for c in joined["channels"]}
    assert ADA in (await client.conversations_members(channel=RANDOM))["members"]
    direct = await client.conversations_open(users=[ADA])
    assert direct["channel"]["id"] == "D0ADA00001"


async def test_reactions_count_once_a_person(ws, client):
    said = await ws.say(ADA, GENERAL, "x")
    await ws.react(BEN, GENERAL, said["ts"], "eyes")
    await client.reactions_add(channel=GENERAL, timestamp=said["ts"], name="eyes")
    assert (
        await error_of(client.reactions_add(channel=GENERAL, timestamp=said["ts"], name="eyes"))
        == "already_reacted"
    )
    assert ws.messages(GENERAL)[0]["reactions"][0]["count"] == 2
    await client.reactions_remove(channel=GENERAL, timestamp=said["ts"], name="eyes")
    assert (
        await error_of(client.reactions_remove(channel=GENERAL, timestamp=said["ts"], name="eyes"))
        == "no_reaction"
    )


async def test_search_can_be_switched_off_in_a_workspace(ws, client):
    ws.state.search_enabled = False
    call = client.api_call("assistant.search.context", json={"query": "x", "action_token": "a"})
    assert await error_of(call) == "feature_not_enabled"


def test_a_search_finds_words_not_letters():
    """A search for "lease" does not find every "please"."""
    assert has_words("Can we sign the LEASES, <@U1>?", "sign lease")
    assert not has_words("only for September please", "lease")


async def test_waiting_for_what_never_comes_shows_what_did(ws, client):
    await client.chat_postMessage(channel=GENERAL, text="hello")
    with pytest.raises(TimeoutError, match=r"chat\.postMessage"):
        await ws.until(lambda: False, timeout=0.01)


async def test_metadata_has_a_limit(client):
    big = {"event_type": "a", "event_payload": {"key": "x" * 9000}}
    assert (
        await error_of(client.chat_postMessage(channel=GENERAL, text="x", metadata=big))
        == "metadata_too_large"
    )


async def test_a_reply_has_no_replies(ws, client):
    root = await ws.say(ADA, GENERAL, "x")
    reply = await client.chat_postMessage(channel=GENERAL, thread_ts=root["ts"], text="y")
    deeper = client.chat_postMessage(channel=GENERAL, thread_ts=reply["ts"], text="z")
    assert await error_of(deeper) == "cannot_reply_to_message"


async def test_a_revoked_token_is_refused(client):
    assert (await client.auth_revoke(test=True))["revoked"] is False
    await client.auth_revoke()
    assert await error_of(client.auth_test()) == "token_revoked"


async def test_the_bot_is_known(ws, client):
    assert (await client.users_info(user=ws.bot_user_id))["user"]["is_bot"]


async def test_a_delayed_call_waits(ws, client):
    ws.faults.delay("auth.test", 0.05)
    slow = asyncio.ensure_future(client.auth_test())
    await client.users_info(user=ADA)
    assert not slow.done()
    await slow
    assert [e.method for e in ws.effects] == ["users.info", "auth.test"]
