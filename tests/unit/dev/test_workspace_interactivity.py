"""Buttons, shortcuts, modals, the Home tab and response URLs, as Slack and its client treat them."""

import asyncio

import pytest
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.dev.workspace import ADA, BEN, CannotDo, NotAnswered
from bot.dev.workspace.store.state import Json
from tests.unit.dev.refusals import error_of

GENERAL = "C0GENERAL1"
PLAIN = {"type": "plain_text", "text": "x"}
BUTTONS = {
    "type": "actions",
    "block_id": "row",
    "elements": [
        {"type": "button", "action_id": "go", "text": PLAIN, "value": "1"},
        {
            "type": "static_select",
            "action_id": "pick",
            "options": [{"text": PLAIN, "value": "a"}, {"text": PLAIN, "value": "b"}],
        },
    ],
}
THUMBS = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "rate",
            "positive_button": {"text": PLAIN, "value": "up"},
            "negative_button": {"text": PLAIN, "value": "down"},
        }
    ],
}
QUESTION = {
    "type": "input",
    "block_id": "q",
    "label": PLAIN,
    "element": {"type": "plain_text_input", "action_id": "text", "max_length": 10},
}
MODAL = {
    "type": "modal",
    "callback_id": "ask",
    "title": PLAIN,
    "submit": PLAIN,
    "blocks": [QUESTION],
}


@pytest.fixture
async def buttons(ws, client):
    answer = await client.chat_postMessage(channel=GENERAL, text="choose", blocks=[BUTTONS, THUMBS])
    return answer["ts"]


@pytest.fixture
def use(app):
    """Return a function that lets a person act and the app acknowledge, and returns the payload."""

    async def act(action, ack: Json | None = None) -> Json:
        doing = asyncio.ensure_future(action)
        envelope = await app.envelope()
        while envelope["type"] == "events_api":
            await app.ack(envelope)
            envelope = await app.envelope()
        await app.ack(envelope, ack)
        await doing
        return dict(envelope["payload"])

    return act


@pytest.fixture
def opened(ws, client, use):
    """Return a function that opens a modal with the global shortcut and returns its view."""

    async def open_modal(view: Json = MODAL) -> Json:
        payload = await use(ws.shortcut(ADA, "ask"))
        return dict((await client.views_open(trigger_id=payload["trigger_id"], view=view))["view"])

    return open_modal


async def test_a_click_says_what_was_clicked_where(ws, use, buttons):
    payload = await use(ws.click(ADA, GENERAL, buttons, "go"))
    assert (payload["type"], payload["user"]["id"], payload["channel"]["id"]) == (
        "block_actions",
        ADA,
        GENERAL,
    )
    assert payload["container"]["message_ts"] == payload["message"]["ts"] == buttons
    assert (payload["actions"][0]["value"], payload["actions"][0]["block_id"]) == ("1", "row")


async def test_menus_and_thumbs_report_what_was_chosen(ws, use, buttons):
    payload = await use(ws.click(ADA, GENERAL, buttons, "pick", value="b"))
    assert payload["actions"][0]["selected_option"]["value"] == "b"
    assert payload["state"]["values"]["row"]["pick"]["selected_option"]["value"] == "b"
    payload = await use(ws.click(ADA, GENERAL, buttons, "rate", value="down"))
    assert payload["actions"][0]["value"] == "down"


async def test_there_is_no_clicking_what_is_not_there(ws, app, buttons):
    for action in ("nothing", "pick"):
        with pytest.raises(CannotDo):
            await ws.click(ADA, GENERAL, buttons, action, value="c")
    with pytest.raises(CannotDo):
        await ws.click(ADA, GENERAL, buttons, "go", value="2")


async def test_a_click_nobody_answers_is_a_warning_sign(ws, app, buttons):
    ws.delivery.ack_timeout = 0.01
    with pytest.raises(NotAnswered):
        await ws.click(ADA, GENERAL, buttons, "go")


