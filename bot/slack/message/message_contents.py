"""Text of a message, including blocks and attachments.

People write text. Other apps often put everything in blocks and attachments, and a forwarded
message is an attachment. Parts that differ from Slack's documentation are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bot.core.request import FileRef
from bot.slack.edge.text import one_line
from bot.slack.ui.blocks import shortened
from bot.slack.ui.links import escape_mrkdwn

Object = Mapping[str, Any]

_MOST = 8_000  # characters of all blocks, and of all attachments


def said_in(message: Object) -> str:
    """Return the text of a message and of its attachments, in Slack's markup."""
    return _joined((_own(message), attached_to(message)), "\n\n")


def attached_to(message: Object) -> str:
    """Return the text of forwarded messages and of apps' attachments, in Slack's markup.

    Link previews are left out, because nobody wrote them.
    """
    attachments = (
        attachment
        for attachment in _objects(message.get("attachments"))
        if not _is_preview(attachment)
    )
    return shortened(_joined(map(_attachment, attachments), "\n\n"), _MOST)


def file_refs(files: Any) -> tuple[FileRef, ...]:
    """Return the files of a message, without deleted and hidden ones."""
    return tuple(
        FileRef(
            id=str(file["id"]),
            name=one_line(str(file.get("name") or file.get("title") or "")) or str(file["id"]),
            media_type=one_line(str(file.get("mimetype") or "application/octet-stream")),
            size=int(file.get("size") or 0),
        )
        for file in files
        if file.get("id") and file.get("mode") not in ("tombstone", "hidden_by_limit")
    )


def _own(message: Object) -> str:
    text = _text(message.get("text"))
    if text and not message.get("bot_id"):  # the blocks of what people write say the same
        return text
    return max(text, _blocks(message.get("blocks")), key=len)


def _is_message(attachment: Object) -> bool:
    return bool(attachment.get("is_share") or attachment.get("is_msg_unfurl"))


def _is_preview(attachment: Object) -> bool:
    from_link = "from_url" in attachment or "original_url" in attachment
    return from_link and not _is_message(attachment)


def _attachment(each: Object) -> str:
    if _is_message(each):
        return _forwarded(each)
    fields = (
        _joined((_text(field.get("title")), _text(field.get("value"))), ": ")
        for field in _objects(each.get("fields"))
    )
    title, link = _text(each.get("title")), _text(each.get("title_link"))
    parts = (
        _text(each.get("pretext")),
        _text(each.get("author_name")),
        f"<{link}|{title}>" if title and link else title,
        _text(each.get("text")),
        *fields,
        _blocks(each.get("blocks")),
    )
    return _joined(parts, "\n") or _text(each.get("fallback"))


def _forwarded(each: Object) -> str:
    """Return the text of a forwarded message; its files by id, as access is checked on reading."""
    inside = (one.get("message") for one in _objects(each.get("message_blocks")))
    blocks = _joined((_blocks(one.get("blocks")) for one in _objects([*inside])), "\n")
    files = (
        f"[file {_joined((_text(file.get('id')), _text(file.get('name'))), ', ')}]"
        for file in _objects(each.get("files"))
    )
    quoted = _joined((_text(each.get("text")) or blocks, *files), "\n")
    origin = _joined((_text(each.get("author_name")), _text(each.get("from_url"))), ", ")
    return f"[Forwarded: {origin}]\n{quoted}" if quoted else ""


def _blocks(blocks: Any) -> str:
    return shortened(_joined(map(_block, _objects(blocks)), "\n"), _MOST)


def _block(block: Object) -> str:
    kind = _text(block.get("type"))
    return _BY_KIND[kind](block) if kind in _BY_KIND else ""


def _section(block: Object) -> str:
    return _joined(map(_inner, [block.get("text"), *_list(block.get("fields"))]), "\n")


def _rich_text(block: Object) -> str:
    return _joined(map(_rich, _objects(block.get("elements"))), "\n")


def _table(block: Object) -> str:
    rows = (map(_inner, row) for row in _list(block.get("rows")) if isinstance(row, list))
    return _joined((" | ".join(row) for row in rows), "\n")


_BY_KIND: dict[str, Callable[[Object], str]] = {
    "section": _section,
    "context": lambda block: _joined(map(_inner, _list(block.get("elements"))), " "),
    "header": lambda block: _inner(block.get("text")),
    "markdown": lambda block: _text(block.get("text")),
    "image": lambda block: _text(block.get("alt_text")),
    "rich_text": _rich_text,
    "table": _table,
    "data_table": _table,
}


def _inner(part: Any) -> str:
    """Return the text of a text object, an inline image, or a table cell."""
    if not isinstance(part, Mapping):
        return ""
    if part.get("type") == "rich_text":
        return _rich_text(part)
    return _text(part.get("text")) or _text(part.get("alt_text")) or _text(part.get("value"))


def _rich(part: Object) -> str:
    if part.get("type") == "rich_text_list":
        return _joined((f"• {_runs(item)}" for item in _objects(part.get("elements"))), "\n")
    return _runs(part)


def _runs(section: Object) -> str:
    return "".join(map(_run, _objects(section.get("elements"))))


def _run(run: Object) -> str:
    text = escape_mrkdwn(_text(run.get("text") or run.get("fallback")))
    if url := _text(run.get("url")):
        return f"<{url}|{text}>" if text else f"<{url}>"
    named = ((key, _text(run.get(key))) for key in _NAMED)
    return text or next((_NAMED[key].format(name) for key, name in named if name), "")


_NAMED = {"user_id": "<@{}>", "channel_id": "<#{}>", "name": ":{}:"}
"""The markup of a rich-text element that names a person, a channel or an emoji, by its key."""


def _text(value: Any) -> str:
    is_word = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) if is_word else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: Any) -> list[Object]:
    return [item for item in _list(value) if isinstance(item, Mapping)]


def _joined(parts: Iterable[str], between: str) -> str:
    return between.join(part for part in parts if part)
