"""The content of a message: text, blocks, markdown and metadata, checked as Slack checks them."""

import json

from bot.dev.workspace.blocks import check_blocks
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.messaging.posting import new_block_id
from bot.dev.workspace.store.state import Json

MARKDOWN_TEXT_MAX = 12_000
ATTACHMENTS_MAX = 100
METADATA_MAX = 8_000  # characters of JSON; Slack has a limit and documents no figure
NO_FALLBACK = "This content can't be displayed."


def content(
    text: str | None,
    blocks: list[Json] | None,
    attachments: list[Json] | None,
    markdown_text: str | None,
) -> Json:
    """Return the message's `text`, `blocks` and `attachments`, without those not given.

    Raises SlackFault no_text, markdown_text_conflict, msg_too_long, invalid_blocks,
    too_many_attachments.
    """
    if markdown_text is not None:
        return _markdown(markdown_text, with_others=text is not None or blocks is not None)
    if not (text or "").strip() and not blocks and not attachments:
        raise SlackFault("no_text")
    found: Json = {}
    if text is not None or blocks:
        found["text"] = text or NO_FALLBACK
    if blocks is not None:
        found["blocks"] = checked(blocks)
    if attachments is not None:
        found["attachments"] = _attachments(attachments)
    return found


def checked(blocks: list[Json]) -> list[Json]:
    """Return the blocks, each with a block_id. Raises SlackFault invalid_blocks."""
    check_blocks(blocks)
    return [{"block_id": new_block_id(), **block} for block in blocks]


def checked_metadata(metadata: Json | None) -> Json | None:
    """Return `{event_type, event_payload}`.

    Raises SlackFault invalid_metadata_schema, metadata_too_large.
    """
    if metadata is None:
        return None
    event_type, payload = metadata.get("event_type"), metadata.get("event_payload")
    if not isinstance(event_type, str) or not isinstance(payload, dict):
        raise SlackFault("invalid_metadata_schema")
    if len(json.dumps(metadata)) > METADATA_MAX:
        raise SlackFault("metadata_too_large")
    return {"event_type": event_type, "event_payload": payload}


def _attachments(attachments: list[Json]) -> list[Json]:
    """Return the attachments. Raises SlackFault too_many_attachments, invalid_blocks."""
    if len(attachments) > ATTACHMENTS_MAX:
        raise SlackFault("too_many_attachments")
    for each in attachments:
        if isinstance(each.get("blocks"), list):
            check_blocks(each["blocks"])
    return attachments


def _markdown(text: str, *, with_others: bool) -> Json:
    if with_others:
        raise SlackFault("markdown_text_conflict")
    if not text.strip():
        raise SlackFault("no_text")
    if len(text) > MARKDOWN_TEXT_MAX:
        raise SlackFault("msg_too_long")
    return {
        "text": text,
        "blocks": [{"type": "markdown", "block_id": new_block_id(), "text": text}],
    }