async def test_a_trigger_opens_one_modal_within_three_seconds(ws, client, use, opened):
    view = await opened()
    assert ws.views(ADA)[0]["id"] == view["id"]
    used = await use(ws.shortcut(ADA, "ask"))
    await client.views_open(trigger_id=used["trigger_id"], view=MODAL)
    again = client.views_open(trigger_id=used["trigger_id"], view=MODAL)
    assert await error_of(again) == "exchanged_trigger_id"
    late = await use(ws.shortcut(ADA, "ask"))
    ws.clock.advance(3.1)
    assert (
        await error_of(client.views_open(trigger_id=late["trigger_id"], view=MODAL))
        == "expired_trigger_id"
    )
    assert (
        await error_of(client.views_open(trigger_id="made.up", view=MODAL)) == "invalid_trigger_id"
    )


async def test_a_message_shortcut_carries_its_message(ws, use):
    said = await ws.say(BEN, GENERAL, "what I said")
    payload = await use(ws.shortcut(ADA, "about", channel=GENERAL, ts=said["ts"]))
    assert (payload["type"], payload["callback_id"]) == ("message_action", "about")
    assert (payload["message"]["text"], payload["message"]["user"]) == ("what I said", BEN)


async def test_a_submission_carries_what_was_filled_in(ws, use, opened):
    view = await opened()
    payload = await use(ws.submit(ADA, view["id"], {"q": {"text": "why?"}}))
    assert payload["type"] == "view_submission"
    assert payload["view"]["state"]["values"] == {
        "q": {"text": {"type": "plain_text_input", "value": "why?"}}
    }
    assert ws.views(ADA) == []
    with pytest.raises(CannotDo):
        await ws.submit(ADA, view["id"], {})


async def test_the_client_itself_refuses_empty_and_overlong_input(ws, app, opened):
    view = await opened()
    assert "q" in (await ws.submit(ADA, view["id"], {}))["errors"]
    assert "q" in (await ws.submit(ADA, view["id"], {"q": {"text": "x" * 11}}))["errors"]
    assert len(ws.views(ADA)) == 1


async def test_the_app_may_answer_a_submission(ws, use, opened):
    view, values = await opened(), {"q": {"text": "why?"}}
    await use(
        ws.submit(ADA, view["id"], values), {"response_action": "errors", "errors": {"q": "no"}}
    )
    assert len(ws.views(ADA)) == 1
    changed = {**MODAL, "callback_id": "changed"}
    await use(ws.submit(ADA, view["id"], values), {"response_action": "update", "view": changed})
    assert [v["callback_id"] for v in ws.views(ADA)] == ["changed"]
    await use(ws.submit(ADA, view["id"], values), {"response_action": "push", "view": MODAL})
    top = ws.views(ADA)[-1]
    assert (len(ws.views(ADA)), top["previous_view_id"]) == (2, view["id"])
    await use(ws.submit(ADA, top["id"], values), {"response_action": "clear"})
    assert ws.views(ADA) == []


async def test_errors_have_to_name_an_input(ws, use, opened):
    view = await opened()
    answer = {"response_action": "errors", "errors": {"elsewhere": "no"}}
    with pytest.raises(NotAnswered):
        await use(ws.submit(ADA, view["id"], {"q": {"text": "x"}}), answer)


async def test_closing_is_told_only_if_asked_for(ws, use, opened):
    quiet = await opened()
    await ws.close_view(ADA, quiet["id"])
    view = await opened({**MODAL, "notify_on_close": True})
    payload = await use(ws.close_view(ADA, view["id"]))
    assert (payload["type"], payload["view"]["id"]) == ("view_closed", view["id"])


async def test_an_update_with_an_old_hash_is_refused(ws, client, opened):
    view = await opened()
    changed = {**MODAL, "callback_id": "b"}
    new = (await client.views_update(view_id=view["id"], hash=view["hash"], view=changed))["view"]
    assert new["id"] == view["id"]
    old = client.views_update(view_id=view["id"], hash=view["hash"], view=changed)
    assert await error_of(old) == "hash_conflict"
    assert await error_of(client.views_update(view_id="V0", view=MODAL)) == "not_found"


