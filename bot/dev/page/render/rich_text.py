"""`rich_text` blocks to HTML (https://docs.slack.dev/reference/block-kit/blocks/rich-text-block)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from bot.dev.page.render.mrkdwn import mrkdwn
from bot.dev.page.render.scene import Scene
from bot.dev.page.render.text import clean, emoji, link

Part = Mapping[str, Any]


def rich_text(block: object, scene: Scene) -> Markup:
    """Return HTML for a rich_text block or cell; a str is plain text."""
    if isinstance(block, str):
        return _breaks(escape(clean(block)))
    return Markup("").join(_container(part, scene) for part in _parts(block))


def _parts(holder: object) -> Sequence[Part]:
    found = holder.get("elements") if isinstance(holder, Mapping) else None
    listed = found if isinstance(found, list) else []
    return [part for part in listed if isinstance(part, Mapping)]


def _container(part: Part, scene: Scene) -> Markup:
    kind = part.get("type")
    if kind == "rich_text_list":
        return _list(part, scene)
    inner = _inlines(part, scene)
    if kind == "rich_text_preformatted":
        return Markup("<pre>{}</pre>").format(inner)
    if kind == "rich_text_quote":
        return Markup("<blockquote>{}</blockquote>").format(_breaks(inner))
    return Markup('<p class="rich">{}</p>').format(_breaks(inner))


def _list(part: Part, scene: Scene) -> Markup:
    tag = "ol" if part.get("style") == "ordered" else "ul"
    items = Markup("").join(
        Markup("<li>{}</li>").format(_breaks(_inlines(item, scene))) for item in _parts(part)
    )
    return Markup('<{} class="indent-{}">{}</{}>').format(tag, _indent(part), items, tag)


def _indent(part: Part) -> int:
    value = part.get("indent")
    return min(value, 8) if isinstance(value, int) and value > 0 else 0


def _inlines(part: Part, scene: Scene) -> Markup:
    return Markup("").join(_inline(piece, scene) for piece in _parts(part))


def _inline(piece: Part, scene: Scene) -> Markup:
    draw = _INLINES.get(str(piece.get("type")))
    html = draw(piece, scene) if draw else escape(clean(piece.get("text", "")))
    style = piece.get("style")
    for name, tag in _STYLES.items():
        if isinstance(style, Mapping) and style.get(name):
            html = Markup("<{}>{}</{}>").format(tag, html, tag)
    return html


def _breaks(html: Markup) -> Markup:
    return html.replace("\n", Markup("<br>"))


def _emoji(piece: Part, _: Scene) -> Markup:
    return escape(emoji(f":{clean(piece.get('name'))}:"))


def _link(piece: Part, _: Scene) -> Markup:
    return link(piece.get("url"), escape(clean(piece.get("text") or piece.get("url"))))


def _date(piece: Part, scene: Scene) -> Markup:
    fallback = clean(piece.get("fallback") or piece.get("format"))
    return mrkdwn(f"<!date^{piece.get('timestamp')}^{fallback}|{fallback}>", scene)


def _token(prefix: str, key: str) -> Callable[[Part, Scene], Markup]:
    return lambda piece, scene: mrkdwn(f"<{prefix}{clean(piece.get(key))}>", scene)


_STYLES = {"bold": "strong", "italic": "em", "strike": "del", "code": "code", "underline": "u"}
_INLINES: dict[str, Callable[[Part, Scene], Markup]] = {
    "emoji": _emoji,
    "link": _link,
    "date": _date,
    "user": _token("@", "user_id"),
    "channel": _token("#", "channel_id"),
    "broadcast": _token("!", "range"),
    "usergroup": _token("!subteam^", "usergroup_id"),
}
