"""Answers to interactions on a response_url: without a token, five times within thirty minutes."""

from aiohttp import web

from bot.dev.workspace.client.modals import show_answer
from bot.dev.workspace.core import RESPONSE_URL_LIFETIME, RESPONSE_URL_USES, Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.messaging import posting
from bot.dev.workspace.messaging.content import content
from bot.dev.workspace.store.record import Effect
from bot.dev.workspace.store.state import Json, ResponseUrl

FIELDS = {
    "text", "blocks", "attachments", "response_type", "replace_original", "delete_original", "thread_ts",
    "unfurl_links", "unfurl_media", "metadata", "mrkdwn",
}  # fmt: skip


class ResponseUrls:
    """Serves /actions/<team>/<key>; calls are recorded as the method "response_url"."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Carry out one answer."""
        given = await request.json()
        try:
            self._answer(self._take(request.match_info["key"]), given)
        except SlackFault as fault:
            self._record(given, fault)
            status = 404 if fault.error in ("used_url", "expired_url") else 400
            return web.json_response(fault.body(), status=status)
        self._record(given, None)
        return web.Response(text="ok")

    def _take(self, key: str) -> ResponseUrl:
        url = self._core.state.response_urls.get(key)
        if url is None or self._core.clock.now() > url.created + RESPONSE_URL_LIFETIME:
            raise SlackFault("expired_url")
        if url.uses >= RESPONSE_URL_USES:
            raise SlackFault("used_url")
        url.uses += 1
        return url

    def _answer(self, url: ResponseUrl, given: Json) -> None:
        if set(given) - FIELDS:
            raise SlackFault("invalid_payload", unexpected=sorted(set(given) - FIELDS))
        if given.get("delete_original"):
            return self._delete(url)
        body = content(given.get("text"), given.get("blocks"), given.get("attachments"), None)
        if given.get("replace_original") and url.ts:
            return self._replace(url, body)
        conversation = self._core.channels[url.channel]
        show_answer(self._core, url.user, conversation, {**given, **body})
        return None

    def _replace(self, url: ResponseUrl, body: Json) -> None:
        core, ts = self._core, url.ts or ""
        private = core.store.ephemeral(url.channel, ts)
        if private is not None:
            private |= body
            core.changed("ephemeral", url.channel, ts=ts, user=url.user, data=private)
            return
        message = core.store.get(url.channel, ts)
        if message is None:
            raise SlackFault("message_not_found")
        posting.change(core, core.channels[url.channel], message, edited_by=None, **body)

    def _delete(self, url: ResponseUrl) -> None:
        core, ts = self._core, url.ts or ""
        if core.store.ephemeral(url.channel, ts) is not None:
            core.store.remove_ephemeral(url.channel, ts)
            core.changed("message_deleted", url.channel, ts=ts, user=url.user)
            return
        message = core.store.get(url.channel, ts)
        if message is None:
            raise SlackFault("message_not_found")
        posting.delete(core, core.channels[url.channel], message)

    def _record(self, given: Json, fault: SlackFault | None) -> None:
        body = fault.body() if fault else {"ok": True}
        error = fault.error if fault else None
        effect = Effect("response_url", given, self._core.clock.now(), fault is None, error, body)
        self._core.record.effect(effect)