async def test_the_home_tab(ws, client, app, use):
    await ws.open_home(ADA)
    event = (await app.next())["event"]
    assert (event["type"], event["tab"], event["channel"]) == (
        "app_home_opened",
        "home",
        "D0ADA00001",
    )
    home = {"type": "home", "blocks": [BUTTONS]}
    view = (await client.views_publish(user_id=ADA, view=home))["view"]
    payload = await use(ws.click_in_view(ADA, view["id"], "go"))
    assert payload["container"] == {"type": "view", "view_id": view["id"]}
    await ws.open_home(ADA, "messages")
    assert (await app.next())["event"]["tab"] == "messages"
    assert await error_of(client.views_publish(user_id=ADA, view=MODAL)) == "invalid_arguments"


async def test_a_response_url_serves_five_times(ws, use, buttons):
    payload = await use(ws.click(ADA, GENERAL, buttons, "go"))
    respond = AsyncWebhookClient(payload["response_url"])
    await respond.send(text="replaced", blocks=[], replace_original=True)
    assert ws.messages(GENERAL)[0]["text"] == "replaced"
    await respond.send(text="for you", response_type="ephemeral")
    assert [m["text"] for m in ws.messages(GENERAL, viewer=ADA)] == ["replaced", "for you"]
    await respond.send(text="for all", response_type="in_channel")
    assert ws.messages(GENERAL)[-1]["text"] == "for all"
    assert (await respond.send(text="x", blocks=[{"type": "nonsense"}])).status_code == 400
    assert (await respond.send(delete_original=True)).status_code == 200
    assert (await respond.send(text="sixth")).status_code == 404


async def test_a_response_url_serves_half_an_hour(ws, use, buttons):
    payload = await use(ws.click(ADA, GENERAL, buttons, "go"))
    ws.clock.advance(1801)
    assert (await AsyncWebhookClient(payload["response_url"]).send(text="late")).status_code == 404


async def test_a_chosen_conversation_can_be_answered_in(ws, use, opened):
    select = {"type": "conversations_select", "action_id": "where", "response_url_enabled": True}
    block = {"type": "input", "block_id": "w", "label": PLAIN, "element": select}
    view = await opened({**MODAL, "blocks": [block]})
    payload = await use(ws.submit(ADA, view["id"], {"w": {"where": GENERAL}}))
    url = payload["response_urls"][0]
    assert url["channel_id"] == GENERAL
    await AsyncWebhookClient(url["response_url"]).send(text="here", response_type="in_channel")
    assert ws.messages(GENERAL)[0]["text"] == "here"


async def test_a_command_is_answered_to_the_person(ws, use):
    payload = await use(ws.command(ADA, GENERAL, "/ask", "why?"), {"text": "because"})
    assert (payload["command"], payload["text"], payload["user_id"]) == ("/ask", "why?", ADA)
    assert [m["text"] for m in ws.messages(GENERAL, viewer=ADA)] == ["because"]
    assert ws.messages(GENERAL) == []


async def test_answers_slack_would_refuse_are_the_apps_failure(ws, use, opened):
    view = await opened()
    bad = {"response_action": "update", "view": {**MODAL, "blocks": []}}
    with pytest.raises(NotAnswered, match="invalid_arguments"):
        await use(ws.submit(ADA, view["id"], {"q": {"text": "x"}}), bad)
    with pytest.raises(NotAnswered, match="invalid_blocks"):
        await use(
            ws.command(ADA, GENERAL, "/ask", ""), {"text": "x", "blocks": [{"type": "nonsense"}]}
        )


async def test_what_was_told_stays_as_it_was(ws, client, opened):
    """Later changes do not rewrite what the record has."""
    async with ws.subscribe() as changes:
        view = await opened()
        await client.views_update(view_id=view["id"], view={**MODAL, "callback_id": "later"})
        first = await anext(changes)
    assert first.data["callback_id"] == "ask"
    assert (
        next(e for e in ws.effects if e.method == "views.open").result["view"]["callback_id"]
        == "ask"
    )
